"""Where cheats are tried: stock nbgrader, the course's marking, and that without one of its defences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_lib.checks.judge import Verdict
from course_lib.checks.spec import Behaviour, Exercise
from course_lib.checks.values import Json, decode
from course_lib.grading import sandbox
from course_lib.grading.mark import mark
from course_lib.grading.source import Part, PartKey, Source, Test, VisibleTests
from marking import answered, answers_of

from . import stock
from .arena import ROOT, SECRET, Arena, Outcome
from .cheat import NAME, WRONG, Cheat, Submission

SOLUTION = ROOT / "solutions" / NAME / f"{NAME}.ipynb"
OURS = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")


def ours(folder: Path) -> Arena:
    """The course's marking."""
    unsandboxed = ("--CollectAndJudge.unsandboxed=True",) if sandbox.missing() is not None else ()
    return Arena(folder, OURS, solution(), hidden_numbers(), unsandboxed)


def stock_nbgrader(folder: Path) -> Arena:
    """Stock nbgrader, with hidden asserts."""
    return Arena(folder, stock.CONFIG, stock.notebook(), stock.HIDDEN)


def without_sandbox(folder: Path) -> Arena:
    """The course's marking in a kernel with the marker's own rights."""
    return Arena(folder, OURS, solution(), hidden_numbers(), ("--CollectAndJudge.unsandboxed=True",))


def in_the_kernel(folder: Path) -> Arena:
    """The course's checks as stock nbgrader would use them: a test cell's value is its points."""
    source = solution()
    for cell in source.cells:
        cell.source = cell.source.split("\n### BEGIN HIDDEN TESTS")[0]
    return Arena(folder, stock.CONFIG, source, ())


def without_overwriting(folder: Path) -> Arena:
    """The same, where test cells run as they are submitted."""
    return replace(in_the_kernel(folder), config=stock.WITHOUT_OVERWRITING)


class Telling(Source):
    """The course's tests, of whose hidden cases everything is told, as of visible ones."""

    def hidden(self, exercise: Exercise, behaviour: Behaviour) -> Part:
        part = super().hidden(exercise, behaviour)
        return ToldPart(part.behaviour, part.request, part.reference, reveal=True)

    def judge(self, test: Test, bundle: Json, **options: Any) -> Verdict:
        return super().judge(test, bundle)


class ToldPart(Part):
    """A part with hidden cases, of which everything is told; the part with visible cases is another one."""

    @property
    def key(self) -> PartKey:
        """As of a part of which nothing is told."""
        return (*super().key[:2], False)


@dataclass
class Single:
    """An arena without nbgrader: each notebook is marked by itself, with tests that lack a defence."""

    folder: Path
    tests: VisibleTests

    def run(self, cheats: Iterable[Cheat]) -> dict[str, Outcome]:
        """The outcome of each cheat, by its id."""
        return {cheat.id: self._outcome(cheat) for cheat in cheats}

    def _outcome(self, cheat: Cheat) -> Outcome:
        release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
        wrong = answered(release, {"softmax": WRONG})
        submission = Submission(wrong, self.folder / cheat.id, self.folder)
        submission.write()
        cheat.change(submission)
        marked = mark(submission.notebook, self.tests, release, sandboxed=sandbox.missing() is None)
        said = "\n".join(verdict.sentence for verdict in marked.verdicts.values())
        return Outcome(marked.points, tuple(each for each in hidden_numbers() if each in said))


def visible_alone(folder: Path) -> Single:
    """The course's marking on the visible cases alone."""
    return Single(folder, VisibleTests(NAME))


def telling(folder: Path) -> Single:
    """The course's marking, which tells of hidden cases all that it tells of visible ones."""
    return Single(folder, Telling(SOLUTION, SECRET))


def solution() -> NotebookNode:
    """The course's own source notebook."""
    return nbformat.read(SOLUTION, as_version=4)


@cache
def hidden_numbers() -> tuple[str, ...]:
    """What stands for the hidden cases in a text: long numbers from inputs and right answers, and a line of
    each solution."""
    source = Source(SOLUTION, SECRET)
    parts = [part for test in source.tests.values() for part in source.parts(test) if not part.reveal]
    records = [call["arguments"] for part in parts for call in part.request["calls"]]
    records += [record for part in parts for record in part.reference["calls"]]
    numbers = {
        repr(number)
        for record in records
        for value in record.values()
        if isinstance(value, dict) and value.get("kind") == "array"
        for number in decode(value).ravel()[:1].tolist()
    }
    lines = [
        code.split("### BEGIN SOLUTION\n")[1].splitlines()[0] for code in answers_of(solution()).values()
    ]
    return (*sorted(each for each in numbers if len(each) > 14), *(line.strip() for line in lines))


ARENAS = {
    "stock": stock_nbgrader,
    "our checks in the kernel": in_the_kernel,
    "our checks in the kernel, test cells as they come": without_overwriting,
    "our marking without a sandbox": without_sandbox,
    "our marking on the visible cases alone": visible_alone,
    "our marking that tells everything": telling,
}
