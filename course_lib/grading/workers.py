"""Run submissions in several processes: each gives a result, and a process that dies takes none with it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, TypeVar

from .store import Result
from .task import Assignment, mark_submission

TRIES = 2  # with which a submission may end a worker

Name = TypeVar("Name", bound=Hashable)


def results(
    waiting: Mapping[Name, bytes], prepared: Assignment, workers: int
) -> Iterator[tuple[Name, str, Result]]:
    """For each submission, as it is done: its name, and the key and result that `mark_submission` gives.

    One that ends its worker is tried again with what was lost beside it, and then left out.
    """
    left = dict(waiting)
    for _ in range(TRIES):
        if not left:
            return
        # A worker may be killed while it runs a submission, or while it is being started.
        with suppress(BrokenProcessPool, BrokenPipeError), _pool(workers, prepared) as pool:
            futures = {pool.submit(_work, data): name for name, data in left.items()}
            for future in as_completed(futures):
                key, result = future.result()
                del left[futures[future]]
                yield futures[future], key, result


def _pool(workers: int, prepared: Assignment) -> ProcessPoolExecutor:
    context = get_context("forkserver" if os.name == "posix" else "spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(prepared,))


_assignment: Any = None


def _begin(prepared: Assignment) -> None:
    global _assignment
    _assignment = prepared


def _work(data: bytes) -> tuple[str, Result]:
    return mark_submission(data, _assignment)
