"""Run submissions in several processes, here or on a cluster: each gives its result, or why there is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from course_lib.errors import CourseError

from .processes import MOST, Failed, Processes
from .warm import WarmParent, fork_at

if TYPE_CHECKING:
    from .sanitise import SourceCell
    from .store import Result
    from .task import Assignment

CONNECT_SECONDS = 10
FORKS_FOR = 4  # processes that one warm parent forks for: a fork takes it a tenth of what a submission takes
AHEAD = 4  # submissions for each thread of a cluster that it has been sent, and no more: they fill its memory

Name = TypeVar("Name", bound=Hashable)
Make = Callable[["Sequence[SourceCell]"], "Assignment"]


@dataclass(frozen=True)
class Outcome(Generic[Name]):
    """What became of one submission: its result and the key of that, or the trouble there was."""

    name: Name
    key: str = ""
    result: Result | None = None
    trouble: str | None = None


class Local(Processes):
    """Processes of this machine, with lines to warm parents for their kernels.

    Parameters: modules, those that kernels of submissions find imported: they are imported once for the
    kernels of every four processes, beside what this process does meanwhile.
    """

    def __init__(self, workers: int, modules: Sequence[str], *, sandboxed: bool) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"  # of threads only one survives a fork
        self._imports, self._modules = tuple(modules), ["course_lib.grading.task"]
        self._parents: list[WarmParent] = []
        if sandboxed and modules and sys.platform == "linux":
            with suppress(OSError):  # a process without a parent tries to start one, and says why it cannot
                for _ in range(0, min(workers, MOST), FORKS_FOR):
                    self._parents.append(WarmParent(modules))
        super().__init__(workers, self._modules, self._with_line if self._parents else nullcontext)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        for parent in self._parents:
            parent.close()

    @contextmanager
    def _with_line(self) -> Iterator[Callable[[], object]]:
        """For each process that starts a line to a parent: they take turns."""
        parent = self._parents.pop(0)
        if not parent.alive:
            parent.close()
            with suppress(OSError):  # the line of the one that ended will tell
                parent = WarmParent(self._imports)
        self._parents.append(parent)
        line = parent.line()
        with line.control:
            yield partial(fork_at, line, self._imports)

    def prepare(self, make: Make, cells: Sequence[SourceCell]) -> Assignment:
        """Let the processes get ready and, beside them, one more make the assignment."""
        self.start()
        with Processes(1, self._modules, self.beginning) as one:
            ((_, prepared),) = one.each(make, {"": cells})
        return make(cells) if isinstance(prepared, Failed) else prepared  # here it raises what is wrong

    def run(self, waiting: Mapping[Name, bytes], prepared: Assignment) -> Iterator[Outcome[Name]]:
        """Run these submissions; each outcome as it is there."""
        # Here, as it imports what runs kernels: the warm parents do not wait for that.
        from .task import mark_submission

        mark = partial(mark_submission, assignment=prepared)
        for name, value in self.each(mark, waiting):
            if isinstance(value, Failed):
                yield Outcome(
                    name, trouble=f"it could not be marked ({value}); give the same command to try again"
                )
            else:
                yield Outcome(name, *value)


class Cluster:
    """The workers of a dask.distributed cluster, which get no secret and no file of the course.

    Parameters: scheduler, its address, such as tcp://192.0.2.7:8786.
    """

    def __init__(self, scheduler: str) -> None:
        self.scheduler = scheduler

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def prepare(self, make: Make, cells: Sequence[SourceCell]) -> Assignment:
        """Make the assignment here, where the secret is."""
        return make(cells)

    def run(self, waiting: Mapping[Name, bytes], prepared: Assignment) -> Iterator[Outcome[Name]]:
        """Run these submissions; each outcome as it is there.

        Raises: CourseError when no cluster answers, or dask is not installed.
        """
        try:
            from distributed import Client
            from distributed import as_completed as as_they_come
        except ImportError:
            raise CourseError(
                "--scheduler needs dask: pip install distributed, in the version that the cluster runs"
            ) from None
        try:
            client = Client(self.scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise CourseError(f"--scheduler {self.scheduler}: no cluster answers there ({error})") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            except TimeoutError:
                raise CourseError(
                    f"--scheduler {self.scheduler}: the cluster has no workers; start dask worker"
                ) from None
            shared = client.scatter(prepared, broadcast=True)
            names = iter(waiting)
            most = AHEAD * sum(client.nthreads().values())
            futures = {self._send(client, waiting[name], shared): name for name in islice(names, most)}
            coming = as_they_come(list(futures))
            for future in coming:
                name = futures.pop(future)
                if future.status == "finished":
                    yield Outcome(name, *future.result())
                else:
                    why = future.exception()
                    yield Outcome(
                        name, trouble=f"it could not be marked on the cluster ({type(why).__name__}: {why})"
                    )
                future.release()
                for following in islice(names, 1):
                    added = self._send(client, waiting[following], shared)
                    futures[added] = following
                    coming.add(added)

    @staticmethod
    def _send(client: Any, data: bytes, shared: Any) -> Any:
        from .task import mark_submission

        return client.submit(mark_submission, data, shared, pure=False)
