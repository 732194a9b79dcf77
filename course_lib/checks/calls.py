"""One call of a case as the judge looks at it, and the words that sentences about it share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from .collect import names_in
from .spec import Exercise, outputs_by_name
from .values import Json, Received, decode_named, receive

# Given a call's name and outputs: the question that leads to a known mistake, or None.
Diagnose = Callable[[str, dict[str, Received]], str | None]
Hint = Callable[[], str | None]  # the question; looked for only where something is wrong


@dataclass(frozen=True)
class Call:
    """One call, ready to be judged: the student's record, the reference's outputs and, once somebody looks at
    them, the arguments."""

    name: str
    encoded: Json
    names: list[str]
    record: Json
    raises: bool
    reference: dict[str, Any] | None

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name; tensors are arrays here."""
        return decode_named(self.encoded, self.names, build=False)


def ready(exercise: Exercise, call: Json, record: Json, expected: Json) -> Call:
    """A call of a request with its record and the reference's, decoded."""
    reference = None
    if not call["raises"]:
        outputs = outputs_by_name(exercise.returns, receive(expected["returned"]))
        reference = {name: np.asarray(item.value) for name, item in outputs.items()}
    name, names = call["id"].rsplit(" #", 1)[0], names_in(call, exercise.parameters)
    return Call(name, call["arguments"], names, record, call["raises"], reference)


def place(call: Call, reveal: bool) -> str:
    """Where it went wrong; for hidden cases only their kind is told."""
    if not reveal:
        return f"On another input of the kind “{call.name}”,"
    shapes = [
        f"{name} {tuple(value.shape)}" for name, value in call.arguments.items() if hasattr(value, "shape")
    ]
    plain = [f"{name} {value}" for name, value in call.arguments.items() if isinstance(value, (int, float))]
    inputs = ", ".join(shapes + plain)
    return f"On “{call.name}” ({inputs})," if inputs else f"On “{call.name}”,"


def named(item: Received, reveal: bool) -> str:
    """What came back, in words with an article."""
    words = {
        "array": "a NumPy array",
        "tensor": "a PyTorch tensor",
        "none": "nothing (None)",
        "number": "a number",
        "bool": "True or False",
        "text": "a text",
        "tuple": "a tuple",
        "list": "a list",
    }
    # The name of a type of the student's own could tell a hidden input.
    return words.get(item.kind, f"{item.value}" if reveal else "something else")


def hint_for(outputs: list[tuple[Call, dict[str, Received]]], diagnose: Diagnose | None) -> Hint:
    """What gives the question that leads to a known mistake, where the outputs of one call give one away."""

    @cache
    def hint() -> str | None:
        return None if diagnose is None else first(diagnose(call.name, got) for call, got in outputs)

    return hint


def first(sentences: Iterable[str | None], hint: Hint = lambda: None) -> str | None:
    """The first sentence there is, with the question that leads to the mistake unless it is in it already."""
    for sentence in sentences:
        if sentence is not None:
            question = hint()
            return f"{sentence} {question}" if question and question.rstrip(".") not in sentence else sentence
    return None
