"""What a feedback page says: to each answer its points, what was found, and comments, once and in one place.

nbgrader's page shows a test cell after a test cell. Here they are folded into the answer that they test; how
they are written, and mark schemes, are not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearMarkScheme
from nbgrader.utils import is_grade, is_locked, is_solution
from traitlets import List, Unicode

from .handed_in import UNREADABLE
from .sanitise import name_of
from .verdicts import KEPT

HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)


class FoldTests(ClearMarkScheme):
    """Replace test cells by what they found, in the metadata of the answer: `answer_of` says in which form.

    `resources` gets what was noticed about the submission as a whole.
    """

    # nbgrader's base class takes the option's tag away, and the HTML exporter then warns about it each time.
    display_data_priority = List(Unicode()).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        course = nb.metadata.get("course", {})
        unreadable = [course["unreadable"]] if course.get("unreadable") else []
        said = {
            UNREADABLE: unreadable,
            "Noticed and repaired before marking": course.get("repairs", []),
        }
        resources["notices"] = [{"head": head, "sentences": each} for head, each in said.items() if each]
        tests: dict[str, list[NotebookNode]] = {}
        for cell in nb.cells:
            if is_locked(cell):
                self._remove_mark_scheme_region(cell)
            if _is_test(cell):
                tests.setdefault(name_of(cell).split("-", 1)[0], []).append(cell)
        nb.cells = [cell for cell in nb.cells if not _is_test(cell)]
        heading = ""
        for cell in nb.cells:
            cell.metadata.pop("course", None)
            if is_solution(cell):
                cell.metadata["course"] = answer_of(cell, tests.get(name_of(cell), []), heading)
            elif cell.cell_type == "markdown":
                heading = (HEADING.findall(cell.source) or [heading])[-1]
        return nb, resources


def answer_of(cell: NotebookNode, tests: Sequence[NotebookNode], heading: str) -> dict[str, Any]:
    """What there is to say of an answer.

    Parameters: cell, the answer, with nbgrader's scores in its metadata and in those of its tests; heading,
    the last one above it.
    Returns: id and title; points of how many possible; the tests, each with title, points and how far it
    came; reasons, each sentence once, with the tests it is about unless that is all of them; a comment that
    a person wrote.
    """
    marks, name = cell.metadata.nbgrader, name_of(cell)
    rows = [_row(test) for test in tests]
    graded = [*tests, *([cell] if is_grade(cell) else [])]
    comment = marks.get("comment") or ""
    return {
        "id": name,
        "title": name if cell.cell_type == "code" else re.sub(r"[`*$]", "", heading),
        "points": sum(float(each.metadata.nbgrader.score or 0) for each in graded),
        "possible": sum(float(each.metadata.nbgrader.points) for each in graded),
        "tests": rows,
        "reasons": _reasons(rows),
        "comment": "" if re.match(rf"{re.escape(name)}: [\d.]+ of [\d.]+ points\.", comment) else comment,
    }


def _is_test(cell: NotebookNode) -> bool:
    return is_grade(cell) and not is_solution(cell) and cell.cell_type == "code"


def _row(test: NotebookNode) -> dict[str, Any]:
    """One test: its points as nbgrader has them, and what our verdict says."""
    kept = next((each.metadata[KEPT] for each in test.outputs if KEPT in each.get("metadata", {})), {})
    points, possible = float(test.metadata.nbgrader.score or 0), float(test.metadata.nbgrader.points)
    given = possible if kept.get("failed") is None else 0.0
    title = kept.get("title", name_of(test))
    return {
        "title": title,
        "points": points,
        "possible": possible,
        "by_hand": points != given,
        **_words(kept),
    }


def _words(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {"passed": kept.get("passed", []), "failed": kept.get("failed"), "said": kept.get("sentence", "")}


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    said = dict.fromkeys(row["said"] for row in rows if row["failed"] is not None and row["said"])
    about = {sentence: [row["title"] for row in rows if row["said"] == sentence] for sentence in said}
    return [
        {"sentence": sentence, "tests": [] if len(titles) == len(rows) else titles}
        for sentence, titles in about.items()
    ]
