"""Run a submission, collect at each test cell, judge outside the kernel, and write the verdicts.

A test cell's own code never runs here: in its place the kernel is asked for one bundle. What a kernel sends
is data; the points and sentences in the notebook are written by this process.
"""

from __future__ import annotations

import os
import tempfile
import textwrap
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from traitlets import Bool

from course_lib.checks.answer import ask, read_bundle
from course_lib.checks.check import lines
from course_lib.checks.judge import UNREADABLE, Verdict
from course_lib.checks.values import BadRecord, Json, readable

from .outputs import kept
from .provisioner import NAME as PROVISIONER
from .sanitise import name_of
from .source import Test, VisibleTests

TOO_LONG = "It took too long: is there a loop that does not end?"
ENDED = "The notebook's kernel ended before this test could run."
WIDTH = 95  # characters that a feedback page shows of an output; it cuts off the rest
OURS = "The course could not judge this answer, which is no fault of yours: please tell your instructor."


class JudgedExecute(Execute):
    """Execute a notebook for marking. `verdicts` holds the verdict of each test cell.

    The notebook runs in an empty folder of its own: nothing that lies beside a submission is seen.
    `sandboxed` runs it in a closed `Room`, where it sees nothing else of the machine either.
    """

    sandboxed = Bool(True).tag(config=True)
    _asking = False

    def mark(self, notebook: NotebookNode, source: VisibleTests) -> dict[str, Verdict]:
        """Run the notebook, judge every test cell, and write points and sentences into it.

        Returns: the verdict for each test cell's id.
        """
        self.verdicts: dict[str, Verdict] = {}
        self.source, self._ended, self._asking = source, None, False
        os.environ["OMP_NUM_THREADS"] = "1"
        with (
            tempfile.TemporaryDirectory(prefix="marking-") as folder,
            tempfile.TemporaryDirectory() as sockets,
        ):
            self._sockets = sockets
            self.preprocess(notebook, {"metadata": {"path": folder}})
        self._say_why_there_is_none(notebook)
        for cell in notebook.cells:
            verdict = self.verdicts.get(name_of(cell) or "")
            if cell.cell_type == "code":
                cell.outputs = kept(cell.outputs) if verdict is None else written(verdict)
        return self.verdicts

    def preprocess(self, nb: NotebookNode, resources: Any = None, km: Any = None) -> tuple[NotebookNode, Any]:
        """Run all cells; at a test cell ask for a bundle instead. What failed with the student's own
        predecessors is asked again, at the very end, with correct ones; the better result counts."""
        self._prepare(nb, km, resources)
        with self.setup_kernel():
            for index, cell in enumerate(list(nb.cells)):
                test = self.source.tests.get(name_of(cell) or "") if cell.cell_type == "code" else None
                if test is not None:
                    self.verdicts[test.cell] = self._judged(test)
                elif self._ended is None:
                    self._run(cell, resources, index)
            for test in self.source.tests.values():
                if self._worth_another_try(test):
                    self._try_with_correct_predecessors(test)
        return nb, resources

    def _say_why_there_is_none(self, notebook: NotebookNode) -> None:
        """Where a function does not exist because its cell ended with an error, say which."""
        for cell in notebook.cells:
            errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
            for verdict in self.verdicts.values() if errors else ():
                if verdict.function == name_of(cell) and verdict.failed == "exists":
                    said = readable(f"{errors[0].ename}: {errors[0].evalue}".splitlines()[0], 200)
                    verdict.sentence = f"There is no {verdict.function}: its cell ended with {said}."

    def create_kernel_manager(self) -> Any:
        """A kernel manager that starts its kernel in a sandbox; without one it still talks over private
        sockets, not over ports, where there are such sockets."""
        manager = super().create_kernel_manager()
        if self.sandboxed:
            manager.kernel_spec.metadata["kernel_provisioner"] = {"provisioner_name": PROVISIONER}
        elif os.name == "posix":
            manager.transport = "ipc"
            manager.ip = os.path.join(self._sockets, "kernel")
        return manager

    def _prepare(self, nb: NotebookNode, km: Any, resources: Any) -> None:
        from nbclient import NotebookClient

        NotebookClient.__init__(self, nb, km)
        self.reset_execution_trackers()
        self._check_assign_resources(resources)

    def _run(self, cell: NotebookNode, resources: Any, index: int) -> None:
        try:
            self.preprocess_cell(cell, resources, index)
        except Exception as error:  # a kernel can send what nbclient does not survive
            self._end(_reason(error))

    def _judged(self, test: Test, stand_ins: Json = None) -> Verdict:
        request = self.source.requests(test)
        if stand_ins is not None:
            request = request | {"stand_ins": stand_ins}
        bundle, trouble = self._answer(request)
        if trouble is None:
            try:
                return self.source.judge(test, bundle)
            except Exception:
                self.log.exception("%s could not be judged; the mistake is the course's", test.cell)
                trouble = OURS
        return Verdict(
            test.exercise.function,
            test.behaviour.name,
            test.behaviour.title,
            test.behaviour.points,
            failed="runs",
            sentence=trouble,
        )

    def _answer(self, request: Json) -> tuple[Json, str | None]:
        """The kernel's bundle, or why there is none."""
        if self._ended is not None:
            return None, self._ended
        cell = new_code_cell(ask(request))
        self.nb.cells.append(cell)
        self._asking = True
        try:
            self.execute_cell(cell, len(self.nb.cells) - 1, store_history=False)
        except Exception as error:
            self._end(_reason(error))
            return None, _reason(error)
        finally:
            self._asking = False
            self.nb.cells.pop()
        try:
            return read_bundle(cell.outputs), None
        except BadRecord as error:
            timed_out = any(output.get("ename") == "CellTimeoutError" for output in cell.outputs)
            self.log.warning("%s: %s", request["function"], error)
            return None, TOO_LONG if timed_out else UNREADABLE

    def process_message(self, msg: Any, cell: NotebookNode, cell_index: int) -> Any:
        """While a kernel is asked, hear nothing but the answer: nothing may change what other cells show."""
        if self._asking:
            if msg["msg_type"] not in ("status", "execute_input", "display_data"):
                return None
            msg["content"].pop("transient", None)
        return super().process_message(msg, cell, cell_index)

    def _end(self, reason: str) -> None:
        """The kernel is of no more use: stop it, and keep the reason for every test to come."""
        self._ended = ENDED if reason == ENDED else f"{ENDED} {reason}"
        if self.km is not None and run_sync(self.km.is_alive)():
            run_sync(self.km.shutdown_kernel)(now=True)

    def _worth_another_try(self, test: Test) -> bool:
        """Whether a test failed while one of the functions it may build on failed too."""
        failed = {each.function for each in self.verdicts.values() if each.failed is not None}
        mine = self.verdicts.get(test.cell)
        return (
            self._ended is None
            and mine is not None
            and mine.failed is not None
            and not failed.isdisjoint(test.exercise.predecessors)
        )

    def _try_with_correct_predecessors(self, test: Test) -> None:
        stand_ins = self.source.stand_ins(test)
        if stand_ins is not None:
            # It failed before, so this can only be better: in points, or in naming what is its own fault.
            self.verdicts[test.cell] = self._judged(test, stand_ins)


def _reason(error: Exception) -> str:
    """What a student is told when a kernel is of no more use."""
    if isinstance(error, CellTimeoutError):
        return TOO_LONG
    return ENDED if isinstance(error, DeadKernelError) else UNREADABLE


def written(verdict: Verdict) -> list[NotebookNode]:
    """A verdict as the outputs of its test cell: sentences to read, and the points as nbgrader reads them."""
    text = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="      ") for line in lines(verdict))
    points = min(max(float(verdict.points), 0.0), float(verdict.max_points))
    return [
        new_output("display_data", {"text/plain": text}),
        new_output("execute_result", {"text/plain": repr(points)}, execution_count=None),
    ]
