"""A submission, opened for marking: its notebook, and what there is to say about the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course_lib.errors import CourseError

from .cells import notebook_of
from .submission import read_submission

UNREADABLE = "Your submission could not be read"


@dataclass(frozen=True)
class HandedIn:
    """What was handed in, as a notebook.

    noticed: sentences on the file and the choice of it. unreadable: why there is nothing in it to mark, or
    None; the notebook is empty then.
    """

    notebook: NotebookNode
    noticed: list[str]
    unreadable: str | None = None


def open_submission(path: Path | None, noticed: Sequence[str]) -> HandedIn:
    """Open the file that counts, as `find_notebook` names it; without one, the last sentence says why."""
    if path is None:
        return HandedIn(notebook_of([]), list(noticed[:-1]), noticed[-1])
    try:
        notebook = read_submission(path)
    except CourseError as error:
        return HandedIn(notebook_of([]), list(noticed), str(error).removeprefix(f"{path}: "))
    return HandedIn(notebook, [*noticed, *notebook.metadata.pop("noticed", [])])
