"""A submission's own cells, run in a kernel that is started again when they, or a test, end it.

All of the student's cells run before the first question is asked, and only this first run shows anything: so
no cell can print what the questions hold. For each test cell the kernel keeps the names as they are at its
place; a question is answered with these, as if it had been asked there.

Which cell broke a kernel cannot be told from outside: a thread or a process that one of them started may end
it while another runs. Where a kernel was lost, an answer can be asked once more in one that ran no other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course_lib.checks.answer import remember

from .kernel import EXPRESSION, TOO_LONG, Gone, Kernel, Message
from .outputs import Shown, kept, stopped
from .sanitise import name_of

TOO_OFTEN = "The notebook ended its kernel too often to go on."
NO_TIME = "There was no time left for it: what stands before it took too long."
TOGETHER = 10.0  # seconds for all questions at once
AGAIN = 2.0  # seconds for a cell that did not come to its end the first time
REMEMBER = 10.0
LAST_TRY = 10.0  # seconds for a question that is asked once more


class Replay:
    """The cells of one notebook and the kernel that they run in.

    Parameters: cells, of which those named in `tests` do not run; start, makes a kernel; seconds for one cell
    and for one question; total, seconds for everything, of which the cells get half; restarts, how many
    kernels may be started after the first one.
    """

    def __init__(
        self,
        cells: list[NotebookNode],
        tests: Collection[str],
        start: Callable[[], Kernel],
        *,
        seconds: float,
        total: float,
        restarts: int,
    ) -> None:
        self.cells, self.tests, self.start = cells, tests, start
        self.seconds, self.total, self.starts_left = seconds, total, restarts + 1
        self.deadline = time.monotonic() + total
        self.places: dict[str, int] = {}
        self.lost_one = False  # whether a kernel ended, or was ended since it did not answer
        self._kernel: Kernel | None = None
        self._shown = Shown()
        self._ran: set[int] = set()
        self._slow: set[int] = set()
        self._ending: set[int] = set()
        self._left_out: set[int] = set()
        self._at = 0

    def run(self) -> None:
        """Run the student's cells. Raises: Gone when no kernel survives them."""
        while self._kernel is None:
            if self.starts_left == 0:
                raise Gone(TOO_OFTEN)
            self.starts_left -= 1
            self._kernel = self.start()
            try:
                self._run_cells(self._kernel)
            except Gone as gone:
                self._kernel, self.lost_one = None, True
                self._ending.add(self._at)  # the next time, run all but this
                if name_of(self.cells[self._at]) not in self.tests:
                    self.cells[self._at].outputs.append(stopped(str(gone)))

    def only(self, answer: str, others: Collection[str], *, own: bool) -> None:
        """From now on answer in a new kernel that did not run the cells named in `others`.

        Parameters: answer, the name of the cell in question, which is given another chance where it seemed to
        end kernels; own, whether the student's cells without a name run.
        """
        self.end()
        names = [name_of(cell) for cell in self.cells]
        mine = {index for index, name in enumerate(names) if name == answer}
        self._left_out = {i for i, name in enumerate(names) if name in others or (name is None and not own)}
        self._ending -= mine
        self._ran -= mine  # nothing secret is in that kernel yet: what the cell shows may be kept
        self.starts_left = max(self.starts_left, 1)
        self.seconds = min(self.seconds, LAST_TRY)

    @property
    def has_own(self) -> bool:
        """Whether there is code of the student's outside the exercise's own cells."""
        code = [cell for cell in self.cells if cell.cell_type == "code" and name_of(cell) is None]
        return any(cell.source.strip() for cell in code)

    def ask(self, code: str, hear: Callable[[Message], None]) -> bool:
        """Run code of ours after the student's cells, in a new kernel if the last one ended.

        Returns: whether it had to be interrupted. Raises: Gone, with the reason, when the kernel ended.
        """
        self.run()
        assert self._kernel is not None
        seconds = min(self.seconds, self.deadline - time.monotonic())
        if seconds <= 0:
            raise Gone(NO_TIME)
        try:
            return self._kernel.run("", seconds, hear, expression=code)[1]
        except Gone:
            self._kernel, self.lost_one = None, True
            raise

    def ask_together(self, code: str, hear: Callable[[Message], None]) -> bool:
        """Run code that asks many questions at once, which takes far less time, where nothing goes wrong.

        Returns: whether it ran. If not, the kernel is given up, and nothing has been lost by trying.
        """
        self.run()
        assert self._kernel is not None
        seconds = min(self.seconds, TOGETHER, self.deadline - time.monotonic())
        try:
            interrupted = self._kernel.run("", max(seconds, 0.0), hear, expression=code)[1]
        except Gone:
            self._kernel, interrupted = None, True
        if interrupted:
            self.give_up()
        return not interrupted

    def give_up(self) -> None:
        """Answer in a new kernel from now on, which does not count among the restarts."""
        self.end()
        self.starts_left += 1

    def end(self) -> None:
        """Stop the kernel, if there is one."""
        if self._kernel is not None:
            self._kernel.end()
            self._kernel = None

    def _run_cells(self, kernel: Kernel) -> None:
        end = min(self.deadline, time.monotonic() + self.total / 2)
        place, changed = 0, True
        for index, cell in enumerate(self.cells):
            self._at, name = index, name_of(cell)
            if cell.cell_type != "code":
                continue
            if name not in self.tests:
                changed = not self._run_cell(kernel, index, cell, end)
                place = place if changed else index
                continue
            if changed and index not in self._ending:
                kernel.run("", REMEMBER, _ignore, expression=remember(index))
                place, changed = index, False
            self.places[name] = place

    def _run_cell(self, kernel: Kernel, index: int, cell: NotebookNode, end: float) -> bool:
        """Run a cell. Returns: whether the names were kept as they are after it, which is tried where a test
        is next: it saves the kernel a message."""
        if index in self._ending | self._left_out or not cell.source.strip():
            return False
        outputs, reply = self._shown.cell(), None
        seconds = min(AGAIN if index in self._slow else self.seconds, end - time.monotonic())
        expression = remember(index) if self._is_before_a_test(index) else ""
        try:
            if seconds > 0:
                reply, interrupted = kernel.run(cell.source, seconds, outputs.hear, expression=expression)
                if interrupted:
                    self._slow.add(index)
                    outputs.stop(TOO_LONG)
        finally:
            if index not in self._ran:
                self._ran.add(index)
                if seconds <= 0:
                    outputs.stop(NO_TIME)
                cell.outputs = kept(_with_error(outputs.outputs, reply))
        return bool(expression) and _evaluated(reply)

    def _is_before_a_test(self, index: int) -> bool:
        """Whether the next cell with code is a test's."""
        code = (cell for cell in self.cells[index + 1 :] if cell.cell_type == "code")
        return name_of(next(code, NotebookNode())) in self.tests


def _evaluated(reply: Message | None) -> bool:
    """Whether a kernel says that it evaluated the expression that it was sent with a cell."""
    said = (reply or {}).get("user_expressions")
    ours = said.get(EXPRESSION) if isinstance(said, dict) else None
    return isinstance(ours, dict) and ours.get("status") == "ok"


def _ignore(message: Message) -> None:
    pass


def _with_error(outputs: list[NotebookNode], reply: Message | None) -> list[NotebookNode]:
    """An error that a cell kept from being shown still stands in the kernel's reply."""
    if (
        reply is None
        or reply.get("status") != "error"
        or any(each.output_type == "error" for each in outputs)
    ):
        return outputs
    name, value = str(reply.get("ename"))[:200], str(reply.get("evalue"))[:1000]
    return [*outputs, new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}"])]
