"""`course mark ASSIGNMENT`: mark what a class has handed in, with progress and a table at the end."""

from __future__ import annotations

import argparse
import statistics
from typing import Any


def run(args: argparse.Namespace) -> int:
    """Mark the class. Returns: 0 when every submission has its marks, 1 when one could not be marked."""
    from course_lib.checks.assignments import MODULES
    from course_lib.errors import CourseError
    from course_lib.grading.class_marking import mark_class

    from .progress import as_json, over_class

    if args.what not in MODULES:
        raise CourseError(
            f"{args.what}: neither a notebook (.ipynb) nor one of the assignments {', '.join(MODULES)}"
        )
    results = over_class(
        mark_class,
        args.what,
        args,
        unit="submission",
        scheduler=args.scheduler,
        sandboxed=not args.unsandboxed,
    )
    print(as_json(results) if args.json else table(results))
    return 1 if any(done.trouble for done in results) else 0


def table(results: list[Any]) -> str:
    """What became of each submission, and the class as a whole."""
    width = max(len(done.student) for done in results)
    lines = []
    for done in results:
        said = done.trouble or f"{done.points:>5g} of {done.max_points:g}{_more(done)}"
        lines += [f"{done.student:<{width}}  {said}", *(f"{'':<{width}}    {each}" for each in done.noticed)]
    marked = [done for done in results if done.trouble is None]
    counts = f"{len(marked)} marked, of which {sum(done.again for done in marked)} unchanged"
    unreadable = sum(done.note is not None for done in marked)
    unread = f" and {unreadable} could not be read" if unreadable else ""
    middle = f"; median {statistics.median(done.points for done in marked):g} points" if marked else ""
    return "\n".join([*lines, f"{counts}{unread}; {len(results) - len(marked)} not marked{middle}"])


def _more(done: Any) -> str:
    """What there is to say beside a student's points."""
    by_hand = sum(score is None for score in (done.scores or {}).values())
    answers = "answer waits" if by_hand == 1 else "answers wait"
    said = [
        f"less {done.taken_off:g} for lateness" if done.taken_off else "",
        f"could not be read: {done.note}" if done.note else "",
        f"{by_hand} {answers} for Formgrader" if by_hand else "",
        "unchanged" if done.again else "",
    ]
    return "".join(f"   {each}" for each in said if each)
