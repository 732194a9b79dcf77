"""The student's own copies of the exercises: made once, never overwritten, updated on request.

work/NAME is the student's copy of exercises/NAME. work/.released/NAME keeps the exercise as it was handed
out: it tells whether the release has changed since, and which cells the student has touched.
"""

from __future__ import annotations

import filecmp
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

Cell = dict[str, Any]
Notebook = dict[str, Any]


@dataclass(frozen=True)
class Workspace:
    """The folders exercises/ and work/ below the project's root."""

    root: Path

    def names(self) -> list[str]:
        """The released exercises, in order."""
        found = (self.root / "exercises").glob("*/*.ipynb")
        return sorted(path.parent.name for path in found if path.stem == path.parent.name)

    def release(self, name: str) -> Path:
        """The released exercise. Raises: CourseError for a name that is not one."""
        if name not in self.names():
            raise CourseError(f"no exercise is called {name}; there are: {', '.join(self.names()) or 'none'}")
        return self.root / "exercises" / name

    def copy(self, name: str) -> Path:
        """The student's copy."""
        return self.root / "work" / name

    def handed_out(self, name: str) -> Path:
        """The exercise as it was when the student's copy was made or last updated."""
        return self.root / "work" / ".released" / name

    def prepare(self) -> list[str]:
        """Copy what the student does not have yet; returns one line per copy, and per changed release."""
        lines = []
        for name in self.names():
            if not self.copy(name).exists():
                lines.append(self._hand_out(name))
            elif self.changed(name):
                lines.append(f"exercises/{name} has changed since you got it: `course update {name}` "
                             "carries your answers over")  # fmt: skip
        return lines

    def changed(self, name: str) -> bool:
        """Whether the release differs from the exercise as it was handed out."""
        return not _same_files(self.release(name), self.handed_out(name))

    def update(self, name: str, now: datetime) -> str:
        """Bring the student's copy to the present release with its answers; returns what was done, a line.

        Answers are the cells with nbgrader's solution flag, matched by grade_id. Cells that the student
        added stay behind the cell they stood behind. The copy as it was goes to work/backups first.
        """
        release, copy = self.release(name), self.copy(name)
        if not copy.exists():
            return self._hand_out(name)
        if not self.changed(name):
            return f"work/{name} is up to date"
        file = f"{name}.ipynb"
        theirs = _read(copy / file) if (copy / file).exists() else {"cells": []}
        before = self.handed_out(name) / file
        merged = merge(_read(release / file), theirs, _read(before) if before.exists() else None)
        backup = self._back_up(name, f"{now:%Y-%m-%d-%H%M%S}")
        for source in _files(release):
            _put(release / source, copy / source)
        _write(copy / file, merged.notebook)
        self._remember(name)
        return (
            f"work/{name} updated: {merged.summary()}; as it was: {backup.relative_to(self.root).as_posix()}"
        )

    def _hand_out(self, name: str) -> str:
        shutil.copytree(self.release(name), self.copy(name), ignore=shutil.ignore_patterns(".*"))
        self._remember(name)
        return f"work/{name} is your copy of exercises/{name}"

    def _back_up(self, name: str, stamp: str) -> Path:
        """A second copy of the student's folder, under a name that is not taken."""
        backups = self.root / "work" / "backups"
        numbered = (
            backups / (f"{name}-{stamp}" + (f"-{number}" if number > 1 else "")) for number in count(1)
        )
        backup = next(folder for folder in numbered if not folder.exists())
        shutil.copytree(self.copy(name), backup)
        return backup

    def _remember(self, name: str) -> None:
        shutil.rmtree(self.handed_out(name), ignore_errors=True)
        shutil.copytree(self.release(name), self.handed_out(name), ignore=shutil.ignore_patterns(".*"))


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


def _read(path: Path) -> Notebook:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(cell, dict) for cell in notebook["cells"]):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise CourseError(f"{path} is not a notebook that can be read; nothing was changed") from None
    return notebook


def _write(path: Path, notebook: Notebook) -> None:
    """Write beside the file and then put it in its place, so that an interruption leaves one of the two."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(
        json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
    )
    draft.replace(path)


def _put(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _files(folder: Path) -> Iterator[Path]:
    """The files of a folder as relative paths, without what tools left there."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield relative


def _same_files(one: Path, other: Path) -> bool:
    names = list(_files(one))
    return names == list(_files(other)) and filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


def _number_of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
