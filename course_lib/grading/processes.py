"""Do one thing after another in several processes, where any of them may die: it costs its own thing only."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

TRIES = 2  # with which one thing may end its process
MOST = 60  # processes that Windows can wait for

Name = TypeVar("Name", bound=Hashable)


class Failed(Exception):
    """What went wrong with one thing, in words."""


def in_processes(
    function: Callable[[Any], Any], things: Mapping[Name, Any], workers: int, module: str
) -> Iterator[tuple[Name, Any]]:
    """Call a function with each of these things, in so many processes.

    Parameters: function, which can be sent to another process; module, what takes long to import: where
    processes can fork, they fork from one that has it.
    Yields: a name and what the function returned, or `Failed` where it raised or ended its process, as they
    come. Processes that are not needed any more are ended, at once when the caller stops early.
    """
    context: Any = get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload([module])
    waiting, tries = dict(reversed(things.items())), Counter[Name]()
    idle: list[tuple[Connection, Any]] = []
    busy: dict[Connection, tuple[Name, Any]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < min(workers, MOST):
                mine, process = idle.pop() if idle else _start(context, function)
                name, thing = waiting.popitem()
                busy[mine] = name, process
                with suppress(OSError):  # it died: heard below
                    mine.send((name, thing))
            for mine in connection.wait(list(busy)):
                name, process = busy.pop(mine)  # type: ignore[index]
                try:
                    value = mine.recv()  # type: ignore[union-attr]
                except (EOFError, OSError):
                    tries[name] += 1
                    process.join()
                    if tries[name] < TRIES:
                        waiting[name] = things[name]
                        continue
                    value = Failed("it ended the process that worked on it, each time it was tried")
                else:
                    idle.append((mine, process))  # type: ignore[arg-type]
                yield name, value
    finally:
        for mine, (_, process) in busy.items():
            process.kill()
            mine.close()
        for mine, _ in idle:
            mine.close()  # which ends it


def _start(context: Any, function: Callable[[Any], Any]) -> tuple[Connection, Any]:
    mine, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, function), daemon=True)
    process.start()
    theirs.close()
    return mine, process


def _work(ours: Connection, function: Callable[[Any], Any]) -> None:
    """Answer until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    while True:
        try:
            _, thing = ours.recv()
        except (EOFError, OSError):
            return
        try:
            value = function(thing)
        except Exception as error:
            value = Failed(f"{type(error).__name__}: {error}")
        ours.send(value)
