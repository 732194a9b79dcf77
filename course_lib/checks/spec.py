"""What an exercise is, as data: its functions, what they return, their behaviours, points and cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .draw import EQUAL_SIZE, VISIBLE_SIZES, Draw, hidden_sizes, seed_of
from .values import Json, Received, encode

Arguments = dict[str, Any]
# Given one call's arguments and what came back, by output name: None, or a sentence that says what is wrong.
Property = Callable[[Arguments, dict[str, Any]], str | None]
# The same between the calls of one case: a list of outputs by name, one for each call.
Across = Callable[[list[dict[str, Any]]], str | None]
# Judges values where no single one is right, as with random draws: arguments, outputs, the reference's.
Comparison = Callable[[Arguments, dict[str, Any], dict[str, Any]], str | None]


@dataclass(frozen=True)
class Returned:
    """One returned value: its name, its axes as letters ("... L M"; "" for one number), and what it holds.

    weights: rows along the last axis sum to 1. holds: "floats", "integers" or "booleans"; one number alone is
    held as a plain one. free: its shape is the student's own choice.
    """

    name: str
    axes: str
    weights: bool = False
    holds: str = "floats"
    free: bool = False

    @property
    def words(self) -> str:
        """The axes as a student reads them."""
        return f"({', '.join(self.axes.split())})"


@dataclass(frozen=True)
class Case:
    """Named inputs: `build` makes the arguments of one call, or a list of several calls.

    equal_sizes: all axes have the same length, which hides shape errors and brings out others.
    visible: False for inputs that only the hidden tests use. raises: the call must raise ValueError.
    across: what must hold between the outputs of the case's calls.
    """

    name: str
    build: Callable[[Draw], Arguments | list[Arguments]]
    equal_sizes: bool = False
    visible: bool = True
    raises: bool = False
    across: Across | None = None

    def calls(self, seed: int, sizes: dict[str, int]) -> list[Arguments]:
        """The arguments of each call of the case, drawn from the seed."""
        sizes = dict.fromkeys(sizes, EQUAL_SIZE) if self.equal_sizes else sizes
        built = self.build(Draw(seed, sizes))
        return built if isinstance(built, list) else [built]


@dataclass(frozen=True)
class Behaviour:
    """One thing a function must do, worth points of its own: one test cell.

    title: what a student reads. properties: what must hold, with a sentence when it does not, before values
    are compared. unchanged: inputs must be left as they were, and a second call must give the same.
    probe: the name of the probe that calls the function, where a plain call does not show what is judged; the
    arguments of the cases are then the probe's. returns, compare: what comes back, and how values are judged,
    if other than for the exercise.
    """

    name: str
    title: str
    points: int
    cases: tuple[Case, ...]
    properties: tuple[Property, ...] = ()
    unchanged: bool = False
    repeats: bool = False
    probe: str | None = None
    returns: tuple[Returned, ...] | None = None
    compare: Comparison | None = None

    @property
    def slug(self) -> str:
        """The name as a part of a cell's id."""
        return self.name.replace(" ", "-")


@dataclass(frozen=True)
class Exercise:
    """One function of an assignment. The first behaviour is the ordinary one, which the others presuppose.

    predecessors: functions of the same assignment that it may call. refused: library functions that may not
    run while it is judged. compare: how values are judged; the default compares with the reference within
    the tolerance. container: "array" for NumPy, "tensor" for PyTorch.
    """

    function: str
    parameters: tuple[str, ...]
    returns: tuple[Returned, ...]
    behaviours: tuple[Behaviour, ...]
    predecessors: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    compare: Comparison | None = None
    container: str = "array"

    def behaviour(self, name: str) -> Behaviour:
        """The behaviour of that name. Raises: ValueError when there is none."""
        for behaviour in self.behaviours:
            if behaviour.name == name:
                return behaviour
        names = [behaviour.name for behaviour in self.behaviours]
        raise ValueError(f"{self.function} has no behaviour {name!r}; it has {names}")

    def presupposed(self, behaviour: Behaviour) -> tuple[Behaviour, ...]:
        """The behaviours whose cases count for this one: itself and, before it, the ordinary one."""
        first = self.behaviours[0]
        return (behaviour,) if behaviour is first else (first, behaviour)


@dataclass(frozen=True)
class Assignment:
    """One notebook of exercises."""

    name: str
    title: str
    exercises: tuple[Exercise, ...] = field(default_factory=tuple)

    def exercise(self, function: str) -> Exercise:
        """The exercise for that function. Raises: ValueError when there is none."""
        for exercise in self.exercises:
            if exercise.function == function:
                return exercise
        names = [exercise.function for exercise in self.exercises]
        raise ValueError(f"{self.name} has no exercise {function!r}; it has {names}")


def request(assignment: str, exercise: Exercise, behaviour: Behaviour, secret: str | None = None) -> Json:
    """What to call the function with: the visible cases, or with a secret the hidden ones.

    Hidden inputs depend on the secret, assignment, function and case alone, so every student and every
    regrade meets the same ones.
    """
    seeds = seeds_of(assignment, exercise, behaviour, secret or "visible")
    return drawn(exercise, behaviour, seeds, hidden=secret is not None)


def seeds_of(assignment: str, exercise: Exercise, behaviour: Behaviour, secret: str) -> dict[str, int]:
    """What the inputs of each case are drawn with, by its name."""
    names = [case.name for case in behaviour.cases]
    return {name: seed_of(secret, assignment, exercise.function, behaviour.name, name) for name in names}


def drawn(exercise: Exercise, behaviour: Behaviour, seeds: Mapping[str, int], *, hidden: bool) -> Json:
    """What to call the function with, drawn with these seeds: the hidden cases, or the visible ones."""
    calls = []
    for case in behaviour.cases:
        if not hidden and not case.visible:
            continue
        seed = seeds[case.name]
        sizes = hidden_sizes(seed) if hidden else VISIBLE_SIZES
        for number, arguments in enumerate(case.calls(seed, sizes)):
            call = {
                "id": f"{case.name} #{number}",
                "arguments": {name: encode(value) for name, value in arguments.items()},
                "raises": case.raises,
                "twice": behaviour.unchanged or behaviour.repeats,
            }
            calls.append(call if behaviour.probe is None else call | {"probe": behaviour.probe})
    return {
        "function": exercise.function,
        "parameters": list(exercise.parameters),
        "refused": list(exercise.refused),
        "calls": calls,
    }


def outputs_by_name(returns: Sequence[Returned], received: Received) -> dict[str, Received]:
    """What came back, by the names of the outputs; the caller has checked that the numbers agree."""
    items = received.value if len(returns) > 1 else [received]
    return {returned.name: item for returned, item in zip(returns, items, strict=True)}
