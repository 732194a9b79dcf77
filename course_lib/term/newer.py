"""Who has handed in what the marks do not show yet: for the first time, again, or under another policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.class_record import ClassRecord, Submission, marked_path, submissions
from course_lib.grading.timestamp import read_timestamp
from course_lib.project import MARKER


def not_marked(root: Path, assignment: str) -> list[str]:
    """The students whose newest submission `course mark` would mark.

    Where it made the marked notebook, it has recorded of what; where `nbgrader autograde` did, the time of
    the submission beside it decides, as it does for nbgrader.
    """
    try:
        found = submissions(root, assignment, "*")
    except CourseError:  # what was handed in is not kept here
        return []
    record = ClassRecord.of(root, assignment)
    return [
        each.student for each in found if _is_newer(each, record, marked_path(root, each.student, assignment))
    ]


def _is_newer(submission: Submission, record: ClassRecord, marked: Path) -> bool:
    if not marked.is_file():
        return True
    recorded = record.submitted(submission.student, marked)
    if recorded is not None:
        return recorded != submission.digest
    return read_timestamp(submission.folder) != read_timestamp(marked.parent)


def notes(root: Path, assignments: Iterable[str]) -> list[str]:
    """The lines for these assignments."""
    return [line for name in assignments for line in note(not_marked(root, name), name)]


def note(students: Sequence[str], assignment: str) -> list[str]:
    """A line on them, where there are any."""
    if not students:
        return []
    return [
        f"{len(students)} handed in what is not marked yet, or not under the present {MARKER}: "
        f"{', '.join(students)}; run course mark {assignment}"
    ]
