"""A kernel in the sandbox, and the marker's ends of the pipes to it.

It is a fork of a warm parent or, where there is none, a process of its own.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from . import warm
from .inside.frames import LENGTH, READ_AT_ONCE
from .kernel import ENDED, MAX_MESSAGE, SILENT, STARTUP, Gone, Kernel, Message, well_formed
from .line import ForkedKernel
from .sandbox import command

SCRIPT = "course_lib.grading.inside.pipe_kernel"


class SandboxedKernel(Kernel):
    """A kernel that sees nothing of this machine but an interpreter with its libraries.

    Parameters: modules, what it finds imported already; without any it is started as a process of its own.
    Raises: Gone when it does not start.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        self._process: ForkedKernel | subprocess.Popen[bytes] | None = None
        self._wire = Wire()
        try:
            self._process = _started(modules, self._wire.theirs)
            self._wire.close_theirs()
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
        self._wire.interrupt()

    def end(self) -> None:
        """Kill the kernel and all that it started; what it wrote was in memory."""
        if self._process is not None:
            self._process.kill()
        if isinstance(self._process, subprocess.Popen):
            self._process.wait()
        self._wire.close()

    def _expect_ready(self) -> None:
        end = time.monotonic() + STARTUP
        while time.monotonic() < end:
            for message, _ in self.received(end - time.monotonic()):
                if message["msg_type"] == "ready":
                    return
        raise Gone(SILENT)


class Wire:
    """Whole frames over pipes, each its length in four bytes and then data; nobody is waited for.

    theirs: the kernel's ends, of the pipes for requests, answers and interrupts.
    """

    def __init__(self) -> None:
        (requests, self._requests), (self._answers, answers) = os.pipe(), os.pipe()
        interrupts, self._interrupts = os.pipe()
        self.theirs = [requests, answers, interrupts]
        self._mine = [self._requests, self._answers, self._interrupts]
        for mine in self._mine:
            os.set_blocking(mine, False)
        self._coming, self._going = bytearray(), bytearray()

    def close_theirs(self) -> None:
        """Leave the kernel's ends to the kernel, whose end is heard then."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        """Hang up."""
        self.close_theirs()
        while self._mine:
            os.close(self._mine.pop())

    def interrupt(self) -> None:
        """Send an interrupt; one that nobody takes is not needed."""
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._interrupts, b"!")

    def put(self, data: bytes) -> None:
        """Let a frame go out, while others are waited for."""
        self._going += LENGTH.pack(len(data)) + data

    def take(self, seconds: float) -> Iterator[bytes]:
        """The frames that have arrived, or arrive when so many seconds are over. Raises: Gone when the other
        end is closed, or begins a frame of more than `MAX_MESSAGE` bytes."""
        end = time.monotonic() + seconds
        ended = False
        while True:
            poll = select.poll()
            poll.register(self._answers, select.POLLIN)
            if self._going:
                poll.register(self._requests, select.POLLOUT)
            seen = dict(poll.poll(1000 * max(0.0, end - time.monotonic())))
            try:
                if self._requests in seen:
                    del self._going[: os.write(self._requests, self._going)]
                if self._answers in seen:
                    data = os.read(self._answers, READ_AT_ONCE)
                    ended = not data
                    self._coming += data
            except BlockingIOError:
                pass
            except BrokenPipeError:
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


def _started(modules: Sequence[str], ends: Sequence[int]) -> ForkedKernel | subprocess.Popen[bytes]:
    """Fork a kernel, or start it. Raises: Gone when it cannot be started."""
    line = warm.line_with(modules) if modules else None
    if line is not None:
        try:
            return line.fork(ends)
        except OSError as error:
            if line.alive:
                warm.give_up(modules, error)  # where the parent has ended, the next kernel has another
    words = command([sys.executable, "-m", SCRIPT, *map(str, ends)])
    quiet = subprocess.DEVNULL  # or it would land in the marker's own terminal
    try:
        return subprocess.Popen(words, pass_fds=ends, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError as error:
        raise Gone(ENDED) from error
