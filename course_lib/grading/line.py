"""A line to a warm parent, and the kernels that fork at its other end."""

from __future__ import annotations

import contextlib
import json
import select
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from .bubblewrap import KEPT_VARIABLES, below_temporary, variables
from .sandbox import Limits, Room, concealed

START_SECONDS = 60


class Line:
    """One process's connection to a warm parent, and its kernels there, which end with it: when it is closed,
    or nobody holds it any more.

    Parameters: control, the socket; rooms, the folder for the rooms of kernels; user, who owns them.
    """

    def __init__(self, control: socket.socket, rooms: Path, user: int) -> None:
        self.control, self.rooms, self.user, self.limits = control, rooms, user, Limits()
        self._ended, self._numbers = False, 0
        self._lock = threading.RLock()
        self._events: dict[tuple[int, str], dict[str, Any]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Line, (self.control, self.rooms, self.user)

    def __del__(self) -> None:
        self.control.close()

    def expect_ready(self) -> None:
        """Wait until the parent has imported its modules. Raises: OSError when it cannot fork kernels."""
        threads = self._wait_for((0, "ready"), START_SECONDS)["threads"]
        if threads != 1:
            self.close()
            raise OSError(f"the warm parent has {threads} threads, and only one survives a fork")

    @property
    def alive(self) -> bool:
        """Whether there is somebody at the other end, who can fork another kernel."""
        self._hear(0)
        return not self._ended

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
            if not self._ended:
                self.control.send(json.dumps(request).encode())

    def event(self, number: int, name: str) -> dict[str, Any] | None:
        """What has been heard of a kernel, if anything."""
        self._hear(0)
        return self._events.get((number, name))

    def close(self) -> None:
        """Hang up, which ends its kernels."""
        with self._lock:
            self.control.close()
            self._ended = True

    def _wait_for(self, key: tuple[int, str], seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while key not in self._events:
            if self._ended or time.monotonic() > end:
                ended = self._ended
                self.close()
                raise OSError("the warm parent ended" if ended else "the warm parent says nothing")
            self._hear(0.05)
        return self._events.pop(key)

    def _hear(self, seconds: float) -> None:
        with self._lock:
            while not self._ended and select.select([self.control], [], [], seconds)[0]:
                seconds = 0
                try:
                    message = self.control.recv(1 << 20)
                except ConnectionResetError:
                    message = b""
                if not message:
                    self._ended = True
                    return
                event = json.loads(message)
                self._events[event.get("number", 0), event["event"]] = event


class ForkedKernel:
    """A forked kernel's process, with as much of `subprocess.Popen` as jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(self, line: Line, number: int) -> None:
        self.line, self.number = line, number
        self.pid, self.returncode = 0, None  # its id means something in the parent's namespace only

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        if self.returncode is None:
            ended = self.line.event(self.number, "ended")
            if ended is not None:
                self.returncode = ended["code"]
            elif not self.line.alive:
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
        self.line.send(do="signal", number=self.number, signal=int(number))

    def kill(self) -> None:
        """End it, with all that it started."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """The same: there is nothing to save."""
        self.kill()
