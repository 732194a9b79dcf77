"""Where the course lies on this machine."""

from pathlib import Path

from course_lib.errors import CourseError

MARKER = "nbgrader_config.py"


def project_root() -> Path:
    """The folder that holds notebooks/, exercises/ and nbgrader_config.py.

    The current folder or the nearest one above it that holds the configuration; else the one that this
    package was installed from. Raises: CourseError where neither does.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / MARKER).is_file():
            return folder
    raise CourseError(f"no {MARKER} here or above: run the command inside the course's folder")
