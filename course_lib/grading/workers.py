"""Run submissions in several processes: each gives a result, and a process that dies takes none with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
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
        with (
            suppress(BrokenProcessPool, BrokenPipeError),
            pool(workers, __name__, _begin, prepared) as processes,
        ):
            futures = {processes.submit(_work, data): name for name, data in left.items()}
            for future in as_completed(futures):
                key, result = future.result()
                del left[futures[future]]
                yield futures[future], key, result


def pool(
    workers: int, module: str, begin: Callable[..., None] | None = None, *arguments: Any
) -> ProcessPoolExecutor:
    """Processes that begin with a module imported, once for all where they can fork, and perhaps a call."""
    context = get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload([module])
    return ProcessPoolExecutor(workers, mp_context=context, initializer=begin, initargs=arguments)


_assignment: Any = None


def _begin(prepared: Assignment) -> None:
    global _assignment
    _assignment = prepared


def _work(data: bytes) -> tuple[str, Result]:
    return mark_submission(data, _assignment)
