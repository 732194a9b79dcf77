"""Run submissions in several processes, here or on a cluster: each gives its result, or why there is none."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from course_lib.errors import CourseError

from .processes import Failed, in_processes
from .store import Result
from .task import Assignment, mark_submission

CONNECT_SECONDS = 10

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Outcome(Generic[Name]):
    """What became of one submission: its result and the key of that, or the trouble there was."""

    name: Name
    key: str = ""
    result: Result | None = None
    trouble: str | None = None


def outcomes(waiting: Mapping[Name, bytes], prepared: Assignment, workers: int) -> Iterator[Outcome[Name]]:
    """Run these submissions in processes of this machine; each outcome as it is there."""
    run = partial(mark_submission, assignment=prepared)
    for name, value in in_processes(run, waiting, workers, __name__):
        if isinstance(value, Failed):
            yield Outcome(
                name, trouble=f"it could not be marked ({value}); give the same command to try again"
            )
        else:
            yield Outcome(name, *value)


def outcomes_from_cluster(
    waiting: Mapping[Name, bytes], prepared: Assignment, scheduler: str
) -> Iterator[Outcome[Name]]:
    """The same by the workers of a dask.distributed cluster, which get no secret and no file of the course.

    Parameters: scheduler, its address, such as tcp://192.0.2.7:8786.
    Raises: CourseError when there is none, or dask is not installed.
    """
    try:
        from distributed import Client
        from distributed import as_completed as as_they_come
    except ImportError:
        raise CourseError(
            "--scheduler needs dask: pip install distributed, in the version that the cluster runs"
        ) from None
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise CourseError(f"--scheduler {scheduler}: no cluster answers there ({error})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise CourseError(
                f"--scheduler {scheduler}: the cluster has no workers; start dask worker"
            ) from None
        shared = client.scatter(prepared, broadcast=True)
        futures = {
            client.submit(mark_submission, data, shared, pure=False): name for name, data in waiting.items()
        }
        for future in as_they_come(list(futures)):
            name = futures.pop(future)
            if future.status == "finished":
                yield Outcome(name, *future.result())
            else:
                why = future.exception()
                yield Outcome(
                    name, trouble=f"it could not be marked on the cluster ({type(why).__name__}: {why})"
                )
            future.release()
