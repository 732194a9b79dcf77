"""The warm parent: a process in a sandbox that has imported what kernels need, and forks one per request.

It holds nothing worth seeing: a forked kernel can read all of its memory. Through one inherited socket it is
handed others, the lines, each for one process that asks for kernels: requests and answers on them are JSON
datagrams. When a line ends, so do its kernels, and when the first socket does, so does the parent, and every
kernel with it. Each kernel is process 1 of a process namespace of its own, so that killing it kills all it
started.

Usage: python -m course_lib.grading.inside.warm_parent SOCKET MODULE...
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from . import huge_pages
from .closing_in import become_user, close_in, libc, own_namespaces
from .pipe_kernel import ready

SET_CHILD_SUBREAPER = 36  # linux/prctl.h
MANY = 10  # forks, from which on it pays to make them cheaper
# What a kernel imports when it is first needed.
KERNEL_MODULES = (
    "IPython.core.completerlib",
    "IPython.core.logger",
    "faulthandler",
    "tornado.platform.asyncio",
)


def main() -> NoReturn:
    """Import, then serve requests until the socket ends."""
    door, modules = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    os.environ.pop("GLIBC_TUNABLES", None)  # which is for this process
    gc.disable()  # importing leaves little garbage; to look for it takes longer than to keep it
    del sys.path[0]  # the current folder, to which IPython gives another place
    kernel = ready()
    for name in (*KERNEL_MODULES, *modules):
        with contextlib.suppress(Exception):  # whoever needs it is told
            importlib.import_module(name)
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random")  # which NumPy leaves for its first use
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # kernels are grandchildren; their end is told to us
    gc.freeze()
    gc.enable()
    Server(door, kernel.begin).serve()


class Server:
    """What the parent knows: its lines, and the kernels that were asked for on them.

    Parameters: door, the socket that hands it lines; begin, what a forked kernel does with its pipes.
    """

    def __init__(self, door: socket.socket, begin: Callable[..., NoReturn]) -> None:
        self.door, self.begin = door, begin
        self.lines: list[socket.socket] = []
        self.kernels: dict[int, tuple[socket.socket, int]] = {}  # by process: its line, its number there
        self.ended, self.ended_write = os.pipe()
        self.forks = 0

    def serve(self) -> NoReturn:
        """Do what is asked for until the door closes."""
        for each in (self.ended, self.ended_write):
            os.set_blocking(each, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.ended_write, warn_on_full_buffer=False)
        while True:
            readable, _, _ = select.select([self.door, self.ended, *self.lines], [], [])
            if self.ended in readable:
                os.read(self.ended, 4096)
                self._forget_ended()
            if self.door in readable:
                self._take_line()
            for line in [each for each in self.lines if each in readable]:
                self._obey(line)

    def _take_line(self) -> None:
        handed = socket.recv_fds(self.door, 1, 1)[1]
        if not handed:
            os._exit(0)
        line = socket.socket(fileno=handed[0])
        self.lines.append(line)
        # A fork copies one thread only; a lock that another one holds would never open again.
        _send(line, threads=len(os.listdir("/proc/self/task")))

    def _obey(self, line: socket.socket) -> None:
        request, ends = _received(line)
        if request is None:
            self._kill([each for each, (its, _) in self.kernels.items() if its is line])
            self.lines.remove(line)
            line.close()
        elif request["do"] == "fork":
            self._fork(line, request, ends)
        else:
            key = line, request["number"]
            self._kill([each for each, its in self.kernels.items() if its == key])

    @staticmethod
    def _kill(processes: list[int]) -> None:
        for process in processes:
            os.kill(process, signal.SIGKILL)

    def _forget_ended(self) -> None:
        while True:
            try:
                process, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            self.kernels.pop(process, None)

    def _fork(self, line: socket.socket, request: dict[str, Any], ends: list[int]) -> None:
        """Fork, or say what is in the way."""
        self.forks += 1
        try:
            if self.forks == MANY:
                huge_pages.collapse()
            said = self._forked(request, ends)
        except OSError as error:  # such as too many processes, or no memory
            said = {"trouble": repr(error)}
        for each in ends:
            os.close(each)
        if "process" in said:
            self.kernels[said["process"]] = line, request["number"]
        _send(line, trouble=said.get("trouble"))

    def _forked(self, request: dict[str, Any], ends: list[int]) -> dict[str, Any]:
        """Fork twice: a process namespace holds its maker's children, and its first one is the kernel.

        Returns: the kernel's process, and the trouble there was, if any.
        """
        read, write = os.pipe()
        try:
            between = os.fork()
        except OSError:
            os.close(read)
            os.close(write)
            raise
        if between == 0:
            os.close(read)
            self._become_between(request, ends, write)
        os.close(write)
        with os.fdopen(read) as file:
            said: dict[str, Any] = {}
            for text in file:  # until the kernel is closed in, which ends the pipe
                said |= json.loads(text)
        return said

    def _become_between(self, request: dict[str, Any], ends: list[int], told: int) -> NoReturn:
        """Leave all that is the parent's, and fork the kernel; never returns."""
        try:
            for pipe in (self.ended, self.ended_write):
                os.close(pipe)
            for each in (self.door, *self.lines):
                each.close()
            libc.prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)
            become_user(request["user"])
            own_namespaces()
            kernel = os.fork()
            if kernel == 0:
                _become_kernel(request, told, partial(self.begin, *ends))
            _tell(told, process=kernel)
        except BaseException as error:
            _tell(told, trouble=repr(error))
        os._exit(0)


def _tell(pipe: int, **said: Any) -> None:
    os.write(pipe, json.dumps(said).encode() + b"\n")


def _received(line: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next request, or None at the line's end, and the descriptors that came with it."""
    try:
        message, ends, _, _ = socket.recv_fds(line, 1 << 20, 3)
    except ConnectionResetError:
        return None, []
    return json.loads(message) if message else None, ends


def _send(line: socket.socket, **answer: Any) -> None:
    """Answer; where nobody listens any more, nobody hears it."""
    with contextlib.suppress(OSError):
        line.send(json.dumps(answer).encode())


def _become_kernel(request: dict[str, Any], told: int, begin: Callable[[], NoReturn]) -> NoReturn:
    """Close the doors, then run the kernel; never returns."""
    try:
        close_in(request)
    except BaseException as error:
        _tell(told, trouble=repr(error))
        os._exit(1)
    os.close(told)
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.chdir(request["work"])
        for name in request["kept"]:  # the parent may have been started under other ones
            os.environ.pop(name, None)
        os.environ.update(request["variables"])
        _renew_random_state()
        begin()
    finally:
        os._exit(1)


def _renew_random_state() -> None:
    """Seeds that a fresh process would draw anew."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()


if __name__ == "__main__":
    main()
