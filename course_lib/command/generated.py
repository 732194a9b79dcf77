"""What `course references` and `course release` have in common: they write a file for each assignment."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add_parser(subparsers: Any, name: str, *, writes: str, kept: str) -> argparse.ArgumentParser:
    """Declare the arguments. writes: what the command does; kept: what must not be out of date."""
    parser = subparsers.add_parser(name, help=f"{writes} (maintainers)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="assignments; all when none is named")
    parser.add_argument(
        "--check", action="store_true", help=f"change nothing; fail when {kept} is out of date"
    )
    return parser


def run(
    args: argparse.Namespace,
    command: str,
    *,
    out_of_date: Callable[[str], str | None],
    write: Callable[[str], str],
) -> int:
    """Write, or check, what belongs to each assignment, and print a line for it. Returns: the exit status.

    Parameters: out_of_date, why what is kept for an assignment is not what is made now, or None; write, makes
    it and says what was done. Raises: CourseError for an assignment that does not exist.
    """
    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError

    unknown = [name for name in args.names if name not in MODULES]
    if unknown:
        raise CourseError(f"no such assignment: {', '.join(unknown)}; there are {', '.join(MODULES)}")
    status = 0
    for name in args.names or MODULES:
        if not args.check:
            print(f"{name}: {write(name)}")
        elif reason := out_of_date(name):
            print(f"{name}: {reason}; run course {command} {name}")
            status = 1
        else:
            print(f"{name}: up to date")
    return status
