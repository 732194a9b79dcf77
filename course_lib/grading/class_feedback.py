"""Feedback pages for a class: nbgrader's own, made in several processes, and only those that changed.

A page is made again when the marked notebook, what the gradebook says of it, or the code that makes pages has
changed, and when the page is gone or was changed itself.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException

from course_lib.errors import CourseError
from course_lib.project import MARKER

from .class_record import FOLDER, digest_of, marked_path
from .course import course_directory, read_config
from .files import write_whole
from .gradebook import AssignmentGradebook
from .processes import Failed, Processes
from .version import code_version

PAGE_LIBRARIES = (
    *("nbgrader", "nbconvert", "beautifulsoup4"),
    *("jinja2", "latex2mathml", "mistune", "pygments"),
)
TOGETHER = 8  # pages that a process makes before it says so
SECONDS = 1.0  # after which the record is written again: a command that is killed forgets the pages since


@dataclass(frozen=True)
class Page:
    """What became of one student's page. again: there was nothing to do. trouble: why there is none."""

    student: str
    again: bool = False
    trouble: str | None = None


def make_pages(
    root: Path,
    assignment: str,
    *,
    students: str = "*",
    workers: int = 1,
    begin: Callable[[int], None] = lambda count: None,
    tell: Callable[[Page], None] = lambda page: None,
) -> list[Page]:
    """Make the feedback page of every student who has been marked, where it is not as it should be.

    Parameters: as for `mark_class`. Returns: what became of each page, by student.
    """
    marked = {
        path.parents[1].name: path
        for path in sorted((root / "autograded").glob(f"*/{assignment}/{assignment}.ipynb"))
        if fnmatch(path.parents[1].name, students)
    }
    if not marked:
        raise CourseError(f"nobody is marked in autograded/{students}/{assignment}; first course mark it")
    begin(len(marked))
    record = root / FOLDER / f"{assignment}.feedback.json"
    known = _read(record)
    wanted = _digests(root, assignment, marked)
    pages: dict[str, Page] = {}
    waiting: list[str] = []
    for student in marked:
        page = page_path(root, student, assignment)
        if page.is_file() and known.get(student) == [wanted[student], digest_of(page)]:
            pages[student] = Page(student, again=True)
            tell(pages[student])
        else:
            waiting.append(student)
    written = time.monotonic()
    try:
        for page in _made(root, assignment, waiting, workers):
            pages[page.student] = page
            if page.trouble is None:
                made = digest_of(page_path(root, page.student, assignment))
                known[page.student] = [wanted[page.student], made]
            if time.monotonic() > written + SECONDS:
                write_whole(record, json.dumps(known))
                written = time.monotonic()
            tell(page)
    finally:
        if waiting:
            write_whole(record, json.dumps(known))
    return [pages[student] for student in sorted(pages)]


def page_path(root: Path, student: str, assignment: str) -> Path:
    """Where nbgrader looks for a student's page when it returns feedback."""
    return root / "feedback" / student / assignment / f"{assignment}.html"


def _read(record: Path) -> dict[str, list[str]]:
    try:
        return dict(json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _digests(root: Path, assignment: str, marked: dict[str, Path]) -> dict[str, str]:
    """What each student's page is made from, as a digest."""
    course = course_directory(root)
    with AssignmentGradebook(course.db_url, course.course_id, assignment) as gradebook:
        given = gradebook.given()
    version = f"{code_version(('grading',), PAGE_LIBRARIES)} {digest_of(root / MARKER)}"
    return {
        student: hashlib.sha256(
            f"{version}\n{digest_of(path)}\n{json.dumps(given.get(student))}".encode()
        ).hexdigest()
        for student, path in marked.items()
    }


def _made(root: Path, assignment: str, waiting: Sequence[str], workers: int) -> Iterator[Page]:
    chunks = {start: waiting[start : start + TOGETHER] for start in range(0, len(waiting), TOGETHER)}
    make = partial(_make, root.resolve(), assignment)
    with Processes(workers, [__name__]) as processes:
        for start, made in processes.each(make, chunks):
            if isinstance(made, Failed):
                said = f"its page could not be made ({made})"
                yield from (Page(each, trouble=said) for each in chunks[start])
            else:
                yield from made


def _make(root: Path, assignment: str, students: Sequence[str]) -> list[Page]:
    """Let nbgrader make the pages of these students."""
    log = logging.getLogger("course.nbgrader")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    config = read_config(root)
    converter = _Chosen(coursedir=course_directory(root, config), config=config, log=log, force=True)
    marked = [marked_path(root, student, assignment) for student in students]
    before = {student: _written(page_path(root, student, assignment)) for student in students}
    converter.chosen = {str(path.parent): [str(path)] for path in marked}
    with suppress(NbGraderException):  # after all others are made, when one could not be
        converter.start()
    why = f"nbgrader could not make its page; nbgrader generate_feedback {assignment} --force --student="
    made = {
        each for each in students if _written(page_path(root, each, assignment)) not in (None, before[each])
    }
    return [Page(each, trouble=None if each in made else f"{why}{each} says why") for each in students]


def _written(page: Path) -> tuple[int, int] | None:
    """What tells a page from the one that was there before it."""
    return (page.stat().st_mtime_ns, page.stat().st_ino) if page.is_file() else None


class _Chosen(GenerateFeedback):
    """GenerateFeedback of these students only."""

    chosen: dict[str, list[str]]

    def init_notebooks(self) -> None:
        """List the submissions, as nbgrader's own does by a pattern."""
        self.assignments, self.notebooks = dict(self.chosen), []
