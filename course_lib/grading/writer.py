"""Write the marks of one student after another as nbgrader does, with results that are there already."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import SQLAlchemyError

from course_lib.errors import CourseError

from .class_marking import Done, Submission
from .course import course_directory, read_config
from .store import Store


class ListedByExporter(Autograde):
    """Autograde whose submissions our exporter lists: nbgrader's stops where there is no notebook."""

    def init_notebooks(self) -> None:
        """Begin with an empty list."""
        self.assignments, self.notebooks = {}, []


class Writer:
    """The one process that writes to the gradebook and to autograded/."""

    def __init__(self, root: Path, assignment: str, store: Store, version: str, *, sandboxed: bool) -> None:
        self.root, self.assignment = root, assignment
        config = read_config(root)
        config.CollectAndJudge.results_directory = str(store.folder)
        config.CollectAndJudge.results_version = version
        config.CollectAndJudge.unsandboxed = not sandboxed
        self.config = config
        self.log = logging.getLogger("course.nbgrader")
        self.log.addHandler(logging.NullHandler())
        self.log.propagate = False

    def write(self, submission: Submission) -> Done:
        """Mark one student's submission. Returns: the points in the gradebook, or why there are none."""
        heard = _LastWords()
        self.log.addHandler(heard)
        try:
            self._autograde(submission.student)
            return self._done(submission.student)
        except SQLAlchemyError as error:
            why = getattr(error, "orig", None) or type(error).__name__
            return Done(submission.student, trouble=f"the gradebook cannot be used ({why}); mark it again")
        except (NbGraderException, CourseError, OSError, MissingEntry) as error:
            return Done(submission.student, trouble=heard.said or str(error))
        finally:
            self.log.removeHandler(heard)

    def _autograde(self, student: str) -> None:
        course = course_directory(self.root, self.config)
        course.assignment_id, course.student_id = self.assignment, student
        converter = ListedByExporter(coursedir=course, config=self.config, log=self.log, force=True)
        before = os.getcwd()
        os.chdir(self.root)
        try:
            converter.start()
        finally:
            os.chdir(before)

    def _done(self, student: str) -> Done:
        course = course_directory(self.root, self.config)
        with Gradebook(course.db_url, course.course_id) as gradebook:
            submission: Any = gradebook.find_submission(self.assignment, student)
            return Done(student, submission.score, submission.max_score, note=self._note(student))

    def _note(self, student: str) -> str | None:
        """Why a submission could not be read, as its marked notebook says."""
        marked = self.root / "autograded" / student / self.assignment / f"{self.assignment}.ipynb"
        notes = json.loads(marked.read_text(encoding="utf-8"))["metadata"].get("course", {})
        return notes.get("unreadable")


class _LastWords(logging.Handler):
    """The last error that nbgrader logged: its exceptions say little."""

    said: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first line of an error."""
        if record.levelno >= logging.ERROR:
            self.said = record.getMessage().strip().splitlines()[-1]
