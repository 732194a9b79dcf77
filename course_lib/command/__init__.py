"""The console command `course`: one module per subcommand, loaded with nothing heavy in it.

Each module has `add_parser(subparsers)`, which declares its arguments, and `run(args)`, which returns the
exit status. Heavy imports stand inside `run`, so that `course --help` answers at once.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence

from course_lib.errors import CourseError, disk_is_full

COMMANDS = (
    "lab",
    "mark",
    "feedback",
    "update",
    "bundle",
    "collect",
    "report",
    "export",
    "map",
    "normalise",
    "release",
    "references",
    "benchmark",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand. Returns its exit status; 2 for a mistake that the user can mend."""
    if hasattr(sys.stdout, "reconfigure"):  # a terminal without ≥ or √ shows ? instead of stopping
        sys.stdout.reconfigure(errors="replace")
    parser = _parser()
    args, args.rest = parser.parse_known_args(argv)
    if args.rest and not getattr(args, "passes_on", False):
        parser.error(f"unknown arguments: {' '.join(args.rest)}")
    try:
        status = int(args.run(args))
        print(end="", flush=True)
        return status
    except CourseError as error:
        print(f"course: {error}", file=sys.stderr)
    except OSError as error:
        if error.errno in (errno.EPIPE, errno.EINVAL) and _nobody_reads():  # the latter is Windows's
            return 1
        if not disk_is_full(error):
            raise
        what = "the disk is full; make space, then give the same command to go on: what is done stays done"
        print(f"course: {what} ({error})", file=sys.stderr)
    return 2


def _nobody_reads() -> bool:
    """Whether whoever reads what is printed has seen enough, as `head` has: an end of a line is refused, too.
    What is left is written nowhere then, or Python would fail once more at its end."""
    try:
        print(flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return True
    return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course", description="One Layer of Attention: the course's commands."
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        try:
            module = importlib.import_module(f"course_lib.command.{name}")
        except ModuleNotFoundError as error:  # what students receive holds fewer commands
            if error.name != f"course_lib.command.{name}":
                raise
            subparsers.add_parser(name, add_help=False).set_defaults(run=_absent, passes_on=True, name=name)
            continue
        module.add_parser(subparsers).set_defaults(run=module.run)
    return parser


def _absent(args: argparse.Namespace) -> int:
    raise CourseError(
        f"{args.name} needs the whole course, as those have it who teach it; this is the students' part"
    )
