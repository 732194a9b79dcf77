"""The unit of work of marking a class: from a submission's bytes to its result, wherever there is a sandbox.

It needs no gradebook, no file of the course and no secret, only what was derived from them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from traitlets import TraitError
from traitlets.config import Config

from course_lib.checks.spec import Behaviour, Exercise
from course_lib.checks.values import Json
from course_lib.errors import CourseError
from course_lib.project import MARKER

from .execute import JudgedExecute
from .sanitise import SourceCell, cells_of, sanitise
from .source import AllTests, Part, Source, Test
from .store import Result, key_of
from .submission import parse_submission


@dataclass(frozen=True)
class Assignment:
    """All that marking needs of an assignment; it can be sent to another machine.

    hidden: by function and behaviour the hidden request and the right answers to it; what they were drawn
    with, the course secret, is not among it. settings: of `JudgedExecute`.
    """

    name: str
    version: str
    cells: tuple[SourceCell, ...]
    hidden: Mapping[tuple[str, str], tuple[Json, Json]]
    stand_ins: Mapping[str, Json]
    imports: list[str]
    sandboxed: bool
    settings: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        source: Source,
        version: str,
        *,
        sandboxed: bool,
        cells: Sequence[SourceCell] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Assignment:
        """Prepare an assignment: the solution's functions answer every hidden case here, once.

        Parameters: cells, as the gradebook has them; otherwise the solution notebook's own.
        """
        parts = {
            (exercise.function, behaviour.name): source.hidden(exercise, behaviour)
            for exercise in source.assignment.exercises
            for behaviour in exercise.behaviours
        }
        return cls(
            source.name,
            version,
            tuple(cells_of(source.notebook) if cells is None else cells),
            {key: (part.request, part.reference) for key, part in parts.items()},
            {cell: source.stand_ins(test) for cell, test in source.tests.items()},
            source.imports,
            sandboxed,
            settings or {},
        )


def prepare(
    cells: Sequence[SourceCell],
    *,
    solution: Path,
    secret: str,
    version: str,
    sandboxed: bool,
    settings: Mapping[str, Any],
) -> Assignment:
    """The assignment of a solution notebook, by a process that has nothing else in hand.

    Raises: CourseError where a setting is none that `JudgedExecute` takes.
    """
    try:
        executor = _executor(settings, sandboxed=sandboxed)
    except TraitError as error:
        raise CourseError(f"c.JudgedExecute in {MARKER}: {error}") from None
    source = Source(solution, secret)
    executor.prepare(source)
    return Assignment.of(source, version, sandboxed=sandboxed, cells=cells, settings=settings)


def _executor(settings: Mapping[str, Any], *, sandboxed: bool) -> JudgedExecute:
    config = Config({"JudgedExecute": dict(settings)})
    return JudgedExecute(config=config, sandboxed=sandboxed, log=logging.getLogger("course.mark"))


class Prepared(AllTests):
    """The tests of a prepared assignment."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__(assignment.name)
        self.prepared = assignment
        self._parts: dict[str, list[Part]] = {}

    def parts(self, test: Test) -> list[Part]:
        """What decides a test, as in `AllTests`; here it stays the same for all submissions."""
        if test.cell not in self._parts:
            self._parts[test.cell] = super().parts(test)
        return self._parts[test.cell]

    @property
    def imports(self) -> list[str]:
        """The modules that kernels of submissions find imported."""
        return self.prepared.imports

    def hidden(self, exercise: Exercise, behaviour: Behaviour) -> Part:
        """The hidden request of a behaviour, with the right answers."""
        request, reference = self.prepared.hidden[exercise.function, behaviour.name]
        return Part(behaviour, request, reference, reveal=False)

    def stand_ins(self, test: Test) -> Json:
        """The code of the solution's own predecessors."""
        return self.prepared.stand_ins[test.cell]


_prepared: dict[str, Prepared] = {}


def mark_submission(data: bytes, assignment: Assignment) -> tuple[str, Result]:
    """Mark one submission. Returns: the key of the result, and the result.

    Raises: CourseError when the bytes are no notebook.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    notebook, tests = _made_whole(data, assignment)
    executor = _executor(assignment.settings, sandboxed=assignment.sandboxed)
    key = key_of(notebook, tests.tests, assignment.version)
    return key, Result.of(notebook, executor.mark(notebook, tests))


def key_of_submission(data: bytes, assignment: Assignment) -> str:
    """The key of the result that a submission has, or will have. Raises: CourseError as above."""
    notebook, tests = _made_whole(data, assignment)
    return key_of(notebook, tests.tests, assignment.version)


def _made_whole(data: bytes, assignment: Assignment) -> tuple[NotebookNode, Prepared]:
    tests = _prepared.get(assignment.version)
    if tests is None:
        tests = _prepared[assignment.version] = Prepared(assignment)
    return sanitise(parse_submission(data), list(assignment.cells), tests.follows)[0], tests
