"""What the gradebook says about a class, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.grading.handed_in import UNREADABLE


@dataclass(frozen=True)
class Question:
    """One test cell, or one answer that a person marks (by_hand): what it gave.

    waits: for a person, to give points or, after another marking, to look again at those given. scored: there
    are points, of the marking or of a person.
    """

    function: str
    cell: str
    points: float
    max_points: float
    by_hand: bool
    waits: bool
    scored: bool = True


@dataclass(frozen=True)
class Marks:
    """One student's marks for one assignment; points are after the penalty for lateness.

    comments: by answer, as students read them; said: those of the marking alone. Times are in UTC.
    """

    student: str
    assignment: str
    points: float
    max_points: float
    penalty: float
    seconds_late: float
    handed_in: datetime | None
    questions: tuple[Question, ...]
    comments: tuple[tuple[str, str], ...]
    said: tuple[tuple[str, str], ...] = ()
    due: datetime | None = None

    @property
    def marked(self) -> bool:
        """Whether the automatic marking came to its end."""
        return all(question.scored for question in self.questions if not question.by_hand)

    @property
    def unreadable(self) -> bool:
        """Whether there was nothing that could be read, which says nothing of what the student knows."""
        return any(UNREADABLE in words for _, words in self.said)

    @property
    def waits(self) -> bool:
        """Whether a person has yet to mark something, or to look at it again."""
        return any(question.waits for question in self.questions)


def read_marks(root: Path, assignments: Sequence[str] = ()) -> list[Marks]:
    """The marks of everybody who was marked, by assignment and student; of all assignments if none is named.

    Raises: CourseError where there is no gradebook, or an assignment is not in it.
    """
    from nbgrader.api import Gradebook

    from course_lib.grading.course import course_directory, no_file_of

    course = course_directory(root)
    if no_file_of(course.db_url):
        raise CourseError("there is no gradebook yet; mark first: course mark ASSIGNMENT")
    with Gradebook(course.db_url, course.course_id) as gradebook:
        known = {assignment.name: assignment for assignment in gradebook.assignments}
        unknown = [name for name in assignments if name not in known]
        if unknown:
            there = ", ".join(sorted(known)) or "nothing"
            raise CourseError(
                f"{', '.join(unknown)}: not in the gradebook, which has {there}; "
                f"first run nbgrader generate_assignment {unknown[0]} --force, and mark"
            )
        chosen = [known[name] for name in sorted(assignments or known)]
        found = [_marks(each) for assignment in chosen for each in assignment.submissions]
    return sorted(found, key=lambda marks: (marks.assignment, marks.student))


def _marks(submission: Any) -> Marks:
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    comments = [comment for notebook in submission.notebooks for comment in notebook.comments]
    penalty = sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)
    return Marks(
        student=submission.student.id,
        assignment=submission.assignment.name,
        points=max(0.0, submission.score - penalty),  # nbgrader keeps the penalty apart
        max_points=submission.max_score,
        penalty=penalty,
        seconds_late=float(submission.total_seconds_late),
        handed_in=submission.timestamp,
        questions=tuple(sorted(map(_question, grades), key=lambda question: question.cell)),
        comments=_sorted((each.name, each.comment) for each in comments),
        said=_sorted((each.name, each.auto_comment) for each in comments),
        due=submission.assignment.duedate,
    )


def _question(grade: Any) -> Question:
    return Question(
        function=grade.name.partition("-")[0],
        cell=grade.name,
        points=grade.score,
        max_points=grade.max_score,
        by_hand=grade.cell_type != "code",
        waits=bool(grade.needs_manual_grade),
        scored=grade.auto_score is not None or grade.manual_score is not None,
    )


def _sorted(comments: Iterable[tuple[str, str | None]]) -> tuple[tuple[str, str], ...]:
    """Those that say something."""
    return tuple(sorted((name, text) for name, text in comments if text and text != "No response."))
