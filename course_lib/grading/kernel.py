"""One kernel: run code in it, hear what it says, and never wait for it without end.

Nothing that comes out of a kernel is believed or waited for: messages that are malformed, too large or about
something else are passed over, and one that is silent, dead or too talkative ends with a reason in words.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

STARTUP = 60.0  # seconds
GRACE = 4.0  # seconds from an interrupt to the answer, and from the answer to the last output
MAX_MESSAGE = 16 * 2**20  # bytes
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


class Kernel(ABC):
    """A running kernel. How it is reached is left to those who inherit."""

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
        reply: Message | None = None
        idle = interrupted = False
        heard = 0
        deadline = time.monotonic() + seconds
        try:
            asked = self.ask(
                {
                    "code": code,
                    "silent": False,
                    "store_history": bool(code),
                    "user_expressions": {EXPRESSION: expression} if expression else {},
                    "allow_stdin": False,
                    "stop_on_error": False,
                }
            )
            while reply is None or not idle:
                if time.monotonic() > deadline:
                    if reply is not None:
                        self.settle()  # only its last outputs are lost, unless nothing comes any more
                        break
                    if interrupted:
                        raise Gone(TOO_LONG)
                    self.interrupt()
                    interrupted, deadline = True, time.monotonic() + GRACE
                for message, size in self.received(deadline - time.monotonic()):
                    if message["parent_header"].get("msg_id") != asked:
                        continue
                    heard += size
                    if heard > MAX_HEARD:
                        raise Gone(TOO_MUCH)
                    if message["msg_type"] == "execute_reply":
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

    @abstractmethod
    def ask(self, content: Message) -> str:
        """Send an execute_request. Returns: its id."""

    @abstractmethod
    def received(self, seconds: float) -> Iterator[tuple[Message, int]]:
        """Well-formed messages that have arrived, or arrive within so many seconds at the most, with their
        sizes in bytes. Raises: Gone when the kernel has ended."""

    @abstractmethod
    def settle(self) -> None:
        """Where a reply came, but not the end of what it is about: wait until the kernel answers something
        else. Raises: Gone when it does not."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop what runs, by a KeyboardInterrupt."""

    @abstractmethod
    def end(self) -> None:
        """Kill the kernel and all that it started; delete what it leaves behind."""


def well_formed(message: Message) -> bool:
    """Whether a message has all that is looked at without asking again what it is."""
    parent, content, kind = map(message.get, ("parent_header", "content", "msg_type"))
    return (
        isinstance(parent, dict)
        and isinstance(parent.get("msg_id"), str)
        and isinstance(content, dict)
        and isinstance(kind, str)
    )
