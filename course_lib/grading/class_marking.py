"""Mark all submissions of an assignment: kernels in several processes, one writer for the gradebook.

Workers turn submissions into results, which are kept by content (`store`). This process then lets nbgrader's
own converter write each student's marks, with the results taken from the store; so the gradebook and the
folder autograded/ are as `nbgrader autograde` leaves them. What is recorded as done, and did not change
since, is left alone, and nbgrader is not even imported for it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.project import MARKER

from .finding import find_notebook
from .sandbox import needs_sandbox
from .secret import NAME, read_or_make
from .store import FOLDER, Store, assignment_version, write_whole
from .submission import read_bytes

TRIES = 2  # with which a submission may end a worker


@dataclass(frozen=True)
class Submission:
    """What a student handed in: the file that counts, if there is one, and what tells it from another."""

    student: str
    path: Path | None
    digest: str

    def data(self) -> bytes | None:
        """The bytes of the file, or None where it is none that a worker can take."""
        if self.path is None:
            return None
        try:
            return read_bytes(self.path)
        except CourseError:  # the writer says what is wrong with it
            return None


@dataclass(frozen=True)
class Done:
    """What happened to one student's submission: points out of how many, or why it could not be marked.

    note: why it could not be read, where that is why it has no points. again: it had been marked before.
    """

    student: str
    points: float | None = None
    max_points: float | None = None
    trouble: str | None = None
    again: bool = False
    note: str | None = None


class ClassRecord:
    """Which submissions have been marked in which version; a file beside the results."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._entries: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._entries = {}

    def get(self, submission: Submission, version: str, marked: Path) -> Done | None:
        """The marks of a submission that need no work; None where anything changed or is gone."""
        entry = self._entries.get(submission.student)
        if entry is None or entry["version"] != version or entry["submitted"] != submission.digest:
            return None
        if not marked.is_file() or entry["marked"] != digest_of(marked):
            return None
        return Done(submission.student, entry["points"], entry["max_points"], again=True, note=entry["note"])

    def put(self, submission: Submission, version: str, marked: Path, done: Done) -> None:
        """Remember a submission's marks; the file is whole at any moment."""
        self._entries[submission.student] = {
            "version": version,
            "submitted": submission.digest,
            "marked": digest_of(marked),
            "points": done.points,
            "max_points": done.max_points,
            "note": done.note,
        }
        write_whole(self.path, json.dumps(self._entries))


def digest_of(path: Path) -> str:
    """What tells one file's contents from another's."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def submissions(root: Path, assignment: str, students: str) -> list[Submission]:
    """What has been handed in, by student. Raises: CourseError when that is nothing."""
    folders = sorted(path for path in (root / "submitted").glob(f"*/{assignment}"))
    config = (root / MARKER).read_bytes()  # which may say what lateness costs
    found = [_submission(each, assignment, config) for each in folders if fnmatch(each.parent.name, students)]
    if not found:
        raise CourseError(f"no folder submitted/{students}/{assignment}; collect submissions first")
    return found


def _submission(folder: Path, assignment: str, config: bytes) -> Submission:
    path, noticed = find_notebook(folder, assignment)
    made = Submission(folder.parent.name, path, "")
    timestamp = folder / "timestamp.txt"
    told = [*noticed, timestamp.read_text(encoding="utf-8", errors="replace") if timestamp.is_file() else ""]
    digest = hashlib.sha256(json.dumps(told).encode() + config + (made.data() or b""))
    return replace(made, digest=digest.hexdigest())


def mark_class(
    root: Path,
    assignment: str,
    *,
    students: str = "*",
    workers: int = 1,
    sandboxed: bool = True,
    begin: Callable[[int], None] = lambda count: None,
    tell: Callable[[Done], None] = lambda done: None,
) -> list[Done]:
    """Mark every submission that is not marked yet, in its present form.

    Parameters: root, the course's folder; students, a pattern of their names; workers, processes that run
    kernels; sandboxed, False to run them with the marker's own rights; begin, called with the number of
    submissions; tell, called for each student as the marks are written.
    Returns: what became of each submission, by student.
    """
    solution = root / "solutions" / assignment / f"{assignment}.ipynb"
    if not solution.is_file():
        raise CourseError(f"{solution}: no such solution notebook; marking needs it")
    secret = read_or_make(root / NAME)
    version = assignment_version(solution, secret, sandboxed=sandboxed)
    record = ClassRecord(root / FOLDER / f"{assignment}.json")
    results: dict[str, Done] = {}
    waiting: list[Submission] = []
    found = submissions(root, assignment, students)
    begin(len(found))
    for each in found:
        known = record.get(each, version, _marked(root, each, assignment))
        if known is None:
            waiting.append(each)
        else:
            results[each.student] = known
            tell(known)
    if waiting:
        from .writer import Writer

        needs_sandbox("--unsandboxed", not sandboxed)
        store = Store(root / FOLDER / assignment)
        writer = Writer(root, assignment, store, version, sandboxed=sandboxed)
        for submission in _computed(solution, secret, version, waiting, store, workers, sandboxed):
            done = writer.write(submission)
            if done.trouble is None:
                record.put(submission, version, _marked(root, submission, assignment), done)
            results[submission.student] = done
            tell(done)
    return [results[student] for student in sorted(results)]


def _marked(root: Path, submission: Submission, assignment: str) -> Path:
    return root / "autograded" / submission.student / assignment / f"{assignment}.ipynb"


def _computed(
    solution: Path,
    secret: str,
    version: str,
    waiting: list[Submission],
    store: Store,
    workers: int,
    sandboxed: bool,
) -> Iterator[Submission]:
    """Each submission once its result is in the store, or once it is clear that there will be none."""
    from .source import Source
    from .task import Assignment

    prepared = Assignment.of(Source(solution, secret), version, sandboxed=sandboxed)
    left = {each: data for each in waiting if (data := _to_run(each, prepared, store)) is not None}
    yield from [each for each in waiting if each not in left]
    for _ in range(TRIES):
        if not left:
            return
        # A worker may be killed while it runs a submission, or while it is being started.
        with suppress(BrokenProcessPool, BrokenPipeError), _pool(workers, prepared) as pool:
            futures = {pool.submit(_work, data): each for each, data in left.items()}
            for future in as_completed(futures):
                store.put(*future.result())
                del left[futures[future]]
                yield futures[future]
    yield from left  # what has ended two workers: the writer tries, and says why it cannot


def _to_run(submission: Submission, prepared: Any, store: Store) -> bytes | None:
    """What a worker has to run; None where there is a result, or nothing that could be run."""
    from .task import key_of_submission

    data = submission.data()
    with suppress(CourseError):  # it is no notebook; the writer says what is wrong with it
        if data is not None and store.get(key_of_submission(data, prepared)) is None:
            return data
    return None


def _pool(workers: int, prepared: Any) -> ProcessPoolExecutor:
    context = get_context("forkserver" if os.name == "posix" else "spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(prepared,))


_assignment: Any = None


def _begin(prepared: Any) -> None:
    global _assignment
    _assignment = prepared


def _work(data: bytes) -> tuple[str, Any]:
    from .task import mark_submission

    return mark_submission(data, _assignment)
