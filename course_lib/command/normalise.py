"""`course normalise FILES`: bring notebook files into the project's shape, or check that they have it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "normalise", help="take execution noise out of notebook files (maintainers)"
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit status 1 when a file would change"
    )
    parser.add_argument(
        "--execute", action="store_true", help="run in a fresh kernel first and store the outputs"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Normalise each file; a line for each one that changes, or that has a problem."""
    failed = 0
    for path in args.files:
        try:
            failed += _one(path, args.check, args.execute)
        except CourseError as error:
            print(f"{path}: {error}")
            failed += 1
    return 1 if failed else 0


def _one(path: Path, check: bool, execute: bool) -> bool:
    """Handle one file; True when `check` found that it would change."""
    from course_lib import notebooks

    stored = notebooks.read(path)
    new = notebooks.normalise(stored, path.stem) if not execute else _executed(path, stored)
    text = notebooks.text_of(new)
    if len(text.encode()) > notebooks.MAX_BYTES:
        raise CourseError(
            f"{len(text.encode())} bytes are more than {notebooks.MAX_BYTES}: make its pictures smaller"
        )
    changed = text != path.read_text(encoding="utf-8")
    if changed and check:
        print(f"{path}: not normalised; run `course normalise {path}`")
    elif changed:
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path}: normalised")
    return changed and check


def _executed(path: Path, stored: Any) -> Any:
    from course_lib import notebooks

    fresh = notebooks.normalise(notebooks.execute(stored, path.parent), path.stem)
    return notebooks.with_stored_pictures(fresh, stored)
