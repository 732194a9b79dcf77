"""`course release`: generate exercises/ from solutions/ with nbgrader, in a gradebook of its own."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser("release", help="generate exercises/ from solutions/ (maintainers)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="assignments; all when none is named")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail when exercises/ is out of date"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Write, or check, the released notebook of each assignment."""
    import tempfile
    from pathlib import Path

    from course_lib.checks.assignments import MODULES
    from course_lib.grading.release import generate
    from course_lib.project import project_root

    root, status = project_root(), 0
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        for name in args.names or MODULES:
            made = generate(root, name, Path(folder)).read_bytes()
            kept = root / "exercises" / name / f"{name}.ipynb"
            same = kept.is_file() and kept.read_bytes() == made
            if args.check:
                print(f"{name}: {'up to date' if same else f'out of date; run course release {name}'}")
                status = max(status, 0 if same else 1)
            else:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(made)
                print(f"{name}: {'unchanged' if same else 'written'}")
    return status
