"""Warm parents, from which kernels fork: the marker's side of them.

A parent holds the imports that a submission would wait for, in one sandbox; each kernel is a fork of it in a
narrower one. Several processes can have lines to one parent, as importing takes long. Where forks cannot be
closed in, or the parent is not single-threaded, kernels start cold.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing.util import Finalize
from pathlib import Path

from .bubblewrap import HUGE_PAGES, MIB, closed
from .line import Line
from .sandbox import Limits, own_user

SCRIPT = "course_lib.grading.inside.warm_parent"
ASK_FOR_HUGE_PAGES = "glibc.malloc.hugetlb=1"
LARGEST_PAGE = 2 * MIB
CLOSE_SECONDS = 0.2  # for a parent to end by itself; one that still imports does not look up


class WarmParent:
    """A process that imports modules now, and forks kernels for whoever has a line to it. It ends with this
    process.

    Parameters: modules, what kernels will find imported already.
    Raises: OSError when it does not start; the message says why.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self.process = _start(theirs.fileno(), modules)
        except OSError:
            self._door.close()
            raise
        self._at_exit = Finalize(None, self.close, exitpriority=1)  # atexit does nothing in forked processes

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None

    def line(self) -> Line:
        """A line to it, which can be sent to a process that is being started."""
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Where the parent has ended, the line tells so.
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(self._door, [b"!"], [theirs.fileno()])
        return Line(mine)

    def close(self) -> None:
        """End it, and with it every kernel."""
        self._at_exit.cancel()
        self._door.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(CLOSE_SECONDS)
        self.process.kill()
        self.process.wait()


_parents: dict[tuple[int, tuple[str, ...]], WarmParent] = {}
_lines: dict[tuple[int, tuple[str, ...]], Line | OSError] = {}
_one_at_a_time = threading.RLock()


def _start(door: int, modules: Sequence[str]) -> subprocess.Popen[bytes]:
    words = [*_in_huge_pages(), sys.executable, "-m", SCRIPT, str(door), *modules]
    command = closed(words, user=own_user(), temporary=Limits().temporary, nested=True)
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, pass_fds=[door], stdin=quiet, stdout=quiet, stderr=quiet)


def _in_huge_pages() -> list[str]:
    """Have the C library ask for huge pages where they are small enough: its memory grows by whole ones."""
    try:
        size = int(Path(HUGE_PAGES, "hpage_pmd_size").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return []
    return ["env", f"GLIBC_TUNABLES={ASK_FOR_HUGE_PAGES}"] if size <= LARGEST_PAGE else []


def begin(modules: Sequence[str]) -> None:
    """Let a warm parent import these modules now, for a line that will be asked for."""
    key = _key(modules)
    with _one_at_a_time, contextlib.suppress(OSError):  # whoever asks for the line will be told
        if key not in _lines and key not in _parents:
            _parents[key] = WarmParent(modules)


def line_with(modules: Sequence[str]) -> Line | None:
    """This process's line to a warm parent with these modules, which is started when first asked for; None
    where there can be none. One that was killed is started again."""
    key = _key(modules)
    with _one_at_a_time:
        known = _lines.get(key)
        if known is None or (isinstance(known, Line) and not known.alive):
            parent = _parents.pop(key, None)
            if parent is not None and (known is not None or not parent.alive):
                parent.close()
                parent = None
            try:
                parent = parent or WarmParent(modules)
            except OSError as error:
                give_up(modules, error)
            else:
                fork_at(parent.line(), modules)
                if isinstance(_lines[key], Line):
                    _parents[key] = parent
                else:
                    parent.close()
        found = _lines[key]
        return found if isinstance(found, Line) else None


def fork_at(line: Line, modules: Sequence[str]) -> None:
    """From now on kernels with these modules fork at the other end of this line; it waits until that is
    ready. Where it cannot be, they start cold."""
    try:
        line.expect_ready()
    except OSError as error:
        give_up(modules, error)
    else:
        _lines[_key(modules)] = line


def give_up(modules: Sequence[str], error: OSError) -> None:
    """From now on kernels with these modules start cold. A parent that has forked goes on."""
    _lines[_key(modules)] = error
    logging.getLogger("course.warm").warning("Kernels start cold, which is slower: %s.", error)


def _key(modules: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    return os.getpid(), tuple(modules)
