"""Whole frames over pipes: each its length in four bytes, and then data."""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import threading

LENGTH = struct.Struct("!I")
READ_AT_ONCE = 2**20  # bytes


class Frames:
    """A kernel's ends of two pipes. What is sent is sent whole, whatever signals come meanwhile."""

    def __init__(self, requests: int, answers: int) -> None:
        self.requests, self.answers = requests, answers
        self._lock = threading.Lock()

    def send(self, data: bytes) -> None:
        """Send a frame."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            with self._lock:
                view = memoryview(LENGTH.pack(len(data)) + data)
                while view:
                    view = view[os.write(self.answers, view) :]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    async def next(self) -> bytes:
        """The next frame; tasks of earlier cells go on meanwhile. Raises: EOFError when there is none."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def hear() -> None:
            loop.remove_reader(self.requests)  # here: heard twice, it would be in the way of nested loops
            arrived.set()

        loop.add_reader(self.requests, hear)
        await arrived.wait()
        (length,) = LENGTH.unpack(self._received(LENGTH.size))
        return self._received(length)

    def _received(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            part = os.read(self.requests, min(length - len(data), READ_AT_ONCE))
            if not part:
                raise EOFError
            data += part
        return bytes(data)
