"""What a class has handed in for an assignment, and which of it has been marked.

Nothing here needs nbgrader: a class that has not changed is told from one that has without importing it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.project import MARKER

from .finding import find_notebook
from .store import write_whole
from .submission import read_bytes
from .timestamp import read_timestamp


@dataclass(frozen=True)
class Submission:
    """What a student handed in: the file that counts, if there is one, and what tells it from another.

    noticed: sentences on the choice of the file; without one, the last says why.
    """

    student: str
    folder: Path
    path: Path | None
    noticed: tuple[str, ...]
    digest: str

    def data(self) -> bytes | None:
        """The bytes of the file, or None where it is none that a worker can take."""
        if self.path is None:
            return None
        try:
            return read_bytes(self.path)
        except CourseError:  # the writer says what is wrong with it
            return None


@dataclass(frozen=True)
class Done:
    """What happened to one student's submission: points out of how many, or why it could not be marked.

    note: why it could not be read, where that is why it has no points. again: it had been marked before.
    """

    student: str
    points: float | None = None
    max_points: float | None = None
    trouble: str | None = None
    again: bool = False
    note: str | None = None


class ClassRecord:
    """Which submissions have been marked in which version; a file beside the results."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._entries: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._entries = {}

    def get(self, submission: Submission, version: str, marked: Path) -> Done | None:
        """The marks of a submission that need no work; None where anything changed or is gone."""
        entry = self._entries.get(submission.student)
        if entry is None or entry["version"] != version or entry["submitted"] != submission.digest:
            return None
        if not marked.is_file() or entry["marked"] != digest_of(marked):
            return None
        return Done(submission.student, entry["points"], entry["max_points"], again=True, note=entry["note"])

    def put(self, submission: Submission, version: str, marked: Path, done: Done) -> None:
        """Remember a submission's marks; the file is whole at any moment."""
        self._entries[submission.student] = {
            "version": version,
            "submitted": submission.digest,
            "marked": digest_of(marked),
            "points": done.points,
            "max_points": done.max_points,
            "note": done.note,
        }
        write_whole(self.path, json.dumps(self._entries))


def digest_of(path: Path) -> str:
    """What tells one file's contents from another's."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def submissions(root: Path, assignment: str, students: str) -> list[Submission]:
    """What has been handed in, by student. Raises: CourseError when that is nothing."""
    folders = sorted(path for path in (root / "submitted").glob(f"*/{assignment}"))
    config = (root / MARKER).read_bytes()  # which may say what lateness costs
    found = [_submission(each, assignment, config) for each in folders if fnmatch(each.parent.name, students)]
    if not found:
        raise CourseError(f"no folder submitted/{students}/{assignment}; collect submissions first")
    return found


def _submission(folder: Path, assignment: str, config: bytes) -> Submission:
    path, noticed = find_notebook(folder, assignment)
    made = Submission(folder.parent.name, folder, path, tuple(noticed), "")
    told = [*noticed, read_timestamp(folder)]
    digest = hashlib.sha256(json.dumps(told).encode() + config + (made.data() or b""))
    return replace(made, digest=digest.hexdigest())


def marked_path(root: Path, student: str, assignment: str) -> Path:
    """Where formgrader looks for a student's marked notebook."""
    return root / "autograded" / student / assignment / f"{assignment}.ipynb"
