"""What a student calls in a notebook: `check("softmax", "ordinary")` says how far the function is."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from typing import Any

from .assignments import load
from .collect import collect
from .judge import Verdict, judge
from .spec import Behaviour
from .store import visible

BROKEN = (
    "This check did not work ({error}). Restart the kernel and run all cells; if it says so again, "
    "the mistake is the course's: please report it."
)
SUSPECT = "  If {function} calls your {name}: that does not pass its own checks yet. Mend {name} first."
UNMARKED = (
    "No points: this cell is marked by the course's own plug-ins, and they did not run. "
    "Mark with the nbgrader_config.py of the course."
)


class Check:
    """The checks of one assignment. Call it with a function's name and the name of a behaviour."""

    def __init__(self, assignment: str) -> None:
        self.assignment = load(assignment)

    def __call__(self, function: str, behaviour: str) -> float:
        """Judge the notebook's function on the visible cases, print what was found, and return the points.

        It never raises: what goes wrong is printed. Returns: the points of this cell when everything holds,
        else 0.0; nbgrader's Validate reads this number.
        """
        namespace = sys._getframe(1).f_globals
        try:
            asked = self.assignment.exercise(function).behaviour(behaviour)
        except ValueError as error:
            print(f"{error}.")
            return 0.0
        try:
            verdict = self._verdict(function, asked, namespace)
            told = lines(verdict)
            if verdict.failed is not None and verdict.written:
                suspects = self._suspects(function, namespace)
                told += [SUSPECT.format(name=name, function=function) for name in suspects]
        except Exception as error:
            print(BROKEN.format(error=f"{type(error).__name__}: {error}"))
            return 0.0
        # Of a cell without points nbgrader's Validate shows what stands on stderr, or else "Partial credit".
        validating = os.environ.get("NBGRADER_EXECUTION") == "validate"
        print("\n".join(told), file=sys.stderr if validating and verdict.failed is not None else sys.stdout)
        return verdict.points

    def _verdict(self, function: str, asked: Behaviour, namespace: MutableMapping[str, Any]) -> Verdict:
        """The verdict on what is asked, or on the ordinary behaviour where that fails already."""
        for presupposed in self.assignment.exercise(function).presupposed(asked):
            verdict = judge_visible(self.assignment.name, function, presupposed.name, namespace)
            if verdict.failed is not None:
                break
        return verdict.as_part_of(asked)

    def _suspects(self, function: str, namespace: MutableMapping[str, Any]) -> list[str]:
        """The functions it may call that do not pass all of their own checks."""
        named = [self.assignment.exercise(name) for name in self.assignment.exercise(function).predecessors]
        return [
            each.function
            for each in named
            if any(
                judge_visible(self.assignment.name, each.function, behaviour.name, namespace).failed
                for behaviour in each.behaviours
            )
        ]

    def collect(self, function: str, behaviour: str) -> float:
        """The place where marking collects outputs. Run by anything else it is worth nothing, and says so."""
        self.assignment.exercise(function).behaviour(behaviour)
        print(UNMARKED)
        return 0.0


def checks_for(assignment: str) -> Check:
    """The checks of an assignment, by its name. Raises: ValueError for an unknown name."""
    return Check(assignment)


def judge_visible(
    assignment: str, function: str, behaviour: str, namespace: MutableMapping[str, Any]
) -> Verdict:
    """The verdict on the visible cases of one behaviour, for the function of that name in a namespace."""
    exercise = load(assignment).exercise(function)
    stored = visible(assignment, function, behaviour)
    bundle = collect(stored.request, namespace)
    return judge(
        exercise,
        exercise.behaviour(behaviour),
        stored.request,
        bundle,
        stored.reference,
        reveal=True,
        diagnose=stored.diagnose,
    )


def lines(verdict: Verdict) -> list[str]:
    """The verdict as lines of text: one for each rung passed, and one for the first that failed."""
    head = f"{verdict.function}: {verdict.title}"
    if verdict.failed is None:
        return [
            head,
            *(f"  ✓ {rung}" for rung in verdict.passed),
            f"  {verdict.points:g} of {verdict.max_points:g} points",
        ]
    if not verdict.written:
        return [head, f"  … {verdict.sentence}"]
    first = [f"  First “{verdict.within}”:"] if verdict.within else []
    return [
        head,
        *first,
        *(f"  ✓ {rung}" for rung in verdict.passed),
        f"  ✗ {verdict.failed}: {verdict.sentence}",
    ]
