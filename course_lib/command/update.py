"""`course update NAME`: bring your copy of an exercise to its present release, with your answers."""

from __future__ import annotations

import argparse
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from course_lib.command.workspace import Workspace
from course_lib.project import project_root


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser("update", help="bring your copy of an exercise to its present release")
    parser.add_argument(
        "names", nargs="+", metavar="NAME", help="such as 01_soft_lookup or work/01_soft_lookup"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Update each of the exercises; says in one line each what was done."""
    workspace = Workspace(project_root())
    for name in args.names:
        print(workspace.update(name_in(name), datetime.now()))
    return 0


def name_in(word: str) -> str:
    """The exercise that a word on the command line means: a name, or the path of a copy or of its notebook.

    >>> name_in("work/01_soft_lookup/")
    '01_soft_lookup'
    >>> name_in("01_soft_lookup.ipynb")
    '01_soft_lookup'
    """
    return Path(os.path.abspath(word)).name.removesuffix(".ipynb")  # "." is the folder one stands in
