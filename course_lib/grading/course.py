"""The course as nbgrader knows it: its configuration and where its folders and gradebook are."""

from __future__ import annotations

from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from course_lib.project import MARKER


def read_config(root: Path) -> Config:
    """nbgrader's configuration in the course's folder."""
    return Config(PyFileConfigLoader(MARKER, path=str(root)).load_config())


def course_directory(root: Path, config: Config | None = None) -> CourseDirectory:
    """The course in a folder, with its configuration or another one."""
    course = CourseDirectory(config=read_config(root) if config is None else config)
    course.root = str(root)
    return course
