"""`course bundle`: make what students receive, as a folder and as a ZIP archive."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "bundle",
        help="make what students receive, without solutions",
        description="Writes a ZIP archive, and a folder that can be a git repository: what is in it and not "
        "from an earlier bundle stays.",
    )
    parser.add_argument("--to", metavar="FOLDER", help="where to write both; default: dist, in the course")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write both, and say where they are."""
    from course_lib.project import project_root
    from course_lib.term import bundle

    root = project_root()
    files, place = bundle.contents(root), Path(args.to) if args.to else root / "dist"
    folder, archive = place / bundle.NAME, place / f"{bundle.NAME}.zip"
    bundle.write_folder(files, folder)
    bundle.write_archive(files, archive)
    print(f"{len(files)} files for students, no solution among them: {folder}/ and {archive}")
    return 0
