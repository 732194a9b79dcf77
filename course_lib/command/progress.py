"""What the commands for a class share: their options, how many processes, and a bar while they work."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from course_lib.errors import CourseError


def processes(wanted: int | None) -> int:
    """The number of processes for `--workers`. Raises: CourseError where it is none."""
    if wanted is not None and wanted < 1:
        raise CourseError(f"--workers: expected a number from 1 on, got {wanted}")
    return wanted or os.cpu_count() or 1


def over_class(
    work: Callable[..., list[Any]], assignment: str, args: argparse.Namespace, *, unit: str, **more: Any
) -> list[Any]:
    """Do something for every student of a class, as `--students` and `--workers` say, and show how far it is.

    Parameters: work, such as `mark_class`; unit, what the bar counts; more, further arguments of `work`.
    """
    from course_lib.project import project_root

    with Progress(unit) as progress:
        return work(
            project_root(),
            assignment,
            students=args.students,
            workers=processes(args.workers),
            begin=progress.begin,
            tell=progress.tell,
            **more,
        )


def as_json(results: list[Any]) -> str:
    """What became of each student, as data."""
    return json.dumps([asdict(each) for each in results], indent=1)


class Progress:
    """A bar with count, rate and time left on the terminal, and a line for each student with trouble.

    Use it in a `with` statement; it says what remains done when that is interrupted.
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if kind is KeyboardInterrupt:
            raise CourseError(
                "interrupted; what is done stays done: give the same command to go on"
            ) from None

    def begin(self, total: int) -> None:
        """Show the bar, where somebody can see it."""
        from tqdm import tqdm

        self._bar = tqdm(total=total, unit=self.unit, file=sys.stderr, disable=None, leave=False)

    def tell(self, done: Any) -> None:
        """One more student is done; `done` has `student` and `trouble`."""
        if done.trouble:
            self._bar.write(f"{done.student}: {done.trouble}", file=sys.stderr)
        self._bar.update()
