"""The format of the catalogues of mistakes and of unusual right answers, which stand in tests/mistakes/."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from course_lib.checks.assignments import MODULES, load
from course_lib.checks.spec import Assignment
from course_lib.errors import CourseError


@dataclass(frozen=True)
class Edit:
    """A frequent mistake as a change of a plain right answer: `old`, which stands there once, becomes `new`.

    Two edits of one plain answer at different places are a combination, which is recognised, too.

    >>> str(Edit("weights = softmax(scores / root)", " / root", ""))
    'weights = softmax(scores)'
    """

    plain: str
    old: str
    new: str

    def __post_init__(self) -> None:
        if self.plain.count(self.old) != 1:
            raise ValueError(f"old: expected a text that stands once in the plain answer, got {self.old!r}")

    def __str__(self) -> str:
        return self.plain.replace(self.old, self.new)

    @property
    def start(self) -> int:
        """Where the change begins; what is computed first stands first."""
        return self.plain.index(self.old)

    def meets(self, later: Edit) -> bool:
        """Whether another edit, which begins no earlier, changes another plain answer or the same place."""
        return self.plain != later.plain or later.start < self.start + len(self.old)

    def and_then(self, later: Edit) -> str:
        """The plain answer with both changes, the later one behind this one."""
        changed = later.plain[: later.start] + later.new + later.plain[later.start + len(later.old) :]
        return changed[: self.start] + self.new + changed[self.start + len(self.old) :]


@dataclass(frozen=True)
class Mistake:
    """A wrong version of one function, as people really write it.

    id: short and unique, "softmax-axis-0". cause: what went wrong, in a line. code: what stands in the answer
    cell. case: the visible input, of the behaviour named, on which its output is recognised. question: what a
    student is asked then, which leads to the cause. fails: the behaviours that must fail; all others must
    pass. Where none is named these are the behaviour, and every other one if it is the ordinary one.
    function: the last one that the code defines, where none is named.
    """

    id: str
    cause: str
    code: str | Edit
    case: str
    question: str
    behaviour: str = "ordinary"
    fails: tuple[str, ...] = ()
    function: str = ""

    def complete(self, assignment: Assignment) -> Mistake:
        """The same with its function, and the behaviours that must fail, named."""
        function = self.function or re.findall(r"^(?:def|class) (\w+)", str(self.code), re.MULTILINE)[-1]
        exercise = assignment.exercise(function)
        shown = exercise.behaviour(self.behaviour)
        those = tuple(each.name for each in exercise.behaviours if shown in exercise.presupposed(each))
        return replace(self, function=function, fails=self.fails or those)


@dataclass(frozen=True)
class RightAnswer:
    """A right but unusual version of one function, which must get all points."""

    id: str
    function: str
    code: str


@dataclass(frozen=True)
class Catalogue:
    """The mistakes of one assignment, with combinations of two frequent ones, and unusual right answers."""

    mistakes: tuple[Mistake, ...]
    right: tuple[RightAnswer, ...]

    @property
    def combinations(self) -> tuple[Mistake, ...]:
        """Every two edits of one plain answer, at different places, that are recognised on the same input."""
        edits = [(each.code, each) for each in self.mistakes if isinstance(each.code, Edit)]
        ordered = sorted(edits, key=lambda pair: pair[0].start)
        return tuple(
            _both(first, second)
            for (edit, first), (later, second) in combinations(ordered, 2)
            if not edit.meets(later) and (first.behaviour, first.case) == (second.behaviour, second.case)
        )


def _both(first: Mistake, second: Mistake) -> Mistake:
    """Two mistakes at once; the student is asked both questions, first that of the earlier step."""
    assert isinstance(first.code, Edit)
    assert isinstance(second.code, Edit)
    return Mistake(
        id=f"{first.id} + {second.id}",
        function=first.function,
        cause=f"{first.cause}; {second.cause}",
        code=first.code.and_then(second.code),
        fails=first.fails + tuple(each for each in second.fails if each not in first.fails),
        behaviour=first.behaviour,
        case=first.case,
        question=f"Two things come together here. {first.question} {second.question}",
    )


def changed(code: str, *changes: tuple[str, str]) -> str:
    """A right answer with some of its text exchanged. Raises: ValueError where it does not stand there."""
    for old, new in changes:
        if old not in code:
            raise ValueError(f"changes: expected texts that stand in the answer, got {old!r}")
        code = code.replace(old, new)
    return code


def versions(id: str, of: Mapping[str, tuple[str | Edit, str, str]], **common: Any) -> tuple[Mistake, ...]:
    """One mistake in several versions: by name the code, the input that exposes it, and the question.

    Their ids are "id[name]"; everything else they have in common.
    """
    return tuple(
        Mistake(id=f"{id}[{name}]", code=code, case=case, question=question, **common)
        for name, (code, case, question) in of.items()
    )


def read(root: Path, name: str) -> Catalogue:
    """The catalogue of an assignment, from the tests. Raises: CourseError where it is missing."""
    path = root / "tests" / "mistakes" / f"{MODULES[name]}.py"
    if not path.is_file():
        raise CourseError(f"{path} is missing: the mistakes that the visible checks of {name} know by name")
    spec = importlib.util.spec_from_file_location(f"mistakes_{MODULES[name]}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assignment = load(name)
    return Catalogue(tuple(each.complete(assignment) for each in module.MISTAKES), tuple(module.RIGHT))


def define(code: str | Edit, function: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The namespace with the function of that name defined by the code instead."""
    names = dict(namespace)
    exec(compile(str(code), f"<answer {function}>", "exec"), names)
    return names
