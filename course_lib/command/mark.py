"""`course mark FILE`: mark one notebook and print the table of points and sentences.

`course mark ASSIGNMENT` marks what a class has handed in: see `mark_class`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from os.path import isfile  # which is silent where a path is too long, or closed
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "mark",
        help="mark one notebook, or what a class has handed in",
        description="Exit status of a notebook: 0 with all automatic points, 1 when some are missing; of a "
        "class: 0 when every submission was marked, 1 when one was not; 2 when it failed.",
    )
    parser.add_argument(
        "what",
        metavar="FILE | ASSIGNMENT",
        help="a notebook, such as work/01_soft_lookup/01_soft_lookup.ipynb, or an assignment in submitted/",
    )
    parser.add_argument("--students", default="*", metavar="GLOB", help="of a class only these")
    parser.add_argument("--workers", type=int, metavar="N", help="processes for a class; default: all cores")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run a class on a dask cluster, such as tcp://192.0.2.7:8786"
    )
    parser.add_argument("--json", action="store_true", help="the table of a class as data")
    parser.add_argument(
        "--unsandboxed", action="store_true", help="run the notebook with your own rights, not in a sandbox"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Mark the notebook, or the class."""
    if args.what.endswith(".ipynb"):
        return mark_file(args)
    try:
        from . import mark_class
    except ImportError:
        from course_lib.errors import CourseError

        raise CourseError(
            f"{args.what}: expected a notebook (.ipynb); marking a class needs the whole course"
        ) from None
    return mark_class.run(args)


def mark_file(args: argparse.Namespace) -> int:
    """Mark the notebook. Returns: 0 with all automatic points, 1 when some are missing."""
    from course_lib.grading.preloaded import preloaded_for
    from course_lib.project import project_root

    path, root = Path(args.what), project_root()
    if isfile(path):
        _begin(args, preloaded_for(root / "solutions" / path.stem / path.name))

    # What follows takes long to import: the warm parent imports its own meanwhile.
    from course_lib.grading.mark import assignment_of, mark
    from course_lib.grading.sandbox import missing, needs_sandbox
    from course_lib.grading.secret import NAME, read_or_make
    from course_lib.grading.source import Source, VisibleTests
    from course_lib.grading.submission import read_submission

    notebook = read_submission(path)
    name = assignment_of(path, notebook)
    solution = root / "solutions" / name / f"{name}.ipynb"
    if solution.is_file():
        tests: VisibleTests = Source(solution, read_or_make(root / NAME))
        original = tests.notebook  # type: ignore[attr-defined]
        _begin(args, tests.imports)  # where the notebook has another name
    else:
        print("There is no solutions/ here, so only the visible checks are run; hidden tests may find more.")
        tests = VisibleTests(name)
        original = read_submission(root / "exercises" / name / f"{name}.ipynb")
    # A notebook in work/, or where there are no solutions, is the user's own: a sandbox would protect nobody.
    own = not solution.is_file() or root / "work" in path.resolve().parents
    sandboxed = needs_sandbox("--unsandboxed", args.unsandboxed or (own and missing() is not None))
    marked = mark(notebook, tests, original, sandboxed=sandboxed)
    print(table(marked))
    return 0 if marked.points == marked.max_points else 1


def _begin(args: argparse.Namespace, modules: Sequence[str]) -> None:
    """Start a warm parent with these modules, if there are any and there is none, while this process imports
    what it needs itself."""
    import sys

    from course_lib.grading.warm import begin

    if modules and not args.unsandboxed and sys.platform == "linux":
        begin(modules)


def table(marked: Any) -> str:
    """The verdicts as lines: points, function and behaviour, and a sentence where points are missing; then
    what a person marks."""
    lines = [f"repaired first: {repair}" for repair in marked.repairs]
    for verdict in marked.verdicts.values():
        points = f"{verdict.points:>4g} of {verdict.max_points:g}"
        lines.append(f"{points:<11}{verdict.function}: {verdict.title}")
        if verdict.failed is not None:
            lines.append(f"{'':11}{verdict.sentence}")
    for name, points in marked.by_hand.items():
        lines.append(f"{f'   – of {points:g}':<11}{name}: marked by hand")
    more = f", and {sum(marked.by_hand.values()):g} that are marked by hand" if marked.by_hand else ""
    return "\n".join([*lines, f"{marked.points:>4g} of {marked.max_points:g} points{more}"])
