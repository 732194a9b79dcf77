"""Run submissions in several processes: each gives a result, and a process that dies takes none with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, TypeVar

from course_lib.errors import CourseError

from .store import Result
from .task import Assignment, mark_submission

CONNECT_SECONDS = 10
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


def results_from_cluster(
    waiting: Mapping[Name, bytes], prepared: Assignment, scheduler: str
) -> Iterator[tuple[Name, str, Result]]:
    """The same, run by the workers of a dask.distributed cluster, which know no secret and no other file.

    Parameters: scheduler, its address, such as tcp://192.0.2.7:8786.
    Raises: CourseError when there is none, or dask is not installed.
    """
    try:
        from distributed import Client
        from distributed import as_completed as as_they_come
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise CourseError(
            "--scheduler needs dask: pip install distributed, in the version that the cluster runs"
        ) from None
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise CourseError(f"--scheduler {scheduler}: no cluster answers there ({error})") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise CourseError(f"--scheduler {scheduler}: the cluster has no workers; start dask worker")
        shared = client.scatter(prepared, broadcast=True)
        futures = {
            client.submit(mark_submission, data, shared, pure=False): name for name, data in waiting.items()
        }
        for future in as_they_come(futures):
            with suppress(KilledWorker):  # it ended several workers
                key, result = future.result()
                yield futures[future], key, result
            future.release()


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
