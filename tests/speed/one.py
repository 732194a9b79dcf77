"""How long one submission takes: `course mark FILE` and the Validate button, beside stock nbgrader.

Usage: python -m speed.one [ASSIGNMENT ...] [--pairs N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .__main__ import COURSE, NBGRADER, courses, timed


def main(argv: Sequence[str] | None = None) -> int:
    """Time both ways in turns, and print the medians."""
    parser = argparse.ArgumentParser(prog="speed.one", description=__doc__.splitlines()[0])
    parser.add_argument("assignments", nargs="*", default=["01_soft_lookup", "05_multi_head"])
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args(argv)
    for name in args.assignments:
        walls: dict[str, list[float]] = {}
        for _ in range(args.pairs):
            with tempfile.TemporaryDirectory() as place:
                stock, ours = courses(Path(place), name, 1)
                file = f"submitted/student-0000/{name}/{name}.ipynb"
                for what, course, command in (
                    ("nbgrader autograde, stock", stock, [*NBGRADER, "autograde", name]),
                    ("course mark FILE", ours, [*COURSE, "mark", file]),
                    ("nbgrader validate, stock", stock, [*NBGRADER, "validate", file]),
                    ("nbgrader validate, ours", ours, [*NBGRADER, "validate", file]),
                ):
                    walls.setdefault(what, []).append(timed(course, command)[0])
        print(f"{name}, one submission with all answers right, {args.pairs} times each:")
        for what, times in walls.items():
            print(f"  {what:<26}{statistics.median(times):6.1f} s ({min(times):.1f} to {max(times):.1f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
