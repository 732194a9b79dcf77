"""`course references`: store the visible cases' right answers, computed from solutions/."""

from __future__ import annotations

import argparse
from typing import Any

from . import generated


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    return generated.add_parser(
        subparsers, "references", writes="store the right answers to the visible cases", kept="what is stored"
    )


def run(args: argparse.Namespace) -> int:
    """Write, or check, the stored data of each assignment."""
    from course_lib.grading.references import out_of_date, write
    from course_lib.project import project_root

    root = project_root()
    return generated.run(
        args,
        "references",
        out_of_date=lambda name: out_of_date(root, name),
        write=lambda name: f"wrote {write(root, name)}",
    )
