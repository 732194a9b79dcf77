"""One call of a case as the judge looks at it, and the words that sentences about it share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .collect import names_in
from .spec import Exercise, outputs_by_name
from .values import Json, Received, decode_named, receive

# Given a call's name and outputs: the question that leads to a known mistake, or None.
Diagnose = Callable[[str, dict[str, Received]], str | None]


@dataclass(frozen=True)
class Call:
    """One call, ready to be judged: arguments, the student's record and the reference's outputs."""

    name: str
    arguments: dict[str, Any]
    record: Json
    raises: bool
    reference: dict[str, Any] | None


def ready(exercise: Exercise, call: Json, record: Json, expected: Json) -> Call:
    """A call of a request with its record and the reference's, decoded."""
    arguments = decode_named(call["arguments"], names_in(call, exercise.parameters))
    reference = None
    if not call["raises"]:
        outputs = outputs_by_name(exercise.returns, receive(expected["returned"]))
        reference = {name: np.asarray(item.value) for name, item in outputs.items()}
    return Call(call["id"].rsplit(" #", 1)[0], arguments, record, call["raises"], reference)


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


def hint_for(
    outputs: list[tuple[Call, dict[str, Received]]],
    diagnose: Diagnose | None,
) -> str | None:
    """The question that leads to a known mistake, where the outputs of one call give one away."""
    if diagnose is None:
        return None
    return first(diagnose(call.name, got) for call, got in outputs)


def first(sentences: Iterable[str | None], hint: str | None = None) -> str | None:
    """The first sentence there is, with the question that leads to the mistake unless it is in it already."""
    for sentence in sentences:
        if sentence is not None:
            return f"{sentence} {hint}" if hint and hint.rstrip(".") not in sentence else sentence
    return None
