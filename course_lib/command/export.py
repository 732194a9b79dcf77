"""`course export`: marks and feedback, as learning platforms and spreadsheets take them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

ENDINGS = {
    "canvas": "csv",
    "moodle": "csv",
    "questions": "csv",
    "term": "csv",
    "parquet": "parquet",
    "feedback": "zip",
    "feedback-moodle": "zip",
    "feedback-canvas": "zip",
}
WITH_ROSTER = ("canvas", "moodle", "feedback-moodle", "feedback-canvas")
OF_ONE = ("moodle", "feedback", "feedback-moodle", "feedback-canvas")


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "export",
        help="give marks and feedback back, for Canvas, Moodle, spreadsheets or analysis",
        description="canvas and moodle: marks to upload, Moodle's with comments. questions: a line for each "
        "student and question, as CSV or parquet. term: all assignments, and the percentage. feedback: pages "
        "in a ZIP archive with a folder for each student; feedback-moodle, feedback-canvas: as these do.",
    )
    parser.add_argument("what", choices=ENDINGS, metavar="WHAT", help=", ".join(ENDINGS))
    parser.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="all when none is named")
    parser.add_argument(
        "--archive", nargs="+", default=[], metavar="ZIP", help="what Canvas made, for feedback-canvas"
    )
    parser.add_argument("--roster", metavar="CSV", help=f"the class, for {', '.join(WITH_ROSTER)}")
    parser.add_argument("--to", metavar="FILE", help="default: exports/WHAT, with the assignment's name")
    parser.add_argument(
        "--title", metavar="TITLE", help="what Canvas calls the assignment, such as 'Soft lookup (1234)'"
    )
    parser.add_argument(
        "--drop-lowest", type=int, default=0, metavar="N", help="of the term leave out each student's worst N"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the file, and say what waits for a person."""
    from course_lib.errors import CourseError
    from course_lib.project import project_root
    from course_lib.term import feedback, newer, packing, tables
    from course_lib.term.marks import read_marks
    from course_lib.term.roster import Roster, read_roster

    if args.what in OF_ONE and len(args.assignments) != 1:
        raise CourseError(f"{args.what}: name one assignment")
    if args.what in WITH_ROSTER and not args.roster:
        raise CourseError(f"{args.what}: needs the class, --roster CSV")
    if args.title and (args.what != "canvas" or len(args.assignments) != 1):
        raise CourseError("--title: belongs to canvas and one assignment")
    if args.what == "feedback-canvas" and not args.archive:
        raise CourseError("feedback-canvas: needs the archive that was collected from Canvas, --archive ZIP")
    if args.archive and args.what != "feedback-canvas":
        raise CourseError("--archive: belongs to feedback-canvas alone")
    root = project_root()
    roster = read_roster(Path(args.roster)) if args.roster else Roster({})
    to = (
        Path(args.to)
        if args.to
        else root / "exports" / f"{'_'.join([args.what, *args.assignments])}.{ENDINGS[args.what]}"
    )
    if args.what.startswith("feedback"):
        if args.what == "feedback":
            files = feedback.by_student(root, args.assignments[0])
        elif args.archive:
            files = feedback.for_canvas(
                root, args.assignments[0], roster, [Path(each) for each in args.archive]
            )
        else:
            files = feedback.for_moodle(root, args.assignments[0], roster)
        packing.write_zip(files, to, packed=True)
        said = newer.notes(root, args.assignments)
        print("\n".join([f"{to}: feedback for {len(files)} students", *said]))
        return 0
    marks = read_marks(root, args.assignments)
    if not marks:
        raise CourseError("nobody has been marked yet; mark first: course mark ASSIGNMENT")
    if args.what == "canvas":
        rows = tables.canvas(marks, roster, {args.assignments[0]: args.title} if args.title else {})
    elif args.what == "moodle":
        rows = tables.moodle(marks, roster)
    elif args.what == "term":
        try:
            rows = tables.term(
                marks, list(roster.students) or sorted({each.student for each in marks}), args.drop_lowest
            )
        except ValueError as error:
            raise CourseError(f"--drop-lowest: {str(error).removeprefix('drop: ')}") from None
    else:
        rows = tables.questions(marks)
    (tables.write_parquet if args.what == "parquet" else tables.write_csv)(rows, to)
    said = newer.notes(root, dict.fromkeys(each.assignment for each in marks))
    print("\n".join([f"{to}: {len(rows)} rows", *said, *notes(marks, roster)]))
    return 0


def notes(marks: Any, roster: Any) -> list[str]:
    """What an instructor should know before uploading: what waits for a person, and who is on no roster."""
    waiting = [f"{each.student} ({each.assignment})" for each in marks if each.waits]
    strangers = sorted({each.student for each in marks} - set(roster.students)) if roster.students else []
    lines = []
    if waiting:
        lines.append(f"answers wait to be marked by hand ({len(waiting)}): {', '.join(waiting)}")
    if strangers:
        lines.append(f"marked, but not on the roster and left out: {', '.join(strangers)}")
    return lines
