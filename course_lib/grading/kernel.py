"""One kernel: start it, run code in it, hear what it says, and never wait for it without end.

Nothing that comes out of a kernel is believed or waited for: messages that are malformed, too large or about
something else are passed over, and one that is silent, dead or too talkative ends with a reason in words.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.manager import KernelManager

from .leftovers import remove_folder, remove_leftovers
from .provisioner import SandboxProvisioner

STARTUP = 60.0  # seconds
GRACE = 4.0  # seconds from an interrupt to the answer, and from the answer to the last output
ALIVE_EVERY = 0.2  # seconds
MAX_MESSAGE = 16 * 2**20  # bytes; a larger message is cut off by the socket
MAX_WAITING = 100  # messages that wait to be read
MAX_HEARD = 32 * 2**20  # bytes that one run of code may send

EXPRESSION = "ours"  # what the reply calls it

ENDED = "The notebook's kernel ended. Does the code stop it, or use too much memory?"
EXIT = "exit() and quit() end the notebook's kernel."
TOO_LONG = "It took too long: is there a loop that does not end?"
TOO_MUCH = "It wrote without end. Is there a loop that prints?"
SILENT = "What the notebook sent back could not be read."

Message = Mapping[str, Any]


class Gone(Exception):
    """The kernel is of no more use; the message says why, in words for a student."""


class Kernel:
    """A running kernel, in a sandbox or not.

    Parameters: name of the kernel's specification; provisioner, what jupyter_client finds in the
    specification to start the kernel otherwise than as a plain process with a folder of its own.
    Raises: Gone when it does not start.
    """

    def __init__(self, name: str, provisioner: Mapping[str, Any] | None) -> None:
        remove_leftovers()
        self.folder = tempfile.mkdtemp(prefix=f"marking-{os.getpid()}-")
        self.manager = KernelManager(kernel_name=name)
        self.manager.context.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE)
        self.manager.context.setsockopt(zmq.RCVHWM, MAX_WAITING)
        if provisioner is not None:
            self.manager.kernel_spec.metadata["kernel_provisioner"] = provisioner
        elif os.name == "posix":
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
            self._greet()
            if isinstance(self.manager.provisioner, SandboxProvisioner):
                self.manager.provisioner.close_room()
        except BaseException:
            self.end()
            raise

    def run(
        self, code: str, seconds: float, hear: Callable[[Message], None], *, expression: str = ""
    ) -> tuple[Message, bool]:
        """Run code, and pass on what it shows.

        Parameters: seconds until it is interrupted; hear, takes each message about this code; expression, one
        of ours, to be evaluated after it. Without code it comes without IPython's work on cells (magics,
        hooks, history), which would take longer than most answers.
        Returns: the content of the kernel's reply, and whether it was interrupted.
        Raises: Gone when the kernel cannot be used any more; it is ended then.
        """
        content = {
            "code": code,
            "silent": False,
            "store_history": bool(code),
            "user_expressions": {EXPRESSION: expression} if expression else {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        asked = self._send("execute_request", content)
        reply: Message | None = None
        idle = interrupted = False
        heard = 0
        deadline = time.monotonic() + seconds
        try:
            while reply is None or not idle:
                if time.monotonic() > deadline:
                    if reply is not None:
                        self._greet(GRACE)  # only its last outputs are lost, unless nothing comes any more
                        break
                    if interrupted:
                        raise Gone(TOO_LONG)
                    self.manager.interrupt_kernel()
                    interrupted, deadline = True, time.monotonic() + GRACE
                for socket, message, size in self._received(deadline - time.monotonic()):
                    if message["parent_header"].get("msg_id") != asked:
                        continue
                    heard += size
                    if heard > MAX_HEARD:
                        raise Gone(TOO_MUCH)
                    if socket is self.shell:
                        reply, deadline = message["content"], min(deadline, time.monotonic() + GRACE)
                    elif message["msg_type"] == "status":
                        idle = idle or message["content"].get("execution_state") == "idle"
                    elif not idle:
                        hear(message)
            if any(each.get("source") == "ask_exit" for each in reply.get("payload") or ()):
                raise Gone(EXIT)
        except BaseException as error:
            self.end()
            if isinstance(error, KeyboardInterrupt) or (isinstance(error, Gone) and not interrupted):
                raise
            raise Gone(TOO_LONG if interrupted else SILENT) from error
        return reply, interrupted

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

    def _greet(self, seconds: float = STARTUP) -> None:
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
        """Messages that have arrived, or arrive soon, with their sizes; only well-formed ones."""
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
            if _well_formed(message):
                yield socket, message, sum(map(len, parts))


def _well_formed(message: Message) -> bool:
    """Whether a message has all that is looked at without asking again what it is."""
    parent, content, kind = message["parent_header"], message["content"], message["msg_type"]
    return (
        isinstance(parent, dict)
        and isinstance(parent.get("msg_id"), str)
        and isinstance(content, dict)
        and isinstance(kind, str)
    )
