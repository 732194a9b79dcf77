"""`course map`: from goals over sections and exercises to tests and mistakes, with what is missing."""

from __future__ import annotations

import argparse
from typing import Any

from . import page


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "map",
        help="what leads to which goal: sections, exercises, tests, mistakes, and the holes",
        description="Writes a page: for each goal of a chapter the sections that lead there and the "
        "exercises that ask for it; for each exercise its tests and the mistakes that they find; the holes.",
    )
    page.add_arguments(parser, "map")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the page, or print the data."""
    from course_lib.project import project_root
    from course_lib.term import overview, overview_page

    root = project_root()
    to, links = page.links(args, root, "map")
    made = overview.overview(root)
    if args.json:
        return page.show(overview.as_data(made, links))
    said = f"{len(made)} chapters, {sum(len(each.holes) for each in made)} holes"
    return page.write(to, overview_page.as_page(made, links), said)
