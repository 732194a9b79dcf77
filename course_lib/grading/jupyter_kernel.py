"""A kernel of Jupyter's, started by jupyter_client: for marking with the marker's own rights."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.manager import KernelManager

from .kernel import ENDED, GRACE, MAX_MESSAGE, SILENT, STARTUP, Gone, Kernel, Message, well_formed
from .leftovers import remove_folder, remove_leftovers

ALIVE_EVERY = 0.2  # seconds
MAX_WAITING = 100  # messages that wait to be read


class JupyterKernel(Kernel):
    """A kernel in an empty folder, with a larger message than `MAX_MESSAGE` cut off by its sockets.

    Parameters: name of the kernel's specification.
    Raises: Gone when it does not start.
    """

    def __init__(self, name: str) -> None:
        remove_leftovers()
        self.folder = tempfile.mkdtemp(prefix=f"marking-{os.getpid()}-")
        self.manager = KernelManager(kernel_name=name)
        self.manager.context.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE)
        self.manager.context.setsockopt(zmq.RCVHWM, MAX_WAITING)
        if os.name == "posix":
            self.manager.transport, self.manager.ip = "ipc", os.path.join(self.folder, "kernel")
        self._sockets: list[zmq.Socket[bytes]] = []
        try:
            self.manager.start_kernel(
                extra_arguments=["--HistoryManager.hist_file=:memory:"],
                cwd=self.folder,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                stdout=subprocess.DEVNULL,  # past the kernel, into the marker's own terminal
                stderr=subprocess.DEVNULL,
            )
            self.shell, self.iopub = self.manager.connect_shell(), self.manager.connect_iopub()
            self._sockets = [self.shell, self.iopub]
            self._greet(STARTUP)
        except BaseException:
            self.end()
            raise

    def ask(self, content: Message) -> str:
        """Send an execute_request. Returns: its id."""
        return self._send("execute_request", content)

    def received(self, seconds: float) -> Iterator[tuple[Message, int]]:
        """Well-formed messages that have arrived or arrive soon, with their sizes. Raises: Gone."""
        for _, message, size in self._received(seconds):
            yield message, size

    def settle(self) -> None:
        """Wait until the kernel answers something else. Raises: Gone when it does not."""
        self._greet(GRACE)

    def interrupt(self) -> None:
        """Stop what runs, by a KeyboardInterrupt."""
        self.manager.interrupt_kernel()

    def end(self) -> None:
        """Kill the kernel and all that it started; delete what it leaves behind."""
        for socket in self._sockets:
            socket.close(linger=0)
        self._sockets = []
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)
        else:
            self.manager.cleanup_resources()
        remove_folder(Path(self.folder))

    def _greet(self, seconds: float) -> None:
        """Wait until the kernel answers and its outputs arrive: those before that are lost."""
        end = time.monotonic() + seconds
        answers = shows = False
        mine: set[str] = set()
        while not (answers and shows):
            if time.monotonic() > end:
                raise Gone(SILENT)
            if answers or not mine:
                mine.add(self._send("kernel_info_request", {}))
            until = time.monotonic() + (0.1 if answers else 1.0)
            while time.monotonic() < until and not (answers and shows):
                for socket, message, _ in self._received(until - time.monotonic()):
                    if message["parent_header"].get("msg_id") in mine:
                        answers, shows = answers or socket is self.shell, shows or socket is self.iopub

    def _send(self, kind: str, content: Message) -> str:
        message = self.manager.session.send(self.shell, kind, content=dict(content))
        return str(message["header"]["msg_id"])

    def _received(self, seconds: float) -> Iterator[tuple[Any, Message, int]]:
        wait = max(0.0, min(seconds, ALIVE_EVERY))
        ready, _, _ = zmq.select(self._sockets, [], [], wait)
        if not ready and not self.manager.is_alive():
            raise Gone(ENDED)
        for socket in ready:
            parts = socket.recv_multipart()
            try:
                _, signed = self.manager.session.feed_identities(parts)
                message = self.manager.session.deserialize(signed)
            except Exception:  # whatever a kernel can send that is no message
                continue
            if well_formed(message):
                yield socket, message, sum(map(len, parts))
