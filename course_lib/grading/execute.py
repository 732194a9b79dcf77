"""Run a submission, collect, judge outside the kernel, and write the verdicts.

A test cell's own code never runs here: the kernel is asked for bundles instead, and what it sends is data;
the points and sentences in the notebook are written by this process. The order of the questions keeps what is
secret from being told: first the student's cells run, which is the only time that their outputs are kept;
then come the questions with visible inputs, whose sentences may repeat words of the student's code; then
those with hidden inputs; and at last those that bring correct predecessors along. Where a kernel was lost or
robbed on the way, they are asked in kernels that ran no other answer: what did it costs its own points only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nbformat import NotebookNode
from traitlets import Bool, Float, Integer, Unicode
from traitlets.config import LoggingConfigurable

from course_lib.checks.judge import UNREADABLE, Verdict
from course_lib.checks.values import BadRecord, Json
from course_lib.errors import CourseError

from .jupyter_kernel import JupyterKernel
from .kernel import Gone, Kernel
from .questions import Questions, can_answer
from .replay import Replay
from .sandboxed_kernel import SandboxedKernel
from .solved import answer_in_kernel
from .source import PartKey, Source, Test, VisibleTests
from .verdicts import failed, in_our_words, robbed, say_why_there_is_none, write

OURS = "The course could not judge this answer, which is no fault of yours: please tell your instructor."


class JudgedExecute(LoggingConfigurable):
    """Execute a notebook for marking. `verdicts` holds the verdict of each test cell.

    The notebook runs in an empty folder of its own: nothing that lies beside a submission is seen.
    `sandboxed` runs it where it sees nothing else of the machine either.
    """

    sandboxed = Bool(True).tag(config=True)
    warm = Bool(True, help="fork kernels from a process with the assignment's imports").tag(config=True)
    kernel_name = Unicode("python3", help="the kernel's specification, where there is no sandbox").tag(
        config=True
    )
    timeout = Float(30, help="seconds for one cell, and for one test").tag(config=True)
    total = Float(300, help="seconds for one submission; its own cells get half of it").tag(config=True)
    restarts = Integer(6, help="how often a submission that ends its kernel gets another").tag(config=True)

    def mark(self, notebook: NotebookNode, source: VisibleTests) -> dict[str, Verdict]:
        """Run the notebook, judge every test cell, and write points and sentences into it.

        Returns: the verdict for each test cell's id.
        """
        self.prepare(source)
        self.source, self.verdicts = source, dict[str, Verdict]()
        self._unanswered: set[str] = set()
        self._known: dict[int | None, dict[PartKey, Verdict]] = {}
        self._replay = Replay(
            notebook.cells,
            source.tests,
            self._kernel,
            seconds=self.timeout,
            total=self.total,
            restarts=self.restarts,
        )
        self._ask = Questions(self._replay, self.log)
        try:
            self._judge_all()
        finally:
            self._replay.end()
        if not self._ask.answered:
            self._expect_a_kernel_that_answers()
        say_why_there_is_none(notebook, self.verdicts)
        write(notebook, self.verdicts)
        return self.verdicts

    def prepare(self, source: VisibleTests) -> None:
        """Let the solution answer the hidden cases, once, where kernels have imported what it needs: this
        process would wait longest for that."""
        if not (self.sandboxed and self.warm) or not isinstance(source, Source) or source.is_answered:
            return
        try:
            answer_in_kernel(source, partial(SandboxedKernel, source.imports))
        except (BadRecord, Gone) as error:
            self.log.warning("the solution is asked here, as it did not answer in a kernel: %s", error)

    def _kernel(self) -> Kernel:
        try:
            if not self.sandboxed:
                return JupyterKernel(self.kernel_name)
            return SandboxedKernel(self.source.imports if self.warm else [])
        except Gone:
            raise CourseError("no kernel could be started for this submission; mark it again") from None

    def _expect_a_kernel_that_answers(self) -> None:
        """Raise CourseError where it is not the submission's fault that nothing was answered."""
        kernel = self._kernel()
        try:
            if not can_answer(kernel):
                raise CourseError(
                    "a kernel in which nothing ran does not answer either: is this course_lib installed in "
                    "the environment that marks?"
                )
        finally:
            kernel.end()

    def _judge_all(self) -> None:
        tests = list(self.source.tests.values())
        try:
            self._replay.run()
            at_once = self._together(tests, hidden=False)
            visible = {test.cell: at_once.get(test.cell) or self._visible(test) for test in tests}
            found = [test for test in tests if at_once and visible[test.cell]["missing"] is None]
            at_once = self._together(found, hidden=True)
            for test in tests:
                self.verdicts[test.cell] = self._with_hidden(test, visible[test.cell], at_once.get(test.cell))
        except Gone as gone:  # no kernel survived the cells
            self.verdicts = {test.cell: self._no_answer(test, str(gone)) for test in tests}
        self._trouble = (
            self._ask.trouble
            or self._replay.lost_one
            or len(self._ask.stuck) > 1
            or robbed(self._replay.cells, self.verdicts)
            or any(verdict.sentence == UNREADABLE for verdict in self.verdicts.values())
        )
        self._ask.forget()
        for function in dict.fromkeys(test.exercise.function for test in tests):
            self._try_again([test for test in tests if test.exercise.function == function])

    def _visible(self, test: Test) -> Json | str:
        """The bundle for the visible inputs, or why there is none."""
        if self._waits_for(test):
            return "It needs an earlier function, which did not come to its end."
        return self._ask.answer(test, self.source.requests(test, hidden=False))

    def _together(self, tests: Sequence[Test], *, hidden: bool) -> dict[str, Json]:
        """The bundles of these tests, asked at once, and each case once only, for however many tests it
        counts; nothing where anything is not as it should be."""
        places = {test.cell: self._ask.place(test) for test in tests}
        requests = {
            (part.key, places[test.cell]): self._ask.at_place(test, part.request)
            for test in tests
            for part in self.source.parts(test)
            if part.reveal is not hidden and (part.reveal or part.request["calls"])
        }
        answers = self._ask.together(requests)
        bundles = {}
        for test in tests if answers else ():
            here = {key: each for (key, place), each in answers.items() if place == places[test.cell]}
            bundles[test.cell] = self.source.bundle(test, here, hidden=hidden)
        return bundles

    def _with_hidden(self, test: Test, visible: Json | str, hidden: Json | None) -> Verdict:
        """The verdict on visible and hidden inputs together; the latter are asked if there is no bundle."""
        if isinstance(visible, str):
            return self._no_answer(test, visible)
        if hidden is not None:
            known = self._known.setdefault(self._ask.place(test), {})
            return self._judged(test, _joined(visible, hidden), known=known)
        request = self.source.requests(test, hidden=True)
        stuck = self._ask.is_stuck(test)
        if visible["missing"] is not None or not request["calls"] or stuck is not None:
            verdict = self._judged(test, visible)
            # What is not there of the hidden inputs cannot be read; why it is not there is known.
            unread = stuck is not None and verdict.sentence == UNREADABLE
            return self._no_answer(test, str(stuck)) if unread else verdict
        answer = self._ask.answer(test, request)
        if isinstance(answer, str):
            return self._no_answer(test, answer)
        return self._judged(test, _joined(visible, answer))

    def _no_answer(self, test: Test, why: str) -> Verdict:
        self._unanswered.add(test.cell)
        return failed(test, why)

    def _try_again(self, tests: list[Test]) -> None:
        """Ask once more what may have failed by another's fault: with correct predecessors and, after
        trouble, in a kernel that ran no other answer; first without the student's own cells."""
        if not self._trouble:
            if tests[0].exercise.predecessors:
                self._try_with_correct_predecessors(tests)
            return
        function = tests[0].exercise.function
        others = {test.exercise.function for test in self.source.tests.values()} - {function}
        for own in (False, True) if self._replay.has_own else (True,):
            self._replay.only(function, others, own=own)
            self._try_with_correct_predecessors(tests)

    def _try_with_correct_predecessors(self, tests: list[Test]) -> None:
        """Ask the tests that failed, with correct functions for those that they may call."""
        for test in tests:
            if self.verdicts[test.cell].failed is None:
                continue
            asked = self.source.requests(test) | {"stand_ins": self.source.stand_ins(test)}
            bundle = self._ask.answer(test, asked)
            if isinstance(bundle, str):
                verdict = failed(test, bundle)
            else:  # none of the kernel's words may be told any more
                missing = in_our_words(bundle["missing"])
                verdict = self._judged(test, bundle | {"missing": missing}, reveal=False)
            if self._tells_more(test, verdict, answered=not isinstance(bundle, str)):
                self.verdicts[test.cell] = verdict
                self._unanswered.discard(test.cell)

    def _tells_more(self, test: Test, verdict: Verdict, *, answered: bool) -> bool:
        """Whether a second verdict counts instead of the first. It does where predecessors failed: it can
        only be better then, in points, or in naming its own fault. Where they passed, they may still do
        something otherwise than the solution. Of two that fail the first is kept, which may tell more."""
        absent = self.verdicts[test.cell].failed == "exists"
        if verdict.failed is None or (answered and test.cell in self._unanswered):
            return True
        if absent and (verdict.failed == "exists" or not answered):
            return False
        return absent or not self._failing.isdisjoint(test.exercise.predecessors)

    @property
    def _failing(self) -> set[str]:
        """The functions that failed a test."""
        return {each.function for each in self.verdicts.values() if each.failed is not None}

    def _waits_for(self, test: Test) -> bool:
        """Whether a function that this one may call ends kernels or takes too long, and a correct one can
        stand in for it."""
        return (
            not self._ask.stuck.isdisjoint(test.exercise.predecessors)
            and self.source.stand_ins(test) is not None
        )

    def _judged(
        self, test: Test, bundle: Json, *, reveal: bool = True, known: dict[PartKey, Verdict] | None = None
    ) -> Verdict:
        try:
            return self.source.judge(test, bundle, reveal=reveal, known=known)
        except Exception:
            self.log.exception("%s could not be judged; the mistake is the course's", test.cell)
            return failed(test, OURS)


def _joined(visible: Json, hidden: Json) -> Json:
    """The bundle of all inputs."""
    return visible | {"calls": [*visible["calls"], *hidden["calls"]]}
