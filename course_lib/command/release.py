"""`course release`: generate exercises/ from solutions/ with nbgrader, in a gradebook of its own."""

from __future__ import annotations

import argparse
from typing import Any

from . import generated


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    return generated.add_parser(
        subparsers, "release", writes="generate exercises/ from solutions/", kept="exercises/"
    )


def run(args: argparse.Namespace) -> int:
    """Write, or check, the released notebook of each assignment."""
    import tempfile
    from pathlib import Path

    from course_lib.grading.release import generate
    from course_lib.project import project_root

    root = project_root()
    with tempfile.TemporaryDirectory(prefix="release-") as folder:

        def made_and_kept(name: str) -> tuple[bytes, Path, bool]:
            made = generate(root, name, Path(folder)).read_bytes()
            kept = root / "exercises" / name / f"{name}.ipynb"
            return made, kept, kept.is_file() and kept.read_bytes() == made

        def out_of_date(name: str) -> str | None:
            return None if made_and_kept(name)[2] else "out of date"

        def write(name: str) -> str:
            made, kept, same = made_and_kept(name)
            if not same:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(made)
            return "unchanged" if same else "written"

        return generated.run(args, "release", out_of_date=out_of_date, write=write)
