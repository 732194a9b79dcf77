"""Mark one notebook without a gradebook: for self-learners, and for an instructor's quick look."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from course_lib.checks.assignments import MODULES
from course_lib.checks.judge import Verdict
from course_lib.checks.store import functions
from course_lib.errors import CourseError

from .repairs import in_few_lines
from .sanitise import cells_of, name_of, sanitise
from .source import VisibleTests


@dataclass(frozen=True)
class Marked:
    """One notebook's verdicts by test cell, what was repaired in it first, and the points that a person gives
    for answers in words, by cell."""

    assignment: str
    verdicts: dict[str, Verdict]
    repairs: list[str]
    by_hand: dict[str, float] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """The points of all test cells."""
        return sum(verdict.points for verdict in self.verdicts.values())

    @property
    def max_points(self) -> float:
        """The points that are to be had from test cells."""
        return sum(verdict.max_points for verdict in self.verdicts.values())


def assignment_of(path: Path, notebook: NotebookNode) -> str:
    """Which assignment a notebook is of, by the answer cells in it; its name decides between equals.

    Raises: CourseError when it is of none.
    """
    present = {name_of(cell) for cell in notebook.cells}
    names = sorted(MODULES, key=lambda name: name != path.stem)
    found = max(names, key=lambda name: len(functions(name) & present))
    if not functions(found) & present:
        raise CourseError(
            f"{path}: no exercise of this course (no answer cell in it); exercises lie in work/"
        )
    return found


def mark(notebook: NotebookNode, tests: VisibleTests, original: NotebookNode, *, sandboxed: bool) -> Marked:
    """The verdicts on a notebook; it is changed in memory, its file is not.

    Parameters: tests, a `Source` for visible and hidden cases or `VisibleTests`; original, the notebook whose
    cells make the submission whole: the solution's or the released one; sandboxed, whether the notebook runs
    in the sandbox or with the user's own rights.
    """
    from .execute import JudgedExecute

    cells = cells_of(original)
    noticed = list(notebook.metadata.pop("noticed", []))
    notebook, repairs = sanitise(notebook, cells, tests.follows)
    repairs = in_few_lines(repairs, {cell.name for cell in cells})
    executor = JudgedExecute(sandboxed=sandboxed, log=logging.getLogger("course.mark"))
    by_hand = {cell.name: cell.points or 0.0 for cell in cells if cell.by_hand}
    return Marked(tests.name, executor.mark(notebook, tests), noticed + repairs, by_hand)
