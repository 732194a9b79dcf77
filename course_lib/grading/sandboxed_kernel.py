"""A kernel in the sandbox, and the marker's end of the socket to it.

It is a fork of a warm parent or, where there is none, a process of its own.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import warm
from .kernel import ENDED, MAX_MESSAGE, SILENT, STARTUP, Gone, Kernel, Message, well_formed
from .sandbox import command

SCRIPT = Path(__file__).with_name("socket_kernel.py")
LENGTH = struct.Struct("!I")
READ_AT_ONCE = 2**20  # bytes


class SandboxedKernel(Kernel):
    """A kernel that sees nothing of this machine but an interpreter with its libraries.

    Parameters: modules, what it finds imported already; without any it is started as a process of its own.
    Raises: Gone when it does not start.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        self._frames, theirs = _pair()
        self._interrupts, interrupts = _pair()
        self._process: warm.ForkedKernel | subprocess.Popen[bytes] | None = None
        try:
            with theirs, interrupts:
                self._process = _started(modules, [theirs, interrupts])
            self._wire = Wire(self._frames)
            self._expect_ready()
        except BaseException:
            self.end()
            raise

    def ask(self, content: Message) -> str:
        """Send an execute_request. Returns: its id."""
        asked = secrets.token_hex(8)  # what was sent before it was asked is no answer
        self._wire.put(json.dumps({"id": asked, "content": content}).encode())
        return asked

    def received(self, seconds: float) -> Iterator[tuple[Message, int]]:
        """Well-formed messages that have arrived or arrive in time, with their sizes. Raises: Gone."""
        for frame in self._wire.take(max(0.0, seconds)):
            try:
                message = json.loads(frame)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict) and well_formed(message):
                yield message, len(frame)

    def settle(self) -> None:
        """A kernel whose messages come one after another answers nothing before it has ended this."""
        raise Gone(SILENT)

    def interrupt(self) -> None:
        """Stop what runs, by a KeyboardInterrupt."""
        with suppress(OSError):
            self._interrupts.send(b"!")

    def end(self) -> None:
        """Kill the kernel and all that it started; what it wrote was in memory."""
        if self._process is not None:
            self._process.kill()
        if isinstance(self._process, subprocess.Popen):
            self._process.wait()
        self._frames.close()
        self._interrupts.close()

    def _expect_ready(self) -> None:
        end = time.monotonic() + STARTUP
        while time.monotonic() < end:
            for message, _ in self.received(end - time.monotonic()):
                if message["msg_type"] == "ready":
                    return
        raise Gone(SILENT)


class Wire:
    """Whole frames over a socket, each its length in four bytes and then data; nobody is waited for."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._connection.setblocking(False)
        self._coming, self._going = bytearray(), bytearray()

    def put(self, data: bytes) -> None:
        """Let a frame go out, while others are waited for."""
        self._going += LENGTH.pack(len(data)) + data

    def take(self, seconds: float) -> Iterator[bytes]:
        """The frames that have arrived, or arrive when so many seconds are over. Raises: Gone when the other
        end is closed, or begins a frame of more than `MAX_MESSAGE` bytes."""
        end = time.monotonic() + seconds
        ended = False
        while True:
            ready, free, _ = select.select(
                [self._connection],
                [self._connection] if self._going else [],
                [],
                max(0.0, end - time.monotonic()),
            )
            try:
                if free:
                    del self._going[: self._connection.send(self._going)]
                if ready:
                    data = self._connection.recv(READ_AT_ONCE)
                    ended = not data
                    self._coming += data
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                ended = True
            complete = list(self._complete())
            yield from complete
            if ended:
                raise Gone(ENDED)
            if complete or time.monotonic() > end:
                return

    def _complete(self) -> Iterator[bytes]:
        at = 0
        while len(self._coming) >= at + LENGTH.size:
            (length,) = LENGTH.unpack_from(self._coming, at)
            if length > MAX_MESSAGE:
                raise Gone(SILENT)
            if len(self._coming) < at + LENGTH.size + length:
                break
            at += LENGTH.size
            yield bytes(self._coming[at : at + length])
            at += length
        del self._coming[:at]


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def _started(modules: Sequence[str], ends: Sequence[socket.socket]) -> Any:
    """Fork a kernel, or start it."""
    line = warm.line_with(modules) if modules else None
    if line is not None:
        try:
            return line.fork(ends)
        except OSError as error:
            if line.alive:
                warm.give_up(modules, error)  # where the parent has ended, the next kernel has another
    numbers = [each.fileno() for each in ends]
    words = command([sys.executable, str(SCRIPT), *map(str, numbers)], shown=[SCRIPT])
    quiet = (
        subprocess.DEVNULL
    )  # what a process writes past the kernel would land in the marker's own terminal
    return subprocess.Popen(words, pass_fds=numbers, stdin=quiet, stdout=quiet, stderr=quiet)
