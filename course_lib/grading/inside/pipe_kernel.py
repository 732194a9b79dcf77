"""IPython's kernel, with pipes in the place of Jupyter's five sockets: it runs submissions in the sandbox.

Kernel and shell are ipykernel's own, so cells do what they do in JupyterLab; only how messages travel
differs: in frames, each its length in four bytes and then JSON. There is neither file nor thread before it
begins, so a kernel can be made ready in one process and begin in a fork of it. A third pipe interrupts:
whatever arrives there becomes a SIGINT. They are pipes, as through a socket a kernel could hand descriptors
to the process that marks, which would have to close them.

Usage: python -m course_lib.grading.inside.pipe_kernel REQUESTS ANSWERS INTERRUPTS
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import signal
import struct
import sys
import threading
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, NoReturn

import tornado.ioloop
from ipykernel.ipkernel import IPythonKernel
from ipykernel.jsonutil import json_clean
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session, extract_header
from traitlets.config import Config

from .closing_in import join_own_keyring
from .frames import Frames
from .stream import Stream, watch

SET_OWNER_EX, OWNER_IS_THREAD = 15, 0  # asm-generic/fcntl.h
CONFIG = {
    "HistoryManager": {"hist_file": ":memory:"},
    "IPKernelApp": {"log_level": logging.CRITICAL},  # there is nobody to read a log
}


class FrameSession(Session):
    """ipykernel's way to send a message, over a pipe: its type, the id of the request that it is about, and
    its content."""

    frames: Frames | None = None

    def send(  # type: ignore[override]
        self,
        stream: Any,
        msg_or_type: Any,
        content: Any = None,
        parent: Any = None,
        *others: Any,
        **more: Any,
    ) -> dict[str, Any]:
        """Send a message, given whole or in parts; a forked child sends none. Returns: it."""
        message = msg_or_type
        if not isinstance(message, dict):
            message = {"msg_type": message, "parent_header": extract_header(parent), "content": content or {}}
        if os.getpid() == self.pid and self.frames is not None:
            about = {"msg_id": message["parent_header"].get("msg_id", "")}
            told = {"msg_type": message["msg_type"], "parent_header": about, "content": message["content"]}
            self.frames.send(_packed(told))
        return message


def _packed(message: dict[str, Any]) -> bytes:
    """A message as JSON in ASCII, which also holds half a letter of UTF-16."""
    try:
        return json.dumps(message, default=json_default).encode()
    except (TypeError, ValueError):
        return json.dumps(json_clean(message), default=repr).encode()


class PipeKernel(IPythonKernel):
    """ipykernel's kernel, which hears and answers over pipes."""

    _supports_kernel_subshells = False

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._execute_sleep = 0  # which is for messages on two sockets
        # Code that waits asks for this thread; here there is one only.
        self.shell_channel_thread = SimpleNamespace(parent_thread=threading.main_thread())
        self._request: ContextVar[Any] = ContextVar("request")
        self._last_request: Any = None
        streams = {"stdout": 1, "stderr": 2}
        self.printed = [Stream(*each, self._about, self._tell) for each in streams.items()]

    async def serve(self, requests: int, answers: int, interrupts: int) -> NoReturn:
        """Answer requests until the other side hangs up."""
        self.io_loop = tornado.ioloop.IOLoop.current()
        # A signal alone wakes no loop: ipykernel's answer to it would wait until something else happens.
        asyncio.get_running_loop().add_reader(interrupts, os.read, interrupts, 1)
        self.frames = self.session.frames = Frames(requests, answers)
        self.session.pid = os.getpid()
        for stream in self.printed:
            stream.begin()
        sys.stdout, sys.stderr = self.printed
        watch(self.printed)
        self.session.send(None, "ready")
        while True:
            try:
                await self._answer(json.loads(await self.frames.next()))
            except EOFError:
                os._exit(0)
            if os.getpid() != self.session.pid:
                os._exit(0)  # a child that a cell forked has nothing to answer

    async def _answer(self, request: dict[str, Any]) -> None:
        header = {"msg_id": request["id"], "msg_type": "execute_request"}
        message = {"header": header, "metadata": {}, "content": request["content"]}
        self.set_parent([], message)
        self._request.set(message)
        self._last_request = message
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            await self.execute_request(None, [], message)
        except (Exception, KeyboardInterrupt) as error:  # of ipykernel, as where a cell replaced what it uses
            reply = {"status": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": []}
            self.session.send(None, "execute_reply", reply, parent=message)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        for stream in self.printed:  # which a cell may have replaced
            stream.flush()
        self.session.send(None, "status", {"execution_state": "idle"}, parent=message)

    def _about(self) -> Any:
        """The request that a task belongs to, or the last one: a thread's text is about what runs now."""
        return self._request.get(self._last_request)

    def _tell(self, name: str, text: str, about: Any) -> None:
        self.session.send(None, "stream", {"name": name, "text": text}, parent=about)


class PipeApp(IPKernelApp):
    """ipykernel's application, without connection file, sockets and threads. It can begin in a fork of the
    process that made it."""

    def begin(self, requests: int, answers: int, interrupts: int) -> NoReturn:
        """Answer requests until the other side hangs up; never returns."""
        self.init_profile_dir()  # in a fork its folders may not be there
        sys.argv = ["ipykernel_launcher"]
        # To this thread: another one would take the signal while this one holds it back.
        owner = struct.pack("ii", OWNER_IS_THREAD, threading.get_native_id())
        for command, value in (
            (SET_OWNER_EX, owner),
            (fcntl.F_SETSIG, signal.SIGINT),
            (fcntl.F_SETFL, os.O_ASYNC),
        ):
            fcntl.fcntl(interrupts, command, value)
        asyncio.run(self.kernel.serve(requests, answers, interrupts))

    def init_kernel(self) -> None:
        """Make the kernel."""
        session = FrameSession(parent=self, key=b"")
        self.kernel = PipeKernel.instance(
            parent=self, session=session, profile_dir=self.profile_dir, user_ns=self.user_ns, log=self.log
        )

    def init_io(self) -> None:
        """Standard output is caught when the kernel begins."""
        self.patch_io()

    def _nothing(self) -> None:
        """What ipykernel does here is not needed."""

    init_connection_file = init_poller = init_sockets = init_heartbeat = _nothing
    write_connection_file = log_connection_info = _nothing


def ready() -> PipeApp:
    """A kernel that can begin, here or in a fork of this process."""
    app = PipeApp.instance(config=Config(CONFIG))
    app.initialize([])
    return app


def main() -> NoReturn:
    """Serve, in a process of its own."""
    del sys.path[0]  # the current folder, to which IPython gives another place
    pipes = [int(word) for word in sys.argv[1:]]
    join_own_keyring()
    ready().begin(*pipes)


if __name__ == "__main__":
    main()
