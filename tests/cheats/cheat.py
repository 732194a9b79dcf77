"""One cheat: a submission whose softmax is wrong, and what is done to it to gain something all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib.grading.sanitise import name_of

NAME = "01_soft_lookup"
SCRIPT = "<script>window.cheat = 1</script>"  # what a browser would run
WRONG = "def softmax(scores):\n    return scores / scores.sum(axis=-1, keepdims=True)"


@dataclass
class Submission:
    """A student's notebook and folder, in a course whose place and port the student is told.

    port: where somebody listens on loopback.
    """

    notebook: NotebookNode
    folder: Path
    course: Path
    port: int = 0

    @property
    def file(self) -> Path:
        """The submitted notebook."""
        return self.folder / f"{NAME}.ipynb"

    def find(self, name: str) -> NotebookNode:
        """The cell of that id."""
        return next(cell for cell in self.notebook.cells if name_of(cell) == name)

    def write(self) -> None:
        """Put the notebook into the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(self.notebook, self.file)

    def fill(self, code: str) -> str:
        """Code with the place of the course and the port filled in."""
        return code.strip("\n").replace("COURSE", repr(str(self.course))).replace("PORT", str(self.port))


Change = Callable[[Submission], None]


@dataclass(frozen=True)
class Cheat:
    """An entry of the catalogue; one for each mechanism.

    tries: in a few words. stopped_by: the defence of the course's marking that is meant for it. change: makes
    the submission, whose softmax is wrong, the cheat's; it runs after the notebook is written, and writes it
    again itself where it must. works_on: the arena in which it is seen to work, a key of
    `arenas.ARENAS`. goal: "points", "leak" (something secret in what is returned) or "harm" (something is
    changed or reached that is none of the student's business). friends: further submissions, marked after it.
    first: an earlier version of the submission, which is marked before.
    """

    id: str
    tries: str
    stopped_by: str
    change: Change
    works_on: str = "stock"
    goal: str = "points"
    friends: Mapping[str, Change] = field(default_factory=dict)
    first: Change | None = None


def cell(code: str, at: int = 2) -> Change:
    """A cell of the student's own, behind the set-up cell; at=0 before it, at=-1 at the very end."""

    def change(submission: Submission) -> None:
        cells = submission.notebook.cells
        cells.insert(at if at >= 0 else len(cells), new_code_cell(submission.fill(code)))
        submission.write()

    return change


def answer(code: str, function: str = "softmax") -> Change:
    """Another answer to a question; a cell of the student's own where the assignment does not ask it."""

    def change(submission: Submission) -> None:
        if any(function == name_of(each) for each in submission.notebook.cells):
            submission.find(function).source = submission.fill(code)
            submission.write()
        else:
            cell(code)(submission)

    return change


def file(name: str, text: str) -> Change:
    """A file beside the notebook."""

    def change(submission: Submission) -> None:
        path = submission.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(submission.fill(text) + "\n", encoding="utf-8")

    return change


def both(*changes: Change) -> Change:
    """Several changes, one after another."""

    def change(submission: Submission) -> None:
        for each in changes:
            each(submission)

    return change
