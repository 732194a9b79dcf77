"""Standard output and error of a kernel."""

from __future__ import annotations

import codecs
import io
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

FLUSH_AFTER = 0.2  # seconds, as ipykernel
MOST_AT_ONCE = 100_000  # characters of one message
READ_AT_ONCE = 2**16  # bytes, as many as a pipe holds


class Stream(io.TextIOBase):
    """What is printed, and what programs write to its file descriptor past Python, in the order in which it
    comes.

    Parameters: name and number of the stream; about, gives the request that text is about now; tell, sends
    text about a request.
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(
        self, name: str, number: int, about: Callable[[], Any], tell: Callable[[str, str, Any], None]
    ) -> None:
        self.name, self._number, self._about, self._tell = name, number, about, tell
        self._lock = threading.RLock()
        self._parts: list[str] = []
        self._waiting, self._since = 0, 0.0
        self._request: Any = None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.written = self._process = -1

    def begin(self) -> None:
        """Catch what is written to the file descriptor from now on."""
        self._process = os.getpid()
        self.written, writing = os.pipe()
        os.set_blocking(self.written, False)
        os.dup2(writing, self._number)
        os.close(writing)

    def fileno(self) -> int:
        """The file descriptor, for programs that are started."""
        return self._number

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Take text; it is sent at the end of the cell, or when it has waited for `FLUSH_AFTER`."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if os.getpid() != self._process:  # a child's goes the way of a program's
            os.write(self._number, text.encode("utf-8", "replace"))
            return len(text)
        with self._lock:
            self._take_written()
            self._take(text)
            if self._waiting > MOST_AT_ONCE:
                self._send()
        return len(text)

    def flush(self) -> None:
        """Send what waits."""
        if os.getpid() == self._process:
            with self._lock:
                self._take_written()
                self._send()

    def look(self) -> None:
        """Take what was written, and send what has waited long enough."""
        with self._lock:
            self._take_written()
            if self._waiting > MOST_AT_ONCE or time.monotonic() - self._since > FLUSH_AFTER:
                self._send()

    def _take(self, text: str) -> None:
        request = self._about()
        if request is not self._request:  # as of a task that an earlier cell began
            self._send()
        if not self._parts:
            self._since, self._request = time.monotonic(), request
        self._parts.append(text)
        self._waiting += len(text)

    def _take_written(self) -> None:
        while self._waiting <= MOST_AT_ONCE:
            try:
                data = os.read(self.written, READ_AT_ONCE)
            except BlockingIOError:
                return
            if not data:
                return
            self._take(self._decode(data))

    def _send(self) -> None:
        text = "".join(self._parts)
        self._parts, self._waiting = [], 0
        for start in range(0, len(text), MOST_AT_ONCE):
            self._tell(self.name, text[start : start + MOST_AT_ONCE], self._request)


def watch(streams: Sequence[Stream]) -> None:
    """Look at streams from a thread: a program must not wait until somebody reads what it writes, and a
    kernel that ends must not take with it what was printed long before."""
    poll = select.poll()
    for stream in streams:
        poll.register(stream.written, select.POLLIN)

    def look() -> None:
        while True:
            poll.poll(1000 * FLUSH_AFTER)
            for stream in streams:
                stream.look()

    threading.Thread(target=look, daemon=True, name="streams").start()
