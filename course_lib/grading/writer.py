"""Write the marks of one student after another from stored results, as `nbgrader autograde` leaves them."""

from __future__ import annotations

import errno
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties, LimitOutput
from nbgrader.utils import remove, rmtree
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from course_lib.errors import CourseError, disk_is_full
from course_lib.project import MARKER

from .class_record import Done, Submission, marked_path
from .course import course_directory, read_config
from .files import write_whole
from .gradebook import AssignmentGradebook, unusable
from .handed_in import open_submission
from .marked import made_whole, marks_of, refusal, sign
from .source import Source
from .store import Store, key_of
from .timestamp import handed_in_at, keep_timestamp

# What this module does itself, in this order; a configuration that lists anything else is nbgrader's to carry
# out.
SANITIZE = ["ClearOutput", "Sanitise", "CheckCellMetadata"]
AUTOGRADE = ["CollectAndJudge", "LimitOutput", "SaveMarks", "AssignLatePenalties", "CheckCellMetadata"]
NO_RESULT = "its result is gone; give the same command to try again"


class Writer:
    """The one process that writes to the gradebook and to autograded/.

    Raises: CourseError where the gradebook lacks the assignment, or the configuration lists other plug-ins
    than the course's.
    """

    def __init__(self, root: Path, assignment: str, *, sandboxed: bool) -> None:
        config = read_config(root)
        _expect_our_plugins(config)
        self.root, self.assignment, self.sandboxed = root, assignment, sandboxed
        course = course_directory(root, config)
        self._nbgrader = Autograde(coursedir=course, config=config)
        self._limit, self._late = LimitOutput(config=config), AssignLatePenalties(config=config)
        self._late.init_plugin()
        self._gradebook = AssignmentGradebook(course.db_url, course.course_id, assignment)
        self.cells = self._gradebook.cells

    def write(self, submission: Submission, source: Source, store: Store, trouble: str | None = None) -> Done:
        """Write one student's marks.

        Parameters: trouble, why there is no result in the store, unless the file itself says why.
        Returns: the points in the gradebook, or why there are none. Raises: OSError where the disk is full.
        """
        try:
            return self._write(submission, source, store, trouble or NO_RESULT)
        except SQLAlchemyError as error:
            said = f"{unusable(error)}; mark it again"
            if "disk is full" in said:  # as SQLite says it
                raise OSError(errno.ENOSPC, said) from None
        except OSError as error:
            if disk_is_full(error):  # for all others, too
                raise
            said = f"its marked copy cannot be written ({error.filename}: {error.strerror}); mark it again"
        except Exception as error:  # one submission stops no other
            said = f"it could not be marked ({type(error).__name__}: {error}); the others are"
        return Done(submission.student, trouble=said)

    def _write(self, submission: Submission, source: Source, store: Store, trouble: str) -> Done:
        handed_in = open_submission(submission.path, submission.noticed)
        notebook = made_whole(handed_in, self.cells, source.follows, self._gradebook.kernelspec)
        verdicts = refusal(notebook, source)
        if not verdicts:
            result = store.get(key_of(notebook, source.tests, store.version))
            if result is None:
                return Done(submission.student, trouble=trouble)
            verdicts = result.write_into(notebook)
        sign(notebook, source.secret, sandboxed=self.sandboxed)
        notebook, _ = self._limit.preprocess(notebook, {})
        marks, text = marks_of(notebook, verdicts.values()), nbformat.writes(notebook, version=4)
        saved = self._gradebook.save(
            submission.student,
            marks,
            timestamp=handed_in_at(submission.folder),
            penalty=self._late.plugin_inst.late_submission_penalty,
        )
        self._keep(submission, f"{text}\n")
        return Done(
            submission.student,
            saved.points,
            saved.max_points,
            taken_off=saved.taken_off,
            note=handed_in.unreadable,
            noticed=submission.said,
            scores=marks.scores,
        )

    def close(self) -> None:
        """Give the gradebook up."""
        self._gradebook.close()

    def _keep(self, submission: Submission, text: str) -> None:
        """Put the marked notebook, and the time of the submission, where formgrader looks for them."""
        marked = marked_path(self.root, submission.student, self.assignment)
        write_whole(marked, text)
        for path in marked.parent.iterdir():
            if path != marked:  # of an earlier marking
                (rmtree if path.is_dir() and not path.is_symlink() else remove)(str(path))
        keep_timestamp(submission.folder, marked.parent)
        self._nbgrader.set_permissions(self.assignment, submission.student)


def _expect_our_plugins(config: Config) -> None:
    for name, ours in {"sanitize_preprocessors": SANITIZE, "autograde_preprocessors": AUTOGRADE}.items():
        listed = [str(each).rsplit(".", 1)[-1] for each in config.Autograde.get(name, [])]
        if listed != ours:
            raise CourseError(
                f"{MARKER} lists other plug-ins in c.Autograde.{name} than the course's own; "
                "use nbgrader autograde, which runs them"
            )
