"""The solution's answers to hidden cases, from a kernel that ran nothing else."""

from __future__ import annotations

from collections.abc import Callable

from course_lib.checks import hidden
from course_lib.checks.values import BadRecord

from .kernel import TOO_LONG, Gone, Kernel, Message
from .questions import Displays
from .source import Source

SECONDS = 300.0  # for each cell of the solution, and for all answers


def answer_in_kernel(source: Source, start: Callable[[], Kernel]) -> None:
    """Let the solution answer all hidden cases in a kernel, which has imported what it needs.

    Raises: Gone or BadRecord when it does not.
    """
    kernel, heard = start(), Displays()
    try:
        for code in source.code():
            _expect_success(*kernel.run(code, SECONDS, lambda message: None))
        question = hidden.ask(source.assignment, source.secret)
        _expect_success(*kernel.run("", SECONDS, heard.hear, expression=question))
    finally:
        kernel.end()
    source.keep(hidden.read(heard.contents))


def _expect_success(reply: Message, interrupted: bool) -> None:
    if interrupted:
        raise Gone(TOO_LONG)
    if reply["status"] != "ok":
        raise BadRecord(f"{reply['ename']}: {reply['evalue']}")
