"""`course report ASSIGNMENT`: what a class's marks tell the person who teaches it, as a page or as data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import page


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "report",
        help="what a class got wrong, which questions were hard, and what to teach again",
        description="Writes a page for the instructor: points, difficulty and discrimination of questions, "
        "mistakes by frequency with the chapter's section that answers each, submissions that look alike, "
        "and what to teach again.",
    )
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="a marked one, such as 01_soft_lookup")
    page.add_arguments(parser, "report_ASSIGNMENT")
    parser.add_argument(
        "--csv", action="store_true", help="beside the page, tables of its questions and of its mistakes"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the page, or print the data."""
    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError
    from course_lib.project import project_root
    from course_lib.term import report, report_page

    if args.assignment not in MODULES:
        raise CourseError(f"{args.assignment}: expected one of the assignments {', '.join(MODULES)}")
    if args.json and args.csv:
        raise CourseError("--csv: makes tables beside the page, and --json makes no page; give one of them")
    root = project_root()
    to, links = page.links(args, root, f"report_{args.assignment}")
    made = report.report(root, args.assignment)
    if args.json:
        return page.show(report.as_data(made, links))
    said = f"students: {len(made.points)}, known mistakes: {len(made.mistakes)}"
    status = page.write(to, report_page.as_page(made, links), "\n".join([said, *report.notes(made)]))
    if args.csv:
        for path in write_tables(report.as_data(made, links), to):
            print(path)
    return status


def write_tables(data: dict[str, Any], beside: Path) -> list[Path]:
    """The questions and the mistakes of a report as CSV, beside its page. Returns: the files."""
    from course_lib.term.tables import write_csv

    paths = [beside.with_name(f"{beside.stem}_{name}.csv") for name in ("questions", "mistakes")]
    write_csv(data["questions"], paths[0])
    mistakes = [
        each | {"ids": " ".join(each["ids"])} | {f"section_{k}": v for k, v in each["section"].items()}
        for each in data["mistakes"]
    ]
    write_csv([{k: v for k, v in each.items() if k != "section"} for each in mistakes], paths[1])
    return paths
