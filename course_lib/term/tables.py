"""Marks as tables to upload or to analyse: for Canvas, for Moodle, per question, and of the whole term."""

from __future__ import annotations

import csv
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .marks import Marks, Question
from .roster import Roster, Student

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what makes a spreadsheet compute a text
Row = dict[str, Any]


def canvas(marks: Sequence[Marks], roster: Roster, titles: Mapping[str, str]) -> list[Row]:
    """What Canvas's gradebook imports: a row of maxima, then one for each student of the roster.

    ID is lms_user_id, Canvas's own number. Who was not marked has an empty cell, which Canvas leaves alone.
    Parameters: titles, what Canvas calls an assignment, "Soft lookup (1234)", where it is not its name here.
    """
    names = list(dict.fromkeys(each.assignment for each in marks))
    heads = {name: titles.get(name, name) for name in names}
    most = {heads[each.assignment]: number(each.max_points) for each in marks}
    got = {(each.student, each.assignment): number(each.points) for each in marks}

    def row(student: Student) -> Row:
        who = {
            "Student": student.name,
            "ID": student.number,
            "SIS User ID": student.id,
            "SIS Login ID": student.login,
            "Section": "",
        }
        return who | {heads[name]: got.get((student.id, name), "") for name in names}

    first = dict.fromkeys(("Student", "ID", "SIS User ID", "SIS Login ID", "Section"), "")
    return [first | {"Student": "    Points Possible"} | most, *map(row, roster.students.values())]


def moodle(marks: Sequence[Marks], roster: Roster) -> list[Row]:
    """What Moodle takes for one assignment as its grading worksheet, or in its gradebook's CSV import.

    The worksheet goes by Identifier, and skips who was graded since `Last modified (grade)`; both come from
    the roster, if that is Moodle's worksheet. The gradebook's import goes by ID number or e-mail.
    """
    by_student = {each.student: each for each in marks}

    def row(student: Student) -> Row:
        mine = by_student.get(student.id)
        return {
            "Identifier": _participant(student),
            "Full name": student.name,
            "ID number": student.id,
            "Email address": student.email,
            "Grade": number(mine.points) if mine else "",
            "Maximum grade": number(mine.max_points) if mine else "",
            "Last modified (grade)": student.graded,
            "Feedback comments": as_html(mine) if mine else "",
        }

    return [row(student) for student in roster.students.values()]


def _participant(student: Student) -> str:
    bare = student.identifier == student.number
    return f"Participant {student.number}" if student.number and bare else student.identifier


def questions(marks: Iterable[Marks]) -> list[Row]:
    """A row for each student and question."""
    return [
        {
            "assignment": each.assignment,
            "student": each.student,
            "function": question.function,
            "question": question.cell,
            "points": question.points,
            "max_points": question.max_points,
            "by_hand": question.by_hand,
            "waits": question.waits,
            "handed_in": each.handed_in.isoformat() if each.handed_in else "",
            "seconds_late": each.seconds_late,
        }
        for each in marks
        for question in each.questions
    ]


def term(marks: Sequence[Marks], students: Iterable[str], drop: int = 0) -> list[Row]:
    """A row for each student: the points of every assignment, and the percentage of all that count.

    Parameters: drop, how many assignments do not count for a student: those with the lowest share of their
    points. One that was not handed in has 0 of them. Raises: ValueError where none would be left.
    """
    most = {each.assignment: each.max_points for each in marks}
    if not 0 <= drop < max(len(most), 1):
        raise ValueError(
            f"drop: expected from 0 to {len(most) - 1}, so that one of the marked assignments "
            f"({', '.join(most)}) is left; got {drop}"
        )
    got = {(each.student, each.assignment): each.points for each in marks}

    def row(student: str) -> Row:
        mine = {name: got.get((student, name)) for name in most}
        shares = sorted(most, key=lambda name: (mine[name] or 0.0) / (most[name] or 1.0))
        counts = shares[drop:]
        total = sum(most[name] for name in counts)
        percent = 100 * sum(mine[name] or 0.0 for name in counts) / total if total else 0.0
        points = {name: "" if mine[name] is None else number(mine[name] or 0.0) for name in most}
        return {
            "student": student,
            **points,
            "dropped": " ".join(sorted(shares[:drop])),
            "percent": number(percent),
        }

    return [row(student) for student in students]


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """A CSV in UTF-8, quoted where it must be; no text in it is taken for a formula."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([harmless(head) for head in rows[0]] if rows else [])
        writer.writerows([[harmless(cell) for cell in row.values()] for row in rows])


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """The same for analysis, with types. Raises: CourseError where pyarrow is not installed."""
    from course_lib.errors import CourseError

    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise CourseError(
            "Parquet needs pyarrow: pip install pyarrow, or export `questions` as CSV"
        ) from None
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)


def harmless(cell: Any) -> Any:
    """A text with ' in front where a spreadsheet would compute it; all else as it is.

    >>> [harmless(cell) for cell in ("=1+1", "-", "Ann, “A”", -1.5)]
    ["'=1+1", '-', 'Ann, “A”', -1.5]
    """
    computed = isinstance(cell, str) and cell.lstrip(" ").startswith(FORMULA) and len(cell) > 1
    return f"'{cell}" if computed else cell


def number(points: float) -> str:
    """Points as people write them, to a hundredth.

    >>> number(2.0), number(1.005), number(1 / 3)
    ('2', '1', '0.33')
    """
    return f"{points:.2f}".rstrip("0").rstrip(".")


def as_html(marks: Marks) -> str:
    """The comments on each answer as Moodle shows them; those in words with the points that a person gave."""
    late = [f"Late: {number(marks.penalty)} points taken off."] if marks.penalty else []
    lines = [*late, *(_unreadable(marks) if marks.unreadable else _said(marks))]
    return "".join(f"<p>{html.escape(line, quote=False)}</p>".replace("\n", "<br>") for line in lines)


def _said(marks: Marks) -> list[str]:
    in_words = {each.cell: _given(each) for each in marks.questions if each.by_hand}
    said = in_words | dict(marks.comments)
    said |= {cell: f"{line}\n{said[cell]}" for cell, line in in_words.items() if said[cell] != line}
    return [said[cell] for cell in sorted(said)]


def _unreadable(marks: Marks) -> list[str]:
    """Why nothing could be read, once: the marking says it to every answer."""
    return list(dict.fromkeys(text.partition("\n")[2] or text for _, text in marks.comments))


def _given(question: Question) -> str:
    """The points of an answer in words, in the form in which marking tells those of a function."""
    if not question.scored:
        return f"{question.cell}: not marked yet."
    return f"{question.cell}: {number(question.points)} of {number(question.max_points)} points."
