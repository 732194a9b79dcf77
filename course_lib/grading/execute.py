"""Run a submission, collect, judge outside the kernel, and write the verdicts.

A test cell's own code never runs here: the kernel is asked for bundles instead, and what it sends is data;
the points and sentences in the notebook are written by this process. The order of the questions keeps what is
secret from being told: first the student's cells run, which is the only time that their outputs are kept;
then come the questions with visible inputs, whose sentences may repeat words of the student's code; then
those with hidden inputs; and at last those that bring correct predecessors along.
"""

from __future__ import annotations

import textwrap
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from traitlets import Bool, Float, Integer, Unicode
from traitlets.config import LoggingConfigurable

from course_lib.checks.answer import ask, read_bundle
from course_lib.checks.check import lines
from course_lib.checks.judge import UNREADABLE, Verdict
from course_lib.checks.values import BadRecord, Json, readable
from course_lib.errors import CourseError

from .kernel import TOO_LONG, Gone, Kernel, Message
from .outputs import STOPPED
from .provisioner import NAME as PROVISIONER
from .replay import Replay
from .sanitise import name_of
from .source import Test, VisibleTests

WIDTH = 95  # characters that a feedback page shows of an output; it cuts off the rest
OURS = "The course could not judge this answer, which is no fault of yours: please tell your instructor."


class JudgedExecute(LoggingConfigurable):
    """Execute a notebook for marking. `verdicts` holds the verdict of each test cell.

    The notebook runs in an empty folder of its own: nothing that lies beside a submission is seen.
    `sandboxed` runs it in a closed `Room`, where it sees nothing else of the machine either.
    """

    sandboxed = Bool(True).tag(config=True)
    warm = Bool(True, help="fork kernels from a process with the assignment's imports").tag(config=True)
    kernel_name = Unicode("python3", help="the kernel's specification").tag(config=True)
    timeout = Float(30, help="seconds for one cell, and for one test").tag(config=True)
    total = Float(300, help="seconds for one submission; its own cells get half of it").tag(config=True)
    restarts = Integer(6, help="how often a submission that ends its kernel gets another").tag(config=True)

    def mark(self, notebook: NotebookNode, source: VisibleTests) -> dict[str, Verdict]:
        """Run the notebook, judge every test cell, and write points and sentences into it.

        Returns: the verdict for each test cell's id.
        """
        self.source, self.verdicts = source, dict[str, Verdict]()
        self._stuck: dict[tuple[str, str], str] = {}
        self._replay = Replay(
            notebook.cells,
            source.tests,
            self._kernel,
            seconds=self.timeout,
            total=self.total,
            restarts=self.restarts,
        )
        try:
            self._judge_all()
        finally:
            self._replay.end()
        self._say_why_there_is_none(notebook)
        _write(notebook, self.verdicts)
        return self.verdicts

    def _kernel(self) -> Kernel:
        config = {"modules": self.source.imports if self.warm else []}
        provisioner = {"provisioner_name": PROVISIONER, "config": config}
        try:
            return Kernel(self.kernel_name, provisioner if self.sandboxed else None)
        except Gone:
            raise CourseError("no kernel could be started for this submission; mark it again") from None

    def _judge_all(self) -> None:
        tests = self.source.tests.values()
        try:
            self._replay.run()
        except Gone as gone:
            self.verdicts = {test.cell: _failed(test, str(gone)) for test in tests}
            return
        visible = {test.cell: self._visible(test) for test in tests}
        for test in tests:
            self.verdicts[test.cell] = self._with_hidden(test, visible[test.cell])
        self._stuck = {}
        for test in tests:
            if self._worth_another_try(test):
                self._try_with_correct_predecessors(test)

    def _visible(self, test: Test) -> Json | str:
        """The bundle for the visible inputs, or why there is none."""
        if self._waits_for(test):
            return "It needs an earlier function, which did not come to its end."
        return self._answer(test, self.source.requests(test, hidden=False))

    def _with_hidden(self, test: Test, visible: Json | str) -> Verdict:
        """The verdict on visible and hidden inputs together."""
        if isinstance(visible, str):
            return _failed(test, visible)
        bundle = visible
        request = self.source.requests(test, hidden=True)
        if visible["missing"] is None and request["calls"] and not self._is_stuck(test):
            hidden = self._answer(test, request)
            if isinstance(hidden, str):
                return _failed(test, hidden)
            bundle = visible | {"calls": [*visible["calls"], *hidden["calls"]]}
        return self._judged(test, bundle)

    def _try_with_correct_predecessors(self, test: Test) -> None:
        """Where its predecessors failed, too, this can only be better: in points, or in naming its own fault.
        Where they passed, they may still do something otherwise than the solution. If it fails again, the
        first sentence stays, which may tell more."""
        stand_ins = self.source.stand_ins(test)
        if stand_ins is None:
            return
        bundle = self._answer(test, self.source.requests(test) | {"stand_ins": stand_ins})
        if isinstance(bundle, str):
            verdict = _failed(test, bundle)
        else:  # none of the kernel's words may be told any more
            missing = _in_our_words(bundle["missing"])
            verdict = self._judged(test, bundle | {"missing": missing}, reveal=False)
        if verdict.failed is None or not self._failing.isdisjoint(test.exercise.predecessors):
            self.verdicts[test.cell] = verdict

    def _worth_another_try(self, test: Test) -> bool:
        """Whether a test failed that may build on other functions."""
        return self.verdicts[test.cell].failed is not None and bool(test.exercise.predecessors)

    @property
    def _failing(self) -> set[str]:
        """The functions that failed a test."""
        return {each.function for each in self.verdicts.values() if each.failed is not None}

    def _waits_for(self, test: Test) -> bool:
        """Whether a function that this one may call ends kernels or takes too long, and a correct one can
        stand in for it."""
        stuck = {function for function, _ in self._stuck}
        return not stuck.isdisjoint(test.exercise.predecessors) and self.source.stand_ins(test) is not None

    def _is_stuck(self, test: Test) -> str | None:
        """Why a test need not be asked: one whose cases count for it was not to be answered."""
        keys = [(test.exercise.function, each.name) for each in test.exercise.presupposed(test.behaviour)]
        return next((self._stuck[key] for key in keys if key in self._stuck), None)

    def _answer(self, test: Test, request: Json) -> Json | str:
        """The kernel's bundle, or why there is none."""
        stuck = self._is_stuck(test)
        if stuck is not None:
            return stuck
        outputs: list[Json] = []

        def hear(message: Message) -> None:
            if message["msg_type"] == "display_data":
                outputs.append(message["content"])

        key = (test.exercise.function, test.behaviour.name)
        try:
            code = ask(request | {"place": self._replay.places.get(test.cell)})
            if self._replay.ask(code, hear):
                self._stuck[key] = TOO_LONG
            return read_bundle(outputs)
        except Gone as gone:
            self._stuck[key] = str(gone)
            return str(gone)
        except BadRecord as error:
            self.log.warning("%s: %s", test.cell, error)
            return self._stuck.get(key, UNREADABLE)

    def _judged(self, test: Test, bundle: Json, *, reveal: bool = True) -> Verdict:
        try:
            return self.source.judge(test, bundle, reveal=reveal)
        except Exception:
            self.log.exception("%s could not be judged; the mistake is the course's", test.cell)
            return _failed(test, OURS)

    def _say_why_there_is_none(self, notebook: NotebookNode) -> None:
        """Where a function does not exist because its cell ended with an error, say which."""
        for cell in notebook.cells:
            errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
            for verdict in self.verdicts.values() if errors else ():
                if verdict.function == name_of(cell) and verdict.failed == "exists":
                    last = errors[-1]
                    said = readable(f"{last.ename}: {last.evalue}".split("\n")[0], 200)
                    why = f". {last.evalue}" if last.ename == STOPPED else f": its cell ended with {said}."
                    verdict.sentence = f"There is no {verdict.function}{why}"


def refuse(notebook: NotebookNode, source: VisibleTests, sentence: str) -> dict[str, Verdict]:
    """Instead of running a notebook: no points for any test cell, and the same sentence for all."""
    verdicts = {test.cell: _failed(test, sentence) for test in source.tests.values()}
    _write(notebook, verdicts)
    return verdicts


def _write(notebook: NotebookNode, verdicts: dict[str, Verdict]) -> None:
    for cell in notebook.cells:
        verdict = verdicts.get(name_of(cell) or "")
        if verdict is not None and cell.cell_type == "code":
            cell.outputs = written(verdict)


def _failed(test: Test, sentence: str) -> Verdict:
    """No points, and why."""
    behaviour = test.behaviour
    return Verdict(
        test.exercise.function,
        behaviour.name,
        behaviour.title,
        behaviour.points,
        failed="runs",
        sentence=sentence,
    )


def _in_our_words(missing: str | None) -> str | None:
    """Why a function could not be called, without what the kernel says beyond that."""
    if missing is None:
        return None
    return "arguments: it takes others" if missing.startswith("arguments: ") else "absent"


def written(verdict: Verdict) -> list[Any]:
    """A verdict as the outputs of its test cell: sentences to read, and the points as nbgrader reads them."""
    text = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="      ") for line in lines(verdict))
    points = min(max(float(verdict.points), 0.0), float(verdict.max_points))
    return [
        new_output("display_data", {"text/plain": text}),
        new_output("execute_result", {"text/plain": repr(points)}, execution_count=None),
    ]
