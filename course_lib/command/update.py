"""`course update NAME`: bring your copy of an exercise to its present release, with your answers."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from course_lib.command.workspace import Workspace
from course_lib.project import project_root


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser("update", help="bring your copy of an exercise to its present release")
    parser.add_argument("names", nargs="+", metavar="NAME", help="such as 01_soft_lookup")
    return parser


def run(args: argparse.Namespace) -> int:
    """Update each of the exercises; says in one line each what was done."""
    workspace = Workspace(project_root())
    for name in args.names:
        print(workspace.update(name, datetime.now()))
    return 0
