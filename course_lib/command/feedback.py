"""`course feedback ASSIGNMENT`: make the feedback pages of a class, those that are not as they should be."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "feedback",
        help="make the feedback pages of a class",
        description="Exit status: 0 when every page is there, 1 when one could not be made, 2 otherwise.",
    )
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="an assignment that has been marked")
    parser.add_argument("--students", default="*", metavar="GLOB", help="only these")
    parser.add_argument("--workers", type=int, metavar="N", help="processes; default: all cores")
    parser.add_argument("--json", action="store_true", help="what became of each page, as data")
    return parser


def run(args: argparse.Namespace) -> int:
    """Make the pages. Returns: 0 when all are there, 1 when one is not."""
    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError
    from course_lib.grading.class_feedback import make_pages

    from .progress import as_json, over_class

    if args.assignment not in MODULES:
        raise CourseError(f"{args.assignment}: not one of the assignments {', '.join(MODULES)}")
    pages = over_class(make_pages, args.assignment, args, unit="page")
    failed = [page for page in pages if page.trouble]
    if args.json:
        print(as_json(pages))
    else:
        again = sum(page.again for page in pages)
        print(
            f"{len(pages) - len(failed)} pages in feedback/, of which {again} unchanged; {len(failed)} failed"
        )
    return 1 if failed else 0
