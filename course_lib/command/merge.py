"""The merge of `course update`: a new release of an exercise with the student's answers and own cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Cell = dict[str, Any]
Notebook = dict[str, Any]


@dataclass(frozen=True)
class Merged:
    """An updated notebook: answers carried over, and cells of the student's own that were kept."""

    notebook: Notebook
    answers: int
    own_cells: int

    def summary(self) -> str:
        """The counts as words."""
        answers, cells = _number_of(self.answers, "answer"), _number_of(self.own_cells, "cell")
        return f"{answers} carried over, {cells} of your own kept"


def merge(release: Notebook, theirs: Notebook, before: Notebook | None) -> Merged:
    """The release with the student's answers and own cells.

    Parameters: theirs, the student's notebook; before, the release it was made from, None when unknown (then
    every answer cell counts as touched, and a cell as the student's own when the release does not hold it).
    An answer whose exercise is gone stays as a cell of the student's own.
    """
    handed_out = {_key(cell): _source(cell) for cell in (before or {"cells": []})["cells"]}
    placed = {_key(cell): _is_answer(cell) for cell in release["cells"]}
    last = {_key(cell): index for index, cell in enumerate(theirs["cells"])}
    answers: dict[str, Cell] = {}
    own: dict[str, list[Cell]] = {}
    behind = ""
    for index, cell in enumerate(theirs["cells"]):
        key = _key(cell)
        if handed_out.get(key) == _source(cell):
            pass  # as it was handed out: the release's version takes its place
        elif placed.get(key) and last[key] == index:  # of a cell that was copied nbgrader takes the last, too
            answers[key] = cell
        elif _is_answer(cell) or key not in placed.keys() | handed_out.keys():
            own.setdefault(behind, []).append(_own(cell))
        behind = key if key in placed else behind
    cells = own.get("", [])
    for cell in release["cells"]:
        cells = [*cells, _answered(cell, answers.get(_key(cell))), *own.get(_key(cell), [])]
    return Merged({**release, "cells": cells}, len(answers), sum(map(len, own.values())))


def _key(cell: Cell) -> str:
    """What makes a cell the same cell in two versions: nbgrader's grade_id, else its id."""
    grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return f"grade_id {grade_id}" if grade_id else f"id {cell.get('id', _source(cell))}"


def _is_answer(cell: Cell) -> bool:
    return bool(cell.get("metadata", {}).get("nbgrader", {}).get("solution"))


def _source(cell: Cell) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _answered(cell: Cell, answer: Cell | None) -> Cell:
    """The release's cell with the student's text and attachments in it."""
    if answer is None:
        return cell
    kept = {part: answer[part] for part in ("source", "attachments") if part in answer}
    return {**cell, **kept}


def _own(cell: Cell) -> Cell:
    """A cell of the student's own: without the flags that would make nbgrader take it for one of ours."""
    metadata = {name: value for name, value in cell.get("metadata", {}).items() if name != "nbgrader"}
    return {**cell, "metadata": metadata}


def _number_of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
