"""`course report ASSIGNMENT`: what a class's marks tell the person who teaches it, as a page or as data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


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
    parser.add_argument("--to", metavar="FILE", help="the page; default: exports/report_ASSIGNMENT.html")
    parser.add_argument("--json", action="store_true", help="print the same as data, and write no page")
    parser.add_argument(
        "--csv", action="store_true", help="beside the page, tables of its questions and of its mistakes"
    )
    parser.add_argument(
        "--site", default="", metavar="ADDRESS", help="where the chapters stand as pages; default: build/site"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the page, or print the data."""
    import json

    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError
    from course_lib.project import project_root
    from course_lib.term import report, report_page
    from course_lib.term.chapters import Links

    if args.assignment not in MODULES:
        raise CourseError(f"{args.assignment}: expected one of the assignments {', '.join(MODULES)}")
    root = project_root()
    to = Path(args.to) if args.to else root / "exports" / f"report_{args.assignment}.html"
    made, links = report.report(root, args.assignment), Links(root, to, args.site)
    if args.json:
        print(json.dumps(report.as_data(made, links), indent=1, ensure_ascii=False))
        return 0
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(report_page.as_page(made, links), encoding="utf-8", newline="\n")
    print(f"{to}: students: {len(made.points)}, known mistakes: {len(made.mistakes)}")
    if args.csv:
        for path in write_tables(report.as_data(made, links), to):
            print(path)
    return 0


def write_tables(data: dict[str, Any], page: Path) -> list[Path]:
    """The questions and the mistakes of a report as CSV. Returns: the files."""
    from course_lib.term.tables import write_csv

    paths = [page.with_name(f"{page.stem}_{name}.csv") for name in ("questions", "mistakes")]
    write_csv(data["questions"], paths[0])
    mistakes = [
        each | {"ids": " ".join(each["ids"])} | {f"section_{k}": v for k, v in each["section"].items()}
        for each in data["mistakes"]
    ]
    write_csv([{k: v for k, v in each.items() if k != "section"} for each in mistakes], paths[1])
    return paths
