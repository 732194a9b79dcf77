"""`course mark ASSIGNMENT`: mark what a class has handed in, with progress and a table at the end."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from typing import Any


def run(args: argparse.Namespace) -> int:
    """Mark the class. Returns: 0 when every submission has its marks, 1 when one could not be marked."""
    import os

    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError
    from course_lib.grading.class_marking import mark_class
    from course_lib.project import project_root

    if args.what not in MODULES:
        raise CourseError(
            f"{args.what}: neither a notebook (.ipynb) nor one of the assignments {', '.join(MODULES)}"
        )
    workers = (os.cpu_count() or 1) if args.workers is None else args.workers
    if workers < 1:
        raise CourseError(f"--workers: expected a number from 1 on, got {workers}")
    progress = Progress()
    try:
        results = mark_class(
            project_root(),
            args.what,
            students=args.students,
            workers=workers,
            sandboxed=not args.unsandboxed,
            tell=progress.tell,
            begin=progress.begin,
        )
    except KeyboardInterrupt:
        raise CourseError(
            "interrupted; what is marked stays marked: give the same command to go on"
        ) from None
    finally:
        progress.end()
    print(as_json(results) if args.json else table(results))
    return 1 if any(done.trouble for done in results) else 0


class Progress:
    """A bar with count, rate and time left on the terminal, and a line for each submission that failed."""

    _bar: Any = None

    def begin(self, total: int) -> None:
        """Show the bar, where somebody can see it."""
        from tqdm import tqdm

        self._bar = tqdm(total=total, unit="submission", file=sys.stderr, disable=None, leave=False)

    def tell(self, done: Any) -> None:
        """One more submission is done."""
        if done.trouble:
            self._bar.write(f"{done.student}: {done.trouble}", file=sys.stderr)
        self._bar.update()

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


def table(results: list[Any]) -> str:
    """What became of each submission, and the class as a whole."""
    width = max(len(done.student) for done in results)
    lines = []
    for done in results:
        said = (
            done.trouble or f"{done.points:>5g} of {done.max_points:g}{'   unchanged' if done.again else ''}"
        )
        lines.append(f"{done.student:<{width}}  {said}")
    marked = [done.points for done in results if done.trouble is None]
    counts = f"{len(marked)} marked, of which {sum(done.again for done in results)} unchanged"
    middle = f"; median {statistics.median(marked):g} points" if marked else ""
    return "\n".join([*lines, f"{counts}; {len(results) - len(marked)} not marked{middle}"])


def as_json(results: list[Any]) -> str:
    """The same as data."""
    from dataclasses import asdict

    return json.dumps([asdict(done) for done in results], indent=1)
