"""The feedback pages of an assignment in one archive, with a folder for each student."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from course_lib.errors import CourseError

from .archives import read_archive
from .platforms import canvas
from .roster import Roster

FOLDER = "feedback"  # nbgrader's


def pages(root: Path, assignment: str) -> dict[str, bytes]:
    """The page of each student that `nbgrader generate_feedback` has written.

    Raises: CourseError where there is none.
    """
    found = sorted((root / FOLDER).glob(f"*/{assignment}/{assignment}.html"))
    if not found:
        raise CourseError(
            f"no feedback on {assignment} yet; first run nbgrader generate_feedback {assignment}"
        )
    return {path.parent.parent.name: path.read_bytes() for path in found}


def by_student(root: Path, assignment: str) -> dict[str, bytes]:
    """Each page in a folder that is called by the student's id."""
    return {f"{id}/{assignment}.html": page for id, page in pages(root, assignment).items()}


def for_moodle(root: Path, assignment: str, roster: Roster) -> dict[str, bytes]:
    """Each page in the folder that Moodle's "Upload multiple feedback files in a zip" gives to its student.

    Raises: CourseError where a student has no participant's number.
    """
    found = pages(root, assignment)
    without = [id for id in found if id not in roster.students or not roster.students[id].number]
    if without:
        raise CourseError(
            f"no participant's number (lms_user_id or Identifier) in the roster for {', '.join(without)}; "
            "add it there; nothing has been written"
        )

    def folder(id: str) -> str:
        student = roster.students[id]
        name = "".join(" " if letter in '_/\\:*?"<>|' else letter for letter in student.name)
        return f"{name}_{student.number}_assignsubmission_file"

    return {f"{folder(id)}/{assignment}.html": page for id, page in found.items()}


def for_canvas(root: Path, assignment: str, roster: Roster, archives: Sequence[Path]) -> dict[str, bytes]:
    """Each page under the name that Canvas gave the student's own file in "Download Submissions".

    Canvas's "Re-Upload Submissions" finds by the numbers in that name whose submission a page is a comment
    on, and knows no other way. Parameters: archives, as they were collected, the latest last.
    Raises: CourseError where a student's file is in none of them.
    """
    found = pages(root, assignment)
    names: dict[str, str] = {}
    for path in archives:
        members = [member for member in read_archive(path) if not member.refused]
        for member, entry in zip(members, canvas(members), strict=True):
            student = roster.find(entry.clues[0])
            if student is not None and entry.clues[0].number:  # without Canvas's numbers it would be ignored
                names[student.id] = PurePosixPath(member.path.partition("/")[0]).with_suffix(".html").name
    without = [id for id in found if id not in names]
    if without:
        raise CourseError(f"no file of {', '.join(without)} is in the archives that Canvas made")
    return {names[id]: page for id, page in found.items()}
