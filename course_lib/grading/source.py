"""What a submission is judged by: the visible cases and, with the instructor's notebook, hidden ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

from course_lib.checks.assignments import MODULES, load
from course_lib.checks.collect import collect
from course_lib.checks.judge import Verdict, judge
from course_lib.checks.spec import Behaviour, Exercise, request
from course_lib.checks.store import visible
from course_lib.checks.values import Json, Received
from course_lib.errors import CourseError

from .plain import plain
from .preloaded import preloaded_for

PartKey = tuple[str, str, bool]  # function, behaviour, whether a sentence may tell inputs


@dataclass(frozen=True)
class Test:
    """One test cell: which function, which behaviour."""

    exercise: Exercise
    behaviour: Behaviour

    @property
    def cell(self) -> str:
        """The id that nbgrader knows the test cell by."""
        return f"{self.exercise.function}-{self.behaviour.slug}"


@dataclass(frozen=True)
class Part:
    """One request with the answers to it. reveal: a sentence may tell its inputs and expected values."""

    behaviour: Behaviour
    request: Json
    reference: Json
    reveal: bool
    diagnose: Callable[[str, dict[str, Received]], str | None] | None = None

    @property
    def key(self) -> PartKey:
        """What tells it from all other parts of an assignment."""
        return self.request["function"], self.behaviour.name, self.reveal


class VisibleTests:
    """An assignment's tests on the visible cases, whose right answers are stored with the checks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.assignment = load(name)

    @cached_property
    def tests(self) -> Mapping[str, Test]:
        """Every test by its cell's id, in the order of the notebook."""
        tests = [
            Test(exercise, each) for exercise in self.assignment.exercises for each in exercise.behaviours
        ]
        return {test.cell: test for test in tests}

    @property
    def imports(self) -> list[str]:
        """The modules that kernels of submissions find imported; none where that is unknown."""
        return []

    @cached_property
    def follows(self) -> Mapping[str, str]:
        """For each test cell the answer cell that it must stand behind."""
        return {test.cell: test.exercise.function for test in self.tests.values()}

    def parts(self, test: Test) -> list[Part]:
        """What decides a test, in the order in which it is judged."""
        return [self._visible(test.exercise, each) for each in test.exercise.presupposed(test.behaviour)]

    def requests(self, test: Test, *, hidden: bool | None = None) -> Json:
        """The parts of a test as the one request that a student's kernel is sent: all of them, or only those
        with visible or with hidden inputs."""
        parts = self.parts(test)
        calls = [
            call | {"id": f"{i}/{call['id']}"}
            for i, part in enumerate(parts)
            if hidden is None or hidden is not part.reveal
            for call in part.request["calls"]
        ]
        return parts[0].request | {"calls": calls}

    def bundle(self, test: Test, answers: Mapping[PartKey, Json], *, hidden: bool) -> Json:
        """The bundle that `requests` would have given, from those that the single parts gave."""
        parts = [(i, part.key) for i, part in enumerate(self.parts(test)) if part.reveal is not hidden]
        found = [(i, answers[key]) for i, key in parts if key in answers]
        missing = [answer["missing"] for _, answer in found if answer["missing"] is not None]
        calls = [record | {"id": f"{i}/{record['id']}"} for i, answer in found for record in answer["calls"]]
        return {"missing": missing[0] if missing else None, "calls": calls}

    def judge(
        self, test: Test, bundle: Json, *, reveal: bool = True, known: dict[PartKey, Verdict] | None = None
    ) -> Verdict:
        """The verdict on what a student's kernel answered to `requests`, with the test's own points.

        Parameters: reveal, False where the kernel knows more than a student may, so that none of its words is
        told; known, where verdicts on single parts are kept for the next test that they count for, as long as
        the same answers are judged.
        """
        assert reveal or known is None, "a verdict that may tell more is no verdict for a reader of less"
        known = {} if known is None else known
        for index, part in enumerate(self.parts(test)):
            if part.key not in known:
                known[part.key] = judge(
                    test.exercise,
                    part.behaviour,
                    part.request,
                    bundle | {"calls": _records(bundle, f"{index}/")},
                    part.reference,
                    reveal=part.reveal and reveal,
                    diagnose=part.diagnose,
                )
            verdict = known[part.key]
            if verdict.failed is not None:
                break
        return verdict.as_part_of(test.behaviour)

    def stand_ins(self, test: Test) -> Json:
        """Correct versions of the functions that this one may call, or None where there are none."""
        return None

    def _visible(self, exercise: Exercise, behaviour: Behaviour) -> Part:
        stored = visible(self.name, exercise.function, behaviour.name)
        return Part(behaviour, stored.request, stored.reference, reveal=True, diagnose=stored.diagnose)


class AllTests(VisibleTests):
    """An assignment's tests on visible and hidden cases."""

    def parts(self, test: Test) -> list[Part]:
        """The visible cases, then the hidden ones, of the ordinary behaviour and of the test's own."""
        behaviours = test.exercise.presupposed(test.behaviour)
        return [
            part
            for behaviour in behaviours
            for part in (self._visible(test.exercise, behaviour), self.hidden(test.exercise, behaviour))
        ]

    def hidden(self, exercise: Exercise, behaviour: Behaviour) -> Part:
        """The hidden request of a behaviour, with the right answers."""
        raise NotImplementedError


class Source(AllTests):
    """An assignment as its author wrote it: visible and hidden cases, with the solution's own answers.

    Parameters: path of the notebook in solutions/; secret of the course.
    Raises: CourseError when the notebook cannot be read or is of no known assignment.
    """

    def __init__(self, path: Path, secret: str) -> None:
        if path.stem not in MODULES:
            raise CourseError(
                f"{path}: not an assignment of this course; expected one of {', '.join(MODULES)}"
            )
        super().__init__(path.stem)
        self.path, self.secret = path, secret
        self._hidden_parts: dict[tuple[str, str], Part] = {}
        try:
            self.notebook = nbformat.read(path, as_version=4)
        except FileNotFoundError:
            raise CourseError(
                f"{path}: no such solution notebook; marking needs the folder solutions/"
            ) from None
        except Exception as error:
            raise CourseError(f"{path}: not a notebook ({type(error).__name__})") from None

    @cached_property
    def namespace(self) -> dict[str, Any]:
        """The names that the solution notebook defines: the reference functions."""
        names: dict[str, Any] = {"__name__": "__main__"}
        for code in self.code():
            exec(compile(code, f"<solution of {self.name}>", "exec"), names)
        return names

    def code(self, until: str | None = None) -> list[str]:
        """The set-up and answer cells as plain Python, up to and with the answer `until`."""
        cells = []
        for cell in self.notebook.cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and not marks.get("grade", False):
                cells.append(plain(cell.source))
                if until is not None and marks.get("grade_id") == until:
                    break
        return cells

    @cached_property
    def imports(self) -> list[str]:
        """The modules that the notebook imports, and what its checks import."""
        return preloaded_for(self.path)

    def stand_ins(self, test: Test) -> Json:
        """The code of the solution's own predecessors."""
        names = list(test.exercise.predecessors)
        return {"names": names, "code": self.code(until=names[-1])} if names else None

    @property
    def is_answered(self) -> bool:
        """Whether an answer to every hidden case is known."""
        return all(
            (exercise.function, behaviour.name) in self._hidden_parts
            for exercise in self.assignment.exercises
            for behaviour in exercise.behaviours
        )

    def keep(self, answers: Mapping[tuple[str, str], tuple[Json, Json]]) -> None:
        """Take hidden requests and the solution's answers to them, by function and behaviour."""
        for (function, name), (asked, reference) in answers.items():
            behaviour = self.assignment.exercise(function).behaviour(name)
            self._hidden_parts[function, name] = Part(behaviour, asked, reference, reveal=False)

    def hidden(self, exercise: Exercise, behaviour: Behaviour) -> Part:
        """The hidden request of a behaviour and the solution's answers to it, computed here if they are not
        known, and once."""
        key = (exercise.function, behaviour.name)
        if key not in self._hidden_parts:
            asked = request(self.name, exercise, behaviour, self.secret)
            reference = collect(asked, self.namespace)
            self._hidden_parts[key] = Part(behaviour, asked, reference, reveal=False)
        return self._hidden_parts[key]


def _records(bundle: Json, prefix: str) -> list[Json]:
    """The records of one part of the request, under the ids they have there."""
    return [
        record | {"id": record["id"].removeprefix(prefix)}
        for record in bundle["calls"]
        if record["id"].startswith(prefix)
    ]
