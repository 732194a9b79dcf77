"""An assignment in nbgrader's gradebook: its cells, and the marks of each submission in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from course_lib.errors import CourseError

from .sanitise import SourceCell

# Where nbgrader searches for a submission's notebook, grades and comments, without an index of its own: each
# submission took longer, the more there were.
INDEXED = {"submitted_notebook": "assignment_id", "grade": "notebook_id", "comment": "notebook_id"}

# From a student, the points and the seconds of lateness: the points to take off, as nbgrader's plug-ins say.
Penalty = Callable[[str, float, float], float | None]


@dataclass(frozen=True)
class Marks:
    """What marking says of one submission.

    scores: the points of each cell that is graded; None where a person has to mark it. comments: the words
    beside each answer; None for no words.
    """

    scores: Mapping[str, float | None]
    comments: Mapping[str, str | None]


class Saved(NamedTuple):
    """What the gradebook has of a submission: points, of how many, and what is still to be taken off as it
    was late."""

    points: float
    max_points: float
    taken_off: float


class AssignmentGradebook:
    """One assignment, of one notebook of the same name. Use it in a `with` statement, or close it.

    Raises: CourseError where the gradebook does not have the assignment, or it has a task cell: those have no
    answer of their own that could be made whole.
    """

    def __init__(self, db_url: str, course_id: str, name: str) -> None:
        try:
            self._gradebook = Gradebook(db_url, course_id)
            self._index()
        except SQLAlchemyError as error:
            raise CourseError(f"{unusable(error)}; give the command again when it can") from None
        try:
            notebook = self._gradebook.find_notebook(name, name)
        except MissingEntry:
            self.close()
            command = f"nbgrader generate_assignment {name} --force"
            raise CourseError(f"{name} is not in the gradebook yet; first run {command}") from None
        if notebook.task_cells:
            tasks = ", ".join(cell.name for cell in notebook.task_cells)
            self.close()
            raise CourseError(
                f"{name} has a manually graded task ({tasks}), which cannot be marked here; make it a "
                f"manually graded answer, then run nbgrader generate_assignment {name} --force"
            )
        self._ids = notebook.assignment.id, notebook.id
        marked = [*notebook.grade_cells, *notebook.solution_cells]
        self._names = {cell.id: cell.name for cell in marked}
        self.kernelspec: dict[str, Any] = json.loads(notebook.kernelspec or "{}")
        self.cells = _source_cells(notebook)
        self._gradebook.db.remove()

    def __enter__(self) -> AssignmentGradebook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the connection."""
        self._gradebook.close()

    def save(
        self, student: str, marks: Marks, *, timestamp: datetime | None = None, penalty: Penalty | None = None
    ) -> Saved:
        """Write the marks of a student's submission, all or none.

        What a person gave stays, and such a cell waits to be looked at again, as with nbgrader.
        Parameters: timestamp, when it was handed in (UTC), if that is known; penalty, what lateness costs;
        None leaves what has been taken off.
        """
        # With autoflush each query would first write what is new so far; here all is written at once, below.
        with Session(self._gradebook.engine, autoflush=False) as session, session.begin():
            submission = self._submission(session, student)
            if timestamp is not None:
                submission.timestamp = timestamp
            (notebook,) = (each for each in submission.notebooks if each.notebook_id == self._ids[1])
            for grade in notebook.grades:
                grade.auto_score = marks.scores[self._names[grade.cell_id]]
                grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            for comment in notebook.comments:
                comment.auto_comment = marks.comments[self._names[comment.cell_id]]
            session.flush()
            if penalty is not None:
                notebook.late_submission_penalty = _taken_off(submission, notebook, penalty)
                session.flush()
            session.refresh(submission, ["score", "max_score", "late_submission_penalty"])  # in one query
            return Saved(submission.score, submission.max_score, submission.late_submission_penalty)

    def given(self) -> dict[str, list[Any]]:
        """All that feedback tells of each student's marks: points and words by cell, and what was taken
        off."""
        mine = SubmittedNotebook.notebook_id == self._ids[1]
        found: dict[str, list[Any]] = {}
        with Session(self._gradebook.engine) as session:
            for table, *columns in (
                (Grade, Grade.cell_id, Grade.score),
                (Comment, Comment.cell_id, Comment.comment),
            ):
                wanted = select(SubmittedAssignment.student_id, *columns).select_from(table)
                joined = wanted.join(SubmittedNotebook, table.notebook_id == SubmittedNotebook.id)
                joined = joined.join(
                    SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id
                )
                for student, *row in session.execute(joined.where(mine).order_by(*columns[:1])):
                    found.setdefault(student, []).append(row)
            late = select(SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty)
            for student, penalty in session.execute(late.join(SubmittedNotebook).where(mine)):
                found.setdefault(student, []).append(penalty)
        return found

    def _index(self) -> None:
        with self._gradebook.engine.begin() as connection:
            for table, column in INDEXED.items():
                name = f"course_{table}_{column}"
                connection.execute(text(f"create index if not exists {name} on {table} ({column})"))

    def _submission(self, session: Session, student: str) -> SubmittedAssignment:
        """The student's submission, made where it is the first."""
        assignment, _ = self._ids
        submission = session.scalar(
            select(SubmittedAssignment).where(
                SubmittedAssignment.assignment_id == assignment, SubmittedAssignment.student_id == student
            )
        )
        if submission is None:
            if session.get(Student, student) is None:
                session.add(Student(id=student))
            submission = SubmittedAssignment(assignment_id=assignment, student_id=student)
            session.add(submission)
            for notebook in session.scalars(select(Notebook.id).where(Notebook.assignment_id == assignment)):
                _add_empty(session, submission, notebook)
        return submission


def unusable(error: SQLAlchemyError) -> str:
    """That the gradebook cannot be used, and why, in a line."""
    why = getattr(error, "orig", None) or type(error).__name__
    return f"the gradebook cannot be used ({why})"


def _add_empty(session: Session, submission: SubmittedAssignment, notebook: str) -> None:
    """Places for the marks of the cells that a notebook has now."""
    mine = SubmittedNotebook(notebook_id=notebook, assignment=submission)
    session.add(mine)
    for cells, place in ((GradeCell, Grade), (SolutionCell, Comment)):
        found = session.scalars(select(cells.id).where(cells.notebook_id == notebook))
        session.add_all(place(cell_id=cell, notebook=mine) for cell in found)


def _taken_off(
    submission: SubmittedAssignment, notebook: SubmittedNotebook, penalty: Penalty
) -> float | None:
    """The points that lateness costs: never more than there are."""
    late = submission.total_seconds_late
    asked = penalty(submission.student_id, notebook.score, late) if late > 0 else None
    return None if asked is None else min(max(asked, 0.0), notebook.score)


def _source_cells(notebook: Notebook) -> list[SourceCell]:
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    answers = {cell.name for cell in notebook.solution_cells}
    return [
        SourceCell(
            cell.name,
            cell.cell_type,
            cell.source,
            grade=cell.name in points,
            solution=cell.name in answers,
            points=points.get(cell.name),
            checksum=cell.checksum,
        )
        for cell in notebook.source_cells
    ]
