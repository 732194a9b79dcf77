"""A line to a warm parent, and the kernels that fork at its other end."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .bubblewrap import KEPT_VARIABLES, WORK, below_temporary, variables
from .sandbox import Limits, concealed, own_user

START_SECONDS = 60


class Line:
    """One process's connection to a warm parent, and its kernels there, which end with it: when it is closed,
    or nobody holds it any more.

    Parameters: control, the socket.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self._ended, self._kernels = False, 0
        self._one_at_a_time = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Line, (self.control,)

    def __del__(self) -> None:
        self.control.close()

    def expect_ready(self) -> None:
        """Wait until the parent has imported its modules. Raises: OSError when it cannot fork kernels."""
        threads = self._heard()["threads"]
        if threads != 1:
            self.close()
            raise OSError(f"the warm parent has {threads} threads, and only one survives a fork")

    @property
    def alive(self) -> bool:
        """Whether there is somebody at the other end, who can fork another kernel."""
        with self._one_at_a_time:  # who says nothing unasked: there is something to hear at the end only
            return not self._ended and not self._hears(0)

    def fork(self, ends: Sequence[int]) -> ForkedKernel:
        """Start a kernel with these descriptors. Raises: OSError when it cannot be closed in."""
        limits = Limits()
        with self._one_at_a_time:
            self._kernels += 1
            number = self._kernels
            request = {
                "do": "fork",
                "number": number,
                "user": own_user(),
                "work": WORK,
                "again": below_temporary(),
                "temporary": limits.temporary,
                "kept": KEPT_VARIABLES,
                "variables": variables(),
                "concealed": [*map(str, concealed())],
                "limits": limits.values(),
            }
            self._send(request, ends)
            trouble = self._heard()["trouble"]
        if trouble:
            raise OSError(trouble)
        return ForkedKernel(self, number)

    def kill(self, number: int) -> None:
        """End a kernel, with all that it started."""
        with self._one_at_a_time:
            self._send({"do": "kill", "number": number})

    def close(self) -> None:
        """Hang up, which ends its kernels."""
        self.control.close()
        self._ended = True

    def _send(self, request: dict[str, Any], ends: Sequence[int] = ()) -> None:
        """Ask for something; a parent that is gone hears nothing."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if not self._ended:
                socket.send_fds(self.control, [json.dumps(request).encode()], list(ends))

    def _hears(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        return bool(poll.poll(1000 * seconds))

    def _heard(self) -> dict[str, Any]:
        """What the parent answers. Raises: OSError when it has ended, or says nothing."""
        message = b""
        if not self._ended:
            if not self._hears(START_SECONDS):
                self.close()
                raise OSError("the warm parent says nothing")
            with contextlib.suppress(ConnectionResetError):
                message = self.control.recv(1 << 20)
        if not message:
            self.close()
            raise OSError("the warm parent ended")
        answer: dict[str, Any] = json.loads(message)
        return answer


@dataclass(frozen=True)
class ForkedKernel:
    """A kernel that was forked at the other end of a line."""

    line: Line
    number: int

    def kill(self) -> None:
        """End it, with all that it started."""
        self.line.kill(self.number)
