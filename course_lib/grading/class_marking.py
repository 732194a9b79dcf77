"""Mark all submissions of an assignment: kernels in several processes, one writer for the gradebook.

Workers turn submissions into results, which are kept by content (`store`). This process then writes each
student's marks, and the gradebook and the folder autograded/ are as `nbgrader autograde` leaves them. What is
recorded as done, and did not change since, is left alone, and nbgrader is not even imported for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_lib.errors import CourseError

from .class_record import FOLDER, ClassRecord, Done, Submission, marked_path, submissions
from .course import judging_settings
from .preloaded import preloaded_for
from .recorded import recorded
from .sandbox import needs_sandbox
from .secret import NAME, OTHER_SECRET, read_or_make, record_use
from .version import assignment_version

if TYPE_CHECKING:
    from .source import Source
    from .store import Store
    from .task import Assignment
    from .workers import Cluster, Local


def mark_class(
    root: Path,
    assignment: str,
    *,
    students: str = "*",
    workers: int = 1,
    scheduler: str | None = None,
    sandboxed: bool = True,
    begin: Callable[[int], None] = lambda count: None,
    tell: Callable[[Done], None] = lambda done: None,
) -> list[Done]:
    """Mark every submission that is not marked yet, in its present form.

    Parameters: root, the course's folder; students, a pattern of their names; workers, processes that run
    kernels; scheduler, the address of a dask cluster that runs them instead; sandboxed, False to run them
    with the marker's own rights; begin, called with the number of submissions; tell, called for each student
    as the marks are written.
    Returns: what became of each submission, by student.
    """
    solution = root / "solutions" / assignment / f"{assignment}.ipynb"
    if not solution.is_file():
        raise CourseError(f"{solution}: no such solution notebook; marking needs it")
    secret = read_or_make(root / NAME)
    settings = judging_settings(root)
    version = assignment_version(solution, secret, sandboxed=sandboxed, settings=settings)
    record, now = ClassRecord.of(root, assignment), recorded(root, assignment)
    version += now.cells
    results: dict[str, Done] = {}
    waiting: list[Submission] = []
    found = submissions(root, assignment, students)
    begin(len(found))
    for each in found:
        known = record.get(each, version, marked_path(root, each.student, assignment), now)
        if known is None:
            waiting.append(each)
        else:
            results[each.student] = known
            tell(known)
    if waiting:
        from .workers import Cluster, Local

        count, here = min(workers, len(waiting)), scheduler is None
        machine = (
            Local(count, preloaded_for(solution), sandboxed=sandboxed) if here else Cluster(str(scheduler))
        )
        with machine:  # which gets ready while this process imports the rest
            from .source import Source
            from .store import Store

            if here:
                needs_sandbox("--unsandboxed", not sandboxed)
            if record_use(root / NAME, secret):
                logging.getLogger("course.mark").warning("%s", OTHER_SECRET)
            source = Source(solution, secret)
            store = Store(root / FOLDER / assignment, version)
            marked = _mark(waiting, source, store, root, machine, sandboxed=sandboxed, settings=settings)
            for each, done in marked:
                if done.trouble is None:
                    record.put(each, version, marked_path(root, each.student, assignment), done)
                results[each.student] = done
                tell(done)
        if len(found) == len(results) and students == "*":
            store.forget_other_versions()
    return [results[student] for student in sorted(results)]


def _mark(
    waiting: Sequence[Submission],
    source: Source,
    store: Store,
    root: Path,
    machine: Local | Cluster,
    *,
    sandboxed: bool,
    settings: Mapping[str, Any],
) -> Iterator[tuple[Submission, Done]]:
    """Mark these submissions, each as soon as its result is there."""
    from .task import prepare
    from .writer import Writer

    with closing(Writer(root, source.name, sandboxed=sandboxed)) as writer:
        make = partial(
            prepare,
            solution=source.path.resolve(),
            secret=source.secret,
            version=store.version,
            sandboxed=sandboxed,
            settings=settings,
        )
        prepared = machine.prepare(make, writer.cells)
        for submission, trouble in _computed(prepared, waiting, store, machine):
            yield submission, writer.write(submission, source, store, trouble)


def _computed(
    prepared: Assignment, waiting: Sequence[Submission], store: Store, machine: Local | Cluster
) -> Iterator[tuple[Submission, str | None]]:
    """Each submission once its result is in the store, or with the trouble that there was."""
    anew = store.is_empty
    runs = [each for each in waiting if each.path and (anew or _has_to_run(each, prepared, store))]
    running = set(runs)
    yield from [(each, None) for each in waiting if each not in running]
    for outcome in machine.run(_Files(runs), prepared):
        if outcome.result is not None:
            store.put(outcome.key, outcome.result)
        yield outcome.name, outcome.trouble


class _Files(Mapping[Submission, bytes]):
    """What these submissions hold, read when it is looked at: a large class does not fit into memory."""

    def __init__(self, submissions: Sequence[Submission]) -> None:
        self._all = submissions

    def __getitem__(self, submission: Submission) -> bytes:
        return submission.data() or b""

    def __iter__(self) -> Iterator[Submission]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _has_to_run(submission: Submission, prepared: Assignment, store: Store) -> bool:
    """Whether a worker has to run it: there is no result, and a file that can be read."""
    from .task import key_of_submission

    with suppress(Exception):  # it is no notebook, or an odd one; the writer says what is wrong with it
        return store.get(key_of_submission(submission.data() or b"", prepared)) is None
    return False
