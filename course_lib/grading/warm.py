"""Kernels that fork from a warm parent: the marker's side of it.

A parent holds the imports that a submission would wait for, in one sandbox; each kernel is a fork of it in a
narrower one. Where forks cannot be closed in, or the parent is not single-threaded, kernels start cold.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from .bubblewrap import KEPT_VARIABLES, below_temporary, closed, variables
from .sandbox import Limits, Room, concealed, own_user

SCRIPT = Path(__file__).with_name("warm_parent.py")
START_SECONDS = 60


class WarmParent:
    """One warm parent with modules loaded; it ends with this process.

    Parameters: modules, what kernels will find imported already.
    Raises: OSError when it does not start; the message says why.
    """

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.user, self.limits = own_user(), Limits()
        self.rooms = Path(tempfile.mkdtemp(prefix=f"rooms-{os.getpid()}-"))
        self._lock, self._numbers = threading.RLock(), 0
        self._events: dict[tuple[int, str], dict[str, Any]] = {}
        if os.geteuid() == 0:
            os.chown(self.rooms, self.user, self.user)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = closed(
            [sys.executable, str(SCRIPT), str(theirs.fileno()), *modules],
            user=self.user,
            shared=[self.rooms],
            shown=[SCRIPT],
            temporary=self.limits.temporary,
            nested=True,
        )
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=quiet, stdout=quiet, stderr=quiet
        )
        theirs.close()
        atexit.register(self.close)
        ready = self._wait_for((0, "ready"), START_SECONDS)
        if ready["threads"] != 1:
            self.close()
            raise OSError(f"the warm parent has {ready['threads']} threads, and only one survives a fork")

    @property
    def alive(self) -> bool:
        """Whether it can fork another kernel."""
        return self._process.poll() is None

    def room(self) -> Room:
        """A room for one kernel."""
        return Room(self.limits, within=self.rooms, user=self.user)

    def fork(self, room: Room, arguments: list[str]) -> ForkedKernel:
        """Start a kernel in a room. Raises: OSError when it cannot be closed in."""
        with self._lock:
            self._numbers += 1
            number = self._numbers
        self.send(
            do="fork",
            number=number,
            arguments=arguments,
            rooms=str(self.rooms),
            work=str(room.work),
            again=[*below_temporary(), str(room.sockets)],
            temporary=self.limits.temporary,
            kept=KEPT_VARIABLES,
            variables=variables(),
            concealed=[*map(str, concealed())],
            limits=self.limits.values(),
        )
        forked = self._wait_for((number, "forked"), START_SECONDS)
        if forked["trouble"]:
            raise OSError(forked["trouble"])
        return ForkedKernel(self, number)

    def send(self, **request: Any) -> None:
        """Ask for something; a parent that is gone hears nothing."""
        with self._lock, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(json.dumps(request).encode())

    def event(self, number: int, name: str) -> dict[str, Any] | None:
        """What has been heard of a kernel, if anything."""
        self._hear(0)
        return self._events.get((number, name))

    def close(self) -> None:
        """End it, and with it every kernel; delete the rooms."""
        atexit.unregister(self.close)
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self._process.kill()
        self._process.wait()
        subprocess.run(["rm", "-rf", "--", str(self.rooms)], stderr=subprocess.DEVNULL, check=False)

    def _wait_for(self, key: tuple[int, str], seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while key not in self._events:
            self._hear(0.05)
            if not self.alive or time.monotonic() > end:
                self.close()
                raise OSError("the warm parent ended" if not self.alive else "the warm parent says nothing")
        return self._events.pop(key)

    def _hear(self, seconds: float) -> None:
        with self._lock:
            while self._control.fileno() >= 0 and select.select([self._control], [], [], seconds)[0]:
                seconds = 0
                try:
                    message = self._control.recv(1 << 20)
                except ConnectionResetError:
                    message = b""
                if not message:
                    return
                event = json.loads(message)
                self._events[event.get("number", 0), event["event"]] = event


_parents: dict[tuple[int, tuple[str, ...]], WarmParent | OSError] = {}


def parent_with(modules: tuple[str, ...]) -> WarmParent | None:
    """This process's warm parent with these modules, started when first asked for; None where there can be
    none. One that was killed is started again."""
    key = os.getpid(), modules
    known = _parents.get(key)
    if known is None or (isinstance(known, WarmParent) and not known.alive):
        try:
            _parents[key] = WarmParent(modules)
        except OSError as error:
            _parents[key] = error
            logging.getLogger("course.warm").warning("Kernels start cold, which is slower: %s.", error)
    found = _parents[key]
    return found if isinstance(found, WarmParent) else None


def give_up(modules: tuple[str, ...], error: OSError) -> None:
    """From now on kernels with these modules start cold. The parent ends with this process: its rooms are in
    use."""
    _parents[os.getpid(), modules] = error
    logging.getLogger("course.warm").warning("Kernels start cold, which is slower: %s.", error)


class ForkedKernel:
    """A forked kernel's process, with as much of `subprocess.Popen` as jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(self, parent: WarmParent, number: int) -> None:
        self.parent, self.number = parent, number
        self.pid, self.returncode = 0, None  # its id means something in the parent's namespace only

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        if self.returncode is None:
            ended = self.parent.event(self.number, "ended")
            if ended is not None:
                self.returncode = ended["code"]
            elif not self.parent.alive:
                self.returncode = -signal.SIGKILL
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("kernel", timeout)
            time.sleep(0.002)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Signal the kernel's first process."""
        self.parent.send(do="signal", number=self.number, signal=int(number))

    def kill(self) -> None:
        """End it, with all that it started."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """The same: there is nothing to save."""
        self.kill()
