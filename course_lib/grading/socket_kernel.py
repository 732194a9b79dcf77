"""IPython's kernel with one socket in the place of Jupyter's five: it runs a submission inside the sandbox.

Kernel and shell are ipykernel's own, so cells do what they do in JupyterLab; only how messages travel
differs: in frames, each its length in four bytes and then JSON, over a Unix socket. There is no thread and no
file, so a kernel can be made ready in one process and begin in a fork of it. A second socket interrupts:
whatever arrives there becomes a SIGINT. Linux only; it runs as a script inside bubblewrap, or in a fork of
the warm parent, so it imports nothing of the course.

Usage: socket_kernel.py SOCKET INTERRUPTS
"""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import io
import logging
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import tornado.ioloop
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.session import Session, extract_header
from traitlets.config import Config

LENGTH = struct.Struct("!I")
FLUSH_AFTER = 0.2  # seconds, as ipykernel
FLUSH_CHARACTERS = 100_000
READ_AT_ONCE = 2**20  # bytes
CONFIG = {
    "HistoryManager": {"hist_file": ":memory:"},
    "IPKernelApp": {"log_level": logging.CRITICAL},  # there is nobody to read a log
}


class FrameSession(Session):
    """ipykernel's way to send a message, over the socket: its type, the id of the request that it is about,
    and its content."""

    frames: Frames | None = None

    def send(  # type: ignore[override]
        self, stream: Any, msg_or_type: Any, content: Any = None, parent: Any = None, **others: Any
    ) -> dict[str, Any]:
        """Send a message, given whole or in parts; a forked child sends none. Returns: it."""
        message = msg_or_type
        if not isinstance(message, dict):
            message = {"msg_type": message, "parent_header": extract_header(parent), "content": content or {}}
        if os.getpid() == self.pid and self.frames is not None:
            about = {"msg_id": message["parent_header"].get("msg_id", "")}
            told = {"msg_type": message["msg_type"], "parent_header": about, "content": message["content"]}
            self.frames.send(self.pack(told))
        return message


class Frames:
    """Whole frames over a socket: an interrupt that comes while one is sent has to wait for its end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def send(self, data: bytes) -> None:
        """Send a frame."""
        if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
            self._send(data)
            return
        interrupts: list[int] = []
        before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
        try:
            self._send(data)
        finally:
            signal.signal(signal.SIGINT, before)
        if interrupts and callable(before):
            before(interrupts[0], None)

    def _send(self, data: bytes) -> None:
        with self._lock:
            self._connection.sendall(LENGTH.pack(len(data)) + data)

    async def next(self) -> bytes:
        """The next frame; tasks of earlier cells go on meanwhile. Raises: EOFError when there is none."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._connection, arrived.set)
        await arrived.wait()
        loop.remove_reader(self._connection)
        (length,) = LENGTH.unpack(self._received(LENGTH.size))
        return self._received(length)

    def _received(self, length: int) -> bytes:
        data = bytearray(length)
        view = memoryview(data)
        while view:
            count = self._connection.recv_into(view)
            if count == 0:
                raise EOFError
            view = view[count:]
        return bytes(data)


class Stream(io.TextIOBase):
    """Standard output or error: what is printed, and what programs write to its file descriptor past Python.

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
        self._waiting, self._since, self._read = 0, 0.0, 0
        self._request: Any = None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._file = self._process = -1

    def begin(self) -> None:
        """Catch what is written to the file descriptor from now on: a file in memory blocks nobody."""
        self._process, self._file = os.getpid(), os.memfd_create(self.name)
        fcntl.fcntl(self._file, fcntl.F_SETFL, os.O_APPEND | os.O_RDWR)
        os.dup2(self._file, self._number)

    def fileno(self) -> int:
        """The file descriptor, for programs that are started."""
        return self._number

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Take text; it is sent soon."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        if os.getpid() != self._process:  # a child's goes the way of a program's
            os.write(self._number, text.encode("utf-8", "replace"))
            return len(text)
        with self._lock:
            self._take_written()
            self._take(text)
        if self._waiting > FLUSH_CHARACTERS or time.monotonic() - self._since > FLUSH_AFTER:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what waits."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._take_written()
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
        while os.fstat(self._file).st_size > self._read:
            data = os.pread(self._file, READ_AT_ONCE, self._read)
            self._read += len(data)
            self._take(self._decode(data))
            if self._waiting > READ_AT_ONCE:
                return  # the rest next time

    def _send(self) -> None:
        if self._parts:
            text = "".join(self._parts)
            self._parts, self._waiting = [], 0
            self._tell(self.name, text, self._request)


class SocketKernel(IPythonKernel):
    """ipykernel's kernel, which hears and answers over one socket."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._execute_sleep = 0  # which is for messages on two sockets
        # Code that waits asks for this thread; here there is one only.
        self.shell_channel_thread = SimpleNamespace(parent_thread=threading.main_thread())
        streams = {"stdout": 1, "stderr": 2}
        self.printed = [Stream(*each, self.get_parent, self._tell) for each in streams.items()]

    async def serve(self, connection: socket.socket, interrupts: socket.socket) -> None:
        """Answer requests until the other side hangs up."""
        self.io_loop = tornado.ioloop.IOLoop.current()
        # A signal alone wakes no loop: ipykernel's answer to it would wait until something else happens.
        asyncio.get_running_loop().add_reader(interrupts, interrupts.recv, 1)
        self.frames = self.session.frames = Frames(connection)
        self.session.pid = os.getpid()
        for stream in self.printed:
            stream.begin()
        sys.stdout, sys.stderr = self.printed
        self.session.send(None, "ready")
        while True:
            try:
                await self._answer(self.session.unpack(await self.frames.next()))
            except EOFError:
                os._exit(0)
            if os.getpid() != self.session.pid:
                os._exit(0)  # a child that a cell forked has nothing to answer

    async def _answer(self, request: dict[str, Any]) -> None:
        header = {"msg_id": request["id"], "msg_type": "execute_request"}
        message = {"header": header, "metadata": {}, "content": request["content"]}
        self.set_parent([], message)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            await self.execute_request(None, [], message)
        except (Exception, KeyboardInterrupt):  # it goes on, as ipykernel does, and nothing is answered
            self.log.exception("a request without an answer")
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        for stream in self.printed:  # which a cell may have replaced
            stream.flush()
        self.session.send(None, "status", {"execution_state": "idle"}, parent=message)

    def _tell(self, name: str, text: str, about: Any) -> None:
        self.session.send(None, "stream", {"name": name, "text": text}, parent=about)


class SocketApp(IPKernelApp):
    """ipykernel's application, without connection file, sockets and threads. It can begin in a fork of the
    process that made it."""

    def begin(self, connection: socket.socket, interrupts: socket.socket) -> None:
        """Answer requests until the other side hangs up."""
        self.init_profile_dir()  # in a fork its folders may not be there
        sys.argv = ["ipykernel_launcher"]
        for command, value in (
            (fcntl.F_SETOWN, os.getpid()),
            (fcntl.F_SETSIG, signal.SIGINT),
            (fcntl.F_SETFL, os.O_ASYNC | os.O_RDWR),
        ):
            fcntl.fcntl(interrupts, command, value)
        asyncio.run(self.kernel.serve(connection, interrupts))

    def init_kernel(self) -> None:
        """Make the kernel."""
        session = FrameSession(parent=self, key=b"")
        self.kernel = SocketKernel.instance(
            parent=self, session=session, profile_dir=self.profile_dir, user_ns=self.user_ns, log=self.log
        )

    def init_io(self) -> None:
        """Standard output is caught when the kernel begins."""
        self.patch_io()

    def _nothing(self) -> None:
        """What ipykernel does here is not needed."""

    init_connection_file = init_poller = init_sockets = init_heartbeat = _nothing
    write_connection_file = log_connection_info = _nothing


def ready() -> SocketApp:
    """A kernel that can begin, here or in a fork of this process."""
    app = SocketApp.instance(config=Config(CONFIG))
    app.initialize([])
    return app


def main() -> None:
    """Serve, in a process of its own."""
    del sys.path[0]  # the folder of this script
    connection, interrupts = (socket.socket(fileno=int(word)) for word in sys.argv[1:])
    ready().begin(connection, interrupts)


if __name__ == "__main__":
    main()
