"""`course collect`: put what a class handed in on a learning platform where nbgrader looks for it."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "collect",
        help="take in what was handed in on Moodle, Canvas, Gradescope or Google Classroom",
        description="Writes submitted/STUDENT/ASSIGNMENT/, with nbgrader's timestamp.txt where it is known "
        "when something came. What was there before goes to submitted_before/. Exit status: 0 when all files "
        "in the archives belong to somebody and could be read, 1 when not, 2 when nothing was done.",
    )
    parser.add_argument(
        "what",
        nargs="+",
        metavar="ASSIGNMENT | ZIP",
        help="an assignment, such as 01_soft_lookup, and the platform's archives, the latest last",
    )
    parser.add_argument(
        "--from", dest="platform", required=True, choices=("moodle", "canvas", "gradescope", "google")
    )
    parser.add_argument(
        "--roster",
        required=True,
        metavar="CSV",
        help="the class: id, first_name, last_name, email, login, lms_user_id; or Moodle's grading "
        "worksheet, Canvas's gradebook export, Gradescope's roster",
    )
    parser.add_argument(
        "--due", metavar="TIME", help="2026-03-01 23:59, in this machine's zone unless it says +01:00"
    )
    parser.add_argument(
        "--archive-times",
        action="store_true",
        help="take a file's time in the archive as when it was handed in; on Moodle and Canvas it is that of "
        "the download",
    )
    parser.set_defaults(passes_on=True)  # words on both sides of an option
    return parser


def run(args: argparse.Namespace) -> int:
    """Collect, and say what became of everything."""
    from pathlib import Path

    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError
    from course_lib.project import project_root
    from course_lib.term.collect import collect
    from course_lib.term.platforms import parse_time
    from course_lib.term.roster import read_roster

    words = [*args.what, *args.rest]
    archives = [word for word in words if word.lower().endswith(".zip")]
    names = [word for word in words if word not in archives]
    if len(names) != 1 or names[0] not in MODULES or not archives:
        raise CourseError(f"expected ZIP archives and one of {', '.join(MODULES)}, got {' '.join(words)}")
    due = parse_time(args.due)
    if args.due and due is None:
        raise CourseError(f"--due: expected a time such as 2026-03-01 23:59, got {args.due}")
    report = collect(
        project_root(),
        names[0],
        [Path(path) for path in archives],
        args.platform,
        read_roster(Path(args.roster)),
        due=due,
        archive_times=args.archive_times,
    )
    print(told(report))
    return 1 if report.unmatched or report.refused else 0


def told(report: Any) -> str:
    """The report as lines."""
    lines = [f"{student}  {what}" for student, what in report.done.items()]
    lists = {
        "belongs to nobody on the roster, and was left in the archive": report.unmatched,
        "refused": report.refused,
        "left in the archive": report.aside,
        "late, but not known by how much; give --due": report.undated,
        "nothing handed in": report.absent,
    }
    for title, entries in lists.items():
        if entries:
            lines += [f"{title} ({len(entries)}):", *(f"    {entry}" for entry in entries)]
    return "\n".join([*lines, f"collected: {len(report.done)}"])
