"""The course as nbgrader knows it: its configuration and where its folders and gradebook are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets.config import Config, PyFileConfigLoader

from course_lib.project import MARKER

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

SQLITE = "sqlite:///"


def read_config(root: Path) -> Config:
    """nbgrader's configuration in the course's folder."""
    return Config(PyFileConfigLoader(MARKER, path=str(root)).load_config())


def judging_settings(root: Path) -> dict[str, Any]:
    """What the configuration says of running submissions, such as `c.JudgedExecute.timeout = 60`."""
    return dict(read_config(root).get("JudgedExecute", {}))


def database_url(root: Path) -> str:
    """Where the gradebook is, as nbgrader finds it."""
    default = f"{SQLITE}{root.resolve() / 'gradebook.db'}"
    return str(read_config(root).CourseDirectory.get("db_url", default))


def no_file_of(url: str) -> bool:
    """Whether it is the address of an SQLite file that is not there, which connecting would make."""
    return url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).is_file()


def course_directory(root: Path, config: Config | None = None) -> CourseDirectory:
    """The course in a folder, with its configuration or another one."""
    from nbgrader.coursedir import CourseDirectory

    course = CourseDirectory(config=read_config(root) if config is None else config)
    course.root = str(root)
    return course
