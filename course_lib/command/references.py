"""`course references`: store the visible cases' right answers, computed from solutions/."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "references", help="store the right answers to the visible cases (maintainers)"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="assignments; all when none is named")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail when what is stored is out of date"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write, or check, the stored data of each assignment."""
    from course_lib.checks.assignments import MODULES
    from course_lib.grading.references import out_of_date, write
    from course_lib.project import project_root

    root, status = project_root(), 0
    for name in args.names or MODULES:
        if args.check:
            reason = out_of_date(root, name)
            print(f"{name}: {reason}; run course references {name}" if reason else f"{name}: up to date")
            status = max(status, 1 if reason else 0)
        else:
            print(f"{name}: wrote {write(root, name)}")
    return status
