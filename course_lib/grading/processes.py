"""Do one thing after another in several processes, where any of them may die: it costs its own thing only."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing import connection, forkserver, get_context
from multiprocessing.connection import Connection
from typing import Any, Self, TypeVar

TRIES = 2  # with which one thing may end its process
MOST = 60  # processes that Windows can wait for

Name = TypeVar("Name", bound=Hashable)
Beginning = Callable[[], AbstractContextManager[Callable[[], object] | None]]


class Failed(Exception):
    """What went wrong with one thing, in words."""


class Processes:
    """So many processes, which end with the `with` statement, at once where that ends early.

    Parameters: modules, what takes long to import: where processes can fork, they fork from one that has
    them; it begins to import now, while this process goes on. beginning, gives for each process what it calls
    first of all; it is left when the process has started.
    """

    def __init__(self, workers: int, modules: Sequence[str], beginning: Beginning = nullcontext) -> None:
        self.workers, self.beginning = min(workers, MOST), beginning
        self._context: Any = get_context("forkserver" if os.name == "posix" else "spawn")
        self._idle: list[tuple[Connection, Any]] = []
        self._busy: dict[Connection, tuple[Hashable, Any]] = {}
        if os.name == "posix":
            self._context.set_forkserver_preload([*modules])
            with _without_current_folder():
                forkserver.ensure_running()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for mine, (_, process) in self._busy.items():
            process.kill()
            mine.close()
        for mine, process in self._idle:
            if kind is not None:  # it may be in its beginning still
                process.kill()
            mine.close()  # which ends it

    def start(self) -> None:
        """Start the processes now, so that they are ready when there is something to do."""
        while len(self._idle) + len(self._busy) < self.workers:
            self._idle.append(self._start())

    def each(self, function: Callable[[Any], Any], things: Mapping[Name, Any]) -> Iterator[tuple[Name, Any]]:
        """Call a function with each of these things.

        Parameters: function, which can be sent to another process, and is sent once to each; things, each of
        which is looked up when its turn has come.
        Yields: a name and what the function returned, or `Failed` where it raised or ended its process, as
        they come.
        """
        waiting, tries = list(reversed(list(things))), Counter[Name]()
        told: set[Connection] = set()

        def hand_out() -> None:
            while waiting and len(self._busy) < self.workers:
                name = waiting.pop()
                thing = things[name]
                mine, process = self._idle.pop() if self._idle else self._start()
                self._busy[mine] = name, process
                with suppress(OSError):  # it died: heard below
                    mine.send((None if mine in told else function, thing))
                told.add(mine)

        hand_out()
        while self._busy:
            for mine in connection.wait(list(self._busy)):
                name, process = self._busy.pop(mine)  # type: ignore[index, assignment]
                try:
                    value = mine.recv()  # type: ignore[union-attr]
                except (EOFError, OSError):
                    tries[name] += 1
                    process.join()
                    if tries[name] < TRIES:
                        waiting.append(name)
                        hand_out()
                        continue
                    value = Failed("it ended the process that worked on it, each time it was tried")
                else:
                    self._idle.append((mine, process))  # type: ignore[arg-type]
                hand_out()  # before the caller is busy with this value: no process is to wait for that
                yield name, value

    def _start(self) -> tuple[Connection, Any]:
        mine, theirs = self._context.Pipe()
        try:
            with theirs, self.beginning() as first:
                process = self._context.Process(target=_work, args=(theirs, first), daemon=True)
                process.start()
        except BaseException:
            mine.close()
            raise
        return mine, process


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Python puts the current folder first where it is started with -c, as here: a copy of the course there
    would be imported in place of the one that is installed, which alone is shown to students' kernels."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def _work(ours: Connection, first: Callable[[], object] | None) -> None:
    """Answer until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    if first is not None:
        first()
    function: Callable[[Any], Any] | None = None
    while True:
        try:
            given, thing = ours.recv()
        except (EOFError, OSError):
            return
        function = given or function
        assert function is not None
        try:
            value = function(thing)
        except Exception as error:
            value = Failed(f"{type(error).__name__}: {error}")
        with suppress(OSError):  # nobody listens any more, which the next look at it tells
            ours.send(value)
