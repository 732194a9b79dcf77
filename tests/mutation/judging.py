"""What the tests of a function say of its mutants, under several secrets."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from course_lib.checks.answer import answer_in
from course_lib.grading.catalogue import define
from course_lib.grading.source import Source, VisibleTests

from .mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
SECRETS = ("first", "second", "third")
SECONDS = 20  # of processor time, as the machine may be busy; a right answer takes at most three


@dataclass
class Report:
    """What became of the mutants of one function.

    survivors: those that no test tells from right; weak: those that are told under some secrets only.
    """

    assignment: str
    function: str
    total: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    weak: list[Mutant] = field(default_factory=list)

    @property
    def killed(self) -> int:
        """How many fail some test under every secret."""
        return self.total - len(self.survivors) - len(self.weak)


def report(assignment: str, function: str) -> Report:
    """Judge all mutants of one function. Raises: RuntimeError when the solution itself fails."""
    result, code = Report(assignment, function), solution(assignment, function)
    if failures(assignment, function, Mutant(code, "", "")):
        raise RuntimeError(f"{function}: the solution fails its tests, so killing its mutants says nothing")
    for mutant in mutants(code):
        result.total += 1
        failed = failures(assignment, function, mutant)
        if failed == 0:
            result.survivors.append(mutant)
        elif failed < len(SECRETS):
            result.weak.append(mutant)
    return result


def failures(assignment: str, function: str, mutant: Mutant) -> int:
    """Under how many secrets a mutant fails. What fails on the visible cases fails under every secret."""
    if _fails(_visible(assignment), _source(assignment, SECRETS[0]), function, mutant):
        return len(SECRETS)
    sources = (_source(assignment, secret) for secret in SECRETS)
    return sum(_fails(source, source, function, mutant) for source in sources)


def solution(assignment: str, function: str) -> str:
    """The answer cell of the solution notebook."""
    return _source(assignment, SECRETS[0]).code(until=function)[-1]


def _fails(tests: VisibleTests, source: Source, function: str, mutant: Mutant) -> bool:
    """Whether a mutant fails some test of its function, as it also does where it finds no end."""
    try:
        with _limit(SECONDS):
            names = define(mutant.code, function, source.namespace)
            return any(
                tests.judge(test, answer_in(tests.requests(test), names)).failed is not None
                for test in tests.tests.values()
                if test.exercise.function == function
            )
    except (Exception, KeyboardInterrupt):  # already when it is defined, or out of time
        return True


@contextlib.contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """After so many seconds of work interrupt what runs inside, as a person would in a notebook."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@lru_cache
def _visible(assignment: str) -> VisibleTests:
    return VisibleTests(assignment)


@lru_cache
def _source(assignment: str, secret: str) -> Source:
    return Source(ROOT / "solutions" / assignment / f"{assignment}.ipynb", secret)
