"""From solutions/ to exercises/: stubs that name their function, and nbgrader's own generate_assignment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from course_lib.errors import CourseError


def stub(source: str) -> str:
    """The stub for an answer cell, named after the last function or class that the cell defines.

    >>> stub("def softmax(scores):\\n    ...")
    'raise NotImplementedError("softmax is not written yet")'
    """
    names = re.findall(r"^(?:def|class) (\w+)", source, flags=re.MULTILINE)
    name = names[-1] if names else "this answer"
    return f'raise NotImplementedError("{name} is not written yet")'


def generate(root: Path, name: str, folder: Path) -> Path:
    """Run nbgrader's generate_assignment for one assignment, into a folder and with a gradebook there.

    Returns: the released notebook. Raises: CourseError with nbgrader's last words when it fails.
    """
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    }
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", name, "--force"]
    command += [f"--CourseDirectory.release_directory={folder / 'exercises'}"]
    command += [f"--CourseDirectory.db_url=sqlite:///{folder / 'gradebook.db'}"]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, encoding="utf-8", errors="replace"
    )
    made = folder / "exercises" / name / f"{name}.ipynb"
    if done.returncode != 0 or not made.is_file():
        raise CourseError(f"{name}: nbgrader could not generate it:\n{done.stderr[-1500:]}")
    made.write_bytes(made.read_bytes().replace(b"\r\n", b"\n"))  # on Windows nbgrader writes CRLF
    return made
