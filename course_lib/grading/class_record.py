"""What a class has handed in for an assignment, and which of it has been marked.

Nothing here needs nbgrader: a class that has not changed is told from one that has without importing it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.project import MARKER

from .files import read_bytes, write_whole
from .finding import find_notebook
from .recorded import Recorded
from .timestamp import read_timestamp

FOLDER = ".course_marks"


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

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences on the choice of the file, without the reason for none."""
        return self.noticed if self.path is not None else self.noticed[:-1]

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
    noticed: sentences on the choice of the file. scores: the automatic points by cell; None where a person
    marks. taken_off: what is still to be taken off the points, as it was late.
    """

    student: str
    points: float | None = None
    max_points: float | None = None
    trouble: str | None = None
    again: bool = False
    note: str | None = None
    noticed: tuple[str, ...] = ()
    scores: Mapping[str, float | None] | None = None
    taken_off: float = 0.0


class ClassRecord:
    """Which submissions have been marked in which version: a line for each, of which the last counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[str, Any] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):  # the last one of a marker that was killed
                entry = json.loads(line)
                self._entries[entry["student"]] = entry
        if len(lines) > 2 * len(self._entries):
            write_whole(path, "".join(map(_line, self._entries.values())))

    @classmethod
    def of(cls, root: Path, assignment: str) -> ClassRecord:
        """The record of an assignment of a course."""
        return cls(root / FOLDER / f"{assignment}.jsonl")

    def get(self, submission: Submission, version: str, marked: Path, now: Recorded) -> Done | None:
        """The marks of a submission that need no work; None where anything changed or is gone."""
        student, entry = submission.student, self._entries.get(submission.student)
        if entry is None or entry["version"] != version or entry["submitted"] != submission.digest:
            return None
        if not marked.is_file() or entry["marked"] != digest_of(marked):
            return None
        if now.scores.get(student) != entry["scores"]:
            return None
        return Done(
            student,
            now.points[student],
            now.max_points,
            again=True,
            note=entry["note"],
            noticed=submission.said,
            scores=entry["scores"],
            taken_off=now.taken_off.get(student, 0.0),
        )

    def submitted(self, student: str, marked: Path) -> str | None:
        """The digest of the submission of which the marked notebook was made; None where that is not known,
        as something else made it."""
        entry = self._entries.get(student)
        return entry["submitted"] if entry is not None and entry["marked"] == digest_of(marked) else None

    def put(self, submission: Submission, version: str, marked: Path, done: Done) -> None:
        """Remember a submission's marks."""
        entry = {
            "student": submission.student,
            "version": version,
            "submitted": submission.digest,
            "marked": digest_of(marked),
            "scores": done.scores,
            "note": done.note,
        }
        self._entries[submission.student] = entry
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = _line(entry).encode()
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            try:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            except OSError:  # half a line would spoil the next one, too
                file.truncate(end)
                raise


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry) + "\n"


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
