"""`course map`: from goals over sections and exercises to tests and mistakes, with what is missing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "map",
        help="what leads to which goal: sections, exercises, tests, mistakes, and the holes",
        description="Writes a page: for each goal of a chapter the sections that lead there and the "
        "exercises that ask for it; for each exercise its tests and the mistakes that they find; the holes.",
    )
    parser.add_argument("--to", metavar="FILE", help="the page; default: exports/map.html")
    parser.add_argument("--json", action="store_true", help="print the same as data, and write no page")
    parser.add_argument(
        "--site", default="", metavar="ADDRESS", help="where the chapters stand as pages; default: build/site"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the page, or print the data."""
    import json

    from course_lib.project import project_root
    from course_lib.term import overview, overview_page
    from course_lib.term.chapters import Links

    root = project_root()
    to = Path(args.to) if args.to else root / "exports" / "map.html"
    made, links = overview.overview(root), Links(root, to, args.site)
    if args.json:
        print(json.dumps(overview.as_data(made, links), indent=1, ensure_ascii=False))
        return 0
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(overview_page.as_page(made, links), encoding="utf-8", newline="\n")
    print(f"{to}: {len(made)} chapters, {sum(len(each.holes) for each in made)} holes")
    return 0
