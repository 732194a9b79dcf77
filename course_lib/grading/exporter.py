"""How `nbgrader autograde` reads submissions here: every folder, every file, and one line for what is wrong.

nbgrader lets its configuration name the exporter that reads notebooks (`c.Autograde.exporter_class`), and
makes it after it has listed the submissions and before it marks the first. So this is where a submission that
nbgrader would trip over is given a form that it can take, without touching what the student handed in.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import rmtree

from course_lib.errors import CourseError

from .finding import find_notebook
from .gradebook import AssignmentGradebook
from .handed_in import open_submission
from .timestamp import NAME as TIMESTAMP
from .timestamp import handed_in_at, keep_timestamp, read_timestamp


class SubmissionExporter(NotebookExporter):
    """Reads submissions for Autograde; whatever lies in a student's folder, a notebook comes out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.found: dict[str, tuple[Path | None, list[str]]] = {}
        if isinstance(self.parent, Autograde):
            try:
                self._prepare(self.parent)
            except CourseError as error:
                self.log.error("%s", error)
                raise NbGraderException(str(error)) from None

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """The notebook of a submission; an empty one, with the reason in `resources`, where there is none."""
        if filename not in self.found:
            return super().from_filename(filename, resources, **kwargs)
        path, noticed = self.found[filename]
        handed_in = open_submission(path, noticed)
        if handed_in.unreadable:
            self.log.error("%s: %s", filename, handed_in.unreadable)
        course, student = self.parent.coursedir, resources["nbgrader"]["student"]
        marked = course.format_path(course.autograded_directory, student, course.assignment_id)
        keep_timestamp(Path(filename).parent, Path(marked))
        resources["metadata"] = {"name": Path(filename).stem, "path": str(Path(filename).parent)}
        resources["submission"] = {"noticed": handed_in.noticed, "unreadable": handed_in.unreadable}
        return self.from_notebook_node(handed_in.notebook, resources, **kwargs)

    def _prepare(self, converter: Autograde) -> None:
        """Check once what every submission needs, and list the submissions as nbgrader can take them."""
        from .plugins import CollectAndJudge

        course = converter.coursedir
        CollectAndJudge(parent=converter).check(course.assignment_id, Path(course.root))
        AssignmentGradebook(course.db_url, course.course_id, course.assignment_id).close()
        if course.notebook_id != "*":
            return
        converter.coursedir = PlainTimes(**{**course.trait_values(config=True), "ignore": ["*"]})
        pattern = course.format_path(course.submitted_directory, course.student_id, course.assignment_id)
        root = Path(course.root)
        for folder in sorted(root.glob(str(Path(pattern).relative_to(root)))):
            self._list(converter, folder)

    def _list(self, converter: Autograde, folder: Path) -> None:
        course, name = converter.coursedir, converter.coursedir.assignment_id
        wanted = str(folder / f"{name}.ipynb")
        self.found[wanted] = find_notebook(folder, name)
        converter.assignments[str(folder)] = [wanted]
        done = Path(course.format_path(course.autograded_directory, folder.parent.name, name))
        if done.exists() and not _complete(done / f"{name}.ipynb"):
            self.log.warning("%s: marking was broken off; it is done again", done)
            rmtree(str(done))


class PlainTimes(CourseDirectory):
    """The course's folders for one marking. With it nbgrader copies nothing from a student's folder, where it
    would follow links and wait for pipes, and a time that is none does not stop the class."""

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        """When a submission was handed in; None where that is not known."""
        time = handed_in_at(Path(dest_path))
        if time is None and read_timestamp(Path(dest_path)):
            self.log.warning("%s: not a time", Path(dest_path, TIMESTAMP))
        return time


def _complete(path: Path) -> bool:
    """Whether a marked notebook was written to its end, which comes after its marks are in the gradebook."""
    try:
        return "secret" in json.loads(path.read_text(encoding="utf-8"))["metadata"]["course"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
