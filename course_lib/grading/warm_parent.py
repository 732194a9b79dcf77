"""The warm parent: a process in a sandbox that has imported what kernels need, and forks one per request.

It runs as a script inside bubblewrap, so it imports nothing of the course that marks, and it holds nothing
worth seeing: a forked kernel can read all of its memory. Through one inherited socket it is handed others,
the lines, each for one process that asks for kernels: requests and answers on them are JSON datagrams. When a
line ends, so do its kernels, and when the first socket does, so does the parent, and every kernel with it.
Each kernel gets namespaces, folders in memory and limits of its own, and is process 1 of its own process
namespace, so that killing it kills all it started.

Usage: warm_parent.py SOCKET MODULE...
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import random
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

# linux/sched.h, sys/mount.h, sys/prctl.h, linux/capability.h
NAMESPACES = (
    0x10000000 | 0x00020000 | 0x20000000 | 0x08000000 | 0x04000000 | 0x40000000
)  # user mnt pid ipc uts net
NOSUID, NODEV, NOEXEC, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
SET_CHILD_SUBREAPER, SET_DUMPABLE, CAPBSET_DROP, SET_NO_NEW_PRIVS, CAP_AMBIENT, CLEAR_ALL = (
    36,
    4,
    24,
    38,
    47,
    4,
)
CAPABILITY_VERSION_3 = 0x20080522
# What a kernel imports when it is first needed.
KERNEL_MODULES = ("IPython.core.completerlib", "faulthandler", "matplotlib_inline.backend_inline")
libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Import, then serve requests until the socket ends."""
    door, modules = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    kernel = importlib.import_module("socket_kernel").ready()  # which lies beside this script
    del sys.path[0]  # the folder of both
    for name in (*KERNEL_MODULES, *modules):
        importlib.import_module(name)
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random")  # which NumPy leaves for its first use
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # kernels are grandchildren; their end is told to us
    gc.collect()
    gc.freeze()
    Server(door, kernel.begin).serve()


class Server:
    """What the parent knows: its lines, and the kernels that were asked for on them.

    Parameters: door, the socket that hands it lines; begin, what a forked kernel does with its sockets.
    """

    def __init__(self, door: socket.socket, begin: Callable[..., None]) -> None:
        self.door, self.begin = door, begin
        self.lines: list[socket.socket] = []
        self.kernels: dict[int, tuple[socket.socket, int]] = {}  # by process: its line, its number there
        self.ended, self.ended_write = os.pipe()

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
        try:
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
            try:
                for pipe in (read, self.ended, self.ended_write):
                    os.close(pipe)
                for each in (self.door, *self.lines):
                    each.close()
                libc.prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)
                if request["user"] is not None:
                    _become_user(request["user"])
                _own_namespaces()
                kernel = os.fork()
                if kernel == 0:
                    _become_kernel(request, write, partial(self.begin, *map(_socket, ends)))
                os.write(write, json.dumps({"process": kernel}).encode() + b"\n")
            except BaseException as error:
                os.write(write, json.dumps({"trouble": repr(error)}).encode() + b"\n")
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as file:
            said: dict[str, Any] = {}
            for text in file:  # until the kernel is closed in, which ends the pipe
                said |= json.loads(text)
        return said


def _received(line: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next request, or None at the line's end, and the descriptors that came with it."""
    try:
        message, ends, _, _ = socket.recv_fds(line, 1 << 20, 2)
    except ConnectionResetError:
        return None, []
    return json.loads(message) if message else None, ends


def _send(line: socket.socket, **answer: Any) -> None:
    """Answer; where nobody listens any more, nobody hears it."""
    with contextlib.suppress(OSError):
        line.send(json.dumps(answer).encode())


def _socket(descriptor: int) -> socket.socket:
    return socket.socket(fileno=descriptor)


def _become_user(user: int) -> None:
    """Where the marker is root, each kernel is a user of its own: Linux counts much by user."""
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)  # or what /proc tells of this process is root's


def _own_namespaces() -> None:
    user, group = os.getuid(), os.getgid()
    _checked(libc.unshare(NAMESPACES), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _become_kernel(request: dict[str, Any], told: int, begin: Callable[[], None]) -> NoReturn:
    """Close the doors, then run the kernel; never returns."""
    try:
        _own_folders(request)
        for limit, value in request["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (value, value))
        _give_up_privileges()
        _look_around(request["concealed"])
    except BaseException as error:
        os.write(told, json.dumps({"trouble": repr(error)}).encode() + b"\n")
        os._exit(1)
    os.close(told)
    code = 1
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
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    finally:
        os._exit(code)


def _renew_random_state() -> None:
    """Seeds that a fresh process would draw anew."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()


def _own_folders(request: dict[str, Any]) -> None:
    """New folders in memory over what all kernels share; what lies below /tmp is shown again."""
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    again = [(path, os.open(path, os.O_PATH)) for path in request["again"]]
    size = f"size={request['temporary']}m,mode=1777"
    _mount("tmpfs", "/tmp", "tmpfs", NOSUID | NODEV, size)
    for path, descriptor in again:
        os.makedirs(path, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", path, None, BIND | RECURSIVE)
        os.close(descriptor)
    os.makedirs("/tmp/home")
    os.makedirs(request["work"])
    _mount("tmpfs", "/dev/shm", "tmpfs", NOSUID | NODEV, size)
    _mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")


def _give_up_privileges() -> None:
    capability = 0
    while libc.prctl(CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    libc.prctl(CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _checked(libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _checked(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def _look_around(concealed: list[str]) -> None:
    """Every kernel makes sure that it is closed in before it runs anybody's code."""
    with open("/proc/self/status") as file:
        privileges = [line.split()[1] for line in file if line.startswith("Cap")]
    ways = [name for _, name in socket.if_nameindex() if name != "lo"]
    seen = [path for path in concealed if os.path.exists(path)]
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    if any(int(each, 16) for each in privileges) or ways or seen or processes != ["1"]:
        raise OSError(f"not closed in: {privileges} {ways} {seen} {processes}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    options = None if data is None else data.encode()
    _checked(libc.mount(*words, ctypes.c_ulong(flags), options), f"mount {target}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
