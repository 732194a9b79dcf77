"""`course lab`: hand out the exercises that are not in work/ yet, and open JupyterLab at chapter 1."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import resources
from typing import Any

from course_lib.command.workspace import Workspace
from course_lib.errors import CourseError
from course_lib.project import project_root

FIRST_CHAPTER = "notebooks/01_soft_lookup.ipynb"
QUIET = (
    "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments; what is not ours goes to JupyterLab."""
    parser = subparsers.add_parser(
        "lab",
        help="open JupyterLab at chapter 1",
        epilog="Other options go to JupyterLab, such as --port=9000.",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="only start the server and print its address"
    )
    parser.set_defaults(passes_on=True)
    return parser


def run(args: argparse.Namespace) -> int:
    """Prepare work/ and run JupyterLab until it is stopped."""
    root = project_root()
    refuse_root(args.rest)
    for line in Workspace(root).prepare():
        print(line)
    try:
        from jupyterlab.labapp import LabApp
    except ImportError as error:
        raise CourseError(f"JupyterLab is not installed here ({error}); use `make lab`") from None
    os.chdir(root)  # where nbgrader finds its configuration
    prepare_environment()
    browser = ["--no-browser"] if args.no_browser else []
    sys.argv = [
        "jupyter-lab",
        *QUIET,
        *browser,
        f"--LabApp.default_url=/lab/tree/{FIRST_CHAPTER}",
        *args.rest,
    ]
    LabApp.launch_instance()
    return 0


def refuse_root(options: Sequence[str]) -> None:
    """Say before anything is done what JupyterLab would say after its start.

    Raises: CourseError where root starts it without an option that allows this.
    """
    root = getattr(os, "geteuid", lambda: None)() == 0  # Windows has no such function
    if root and not any("allow-root" in option or "allow_root" in option for option in options):
        raise CourseError(
            "JupyterLab starts for root only with `make lab ARGS=--allow-root` or `course lab --allow-root`"
        )


def prepare_environment() -> None:
    """No question about news on the first start, and kernels that find the programs of this environment.

    The settings are one more place that Jupyter looks at; the user's own stay in force.
    """
    settings = str(resources.files("course_lib.command") / "jupyter")
    paths = [settings, *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    programs = os.path.dirname(sys.executable)
    os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", "")])
