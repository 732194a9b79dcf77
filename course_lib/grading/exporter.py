"""How `nbgrader autograde` reads submissions here: every folder, every file, and one line for what is wrong.

nbgrader lets its configuration name the exporter that reads notebooks (`c.Autograde.exporter_class`), and
makes it after it has listed the submissions and before it marks the first. So this is where a submission that
nbgrader would trip over is given a form that it can take, without touching what the student handed in.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import find_all_files, rmtree

from course_lib.errors import CourseError

from .finding import find_notebook
from .gradebook import AssignmentGradebook
from .handed_in import open_submission
from .submission import MAX_BYTES


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
        pattern = course.format_path(course.submitted_directory, course.student_id, course.assignment_id)
        root = Path(course.root)
        for folder in sorted(root.glob(str(Path(pattern).relative_to(root)))):
            self._list(converter, folder)

    def _list(self, converter: Autograde, folder: Path) -> None:
        course, name = converter.coursedir, converter.coursedir.assignment_id
        converter.assignments.pop(str(folder), None)
        odd = [path for path in find_all_files(str(folder), [*course.ignore, "*.ipynb"]) if not _plain(path)]
        if odd:  # nbgrader would copy it
            self.log.error("%s: not marked, since this is no ordinary file; take it away", odd[0])
            return
        wanted = str(folder / f"{name}.ipynb")
        self.found[wanted] = find_notebook(folder, name)
        converter.assignments[str(folder)] = [wanted]
        done = Path(course.format_path(course.autograded_directory, folder.parent.name, name))
        if done.exists() and not _complete(done / f"{name}.ipynb"):
            self.log.warning("%s: marking was broken off; it is done again", done)
            rmtree(str(done))


def _plain(path: str) -> bool:
    """Whether it is an ordinary file of moderate size."""
    found = os.lstat(path)
    return stat.S_ISREG(found.st_mode) and found.st_size < MAX_BYTES


def _complete(path: Path) -> bool:
    """Whether a marked notebook was written to its end, which comes after its marks are in the gradebook."""
    try:
        return "secret" in json.loads(path.read_text(encoding="utf-8"))["metadata"]["course"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
