"""Make the stored data of the visible checks: inputs, right answers, and what known mistakes give.

The mistakes themselves are nearly right code, so they stay with the tests; only their outputs are stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.checks.assignments import load
from course_lib.checks.collect import collect
from course_lib.checks.spec import Assignment, Behaviour, Exercise, outputs_by_name, request
from course_lib.checks.store import same_outputs
from course_lib.checks.values import ERROR, Json, Received, encode, error_text, receive

from .catalogue import Mistake, define, read
from .source import Source

DATA = Path("course_lib", "checks", "data")


def write(root: Path, name: str) -> Path:
    """Compute and store the data of one assignment. Returns: the file, relative to the root."""
    path = DATA / f"{name}.json"
    text = json.dumps(computed(root, name), separators=(",", ":"), sort_keys=True)
    (root / path).write_text(text + "\n", encoding="utf-8", newline="\n")
    return path


def out_of_date(root: Path, name: str) -> str | None:
    """What differs between the stored data and data computed now, or None. Numbers may differ by rounding."""
    path = root / DATA / f"{name}.json"
    if not path.is_file():
        return "nothing is stored"
    return difference(json.loads(path.read_text(encoding="utf-8")), computed(root, name), "")


def computed(root: Path, name: str) -> Json:
    """The data of one assignment: for each function and behaviour the request, answers and mistakes."""
    assignment = load(name)
    namespace = Source(
        root / "solutions" / name / f"{name}.ipynb", secret="none: visible cases only"
    ).namespace
    catalogue = read(root, name)
    known = (*catalogue.mistakes, *catalogue.combinations)
    return {
        exercise.function: {
            behaviour.name: _behaviour(assignment, exercise, behaviour, namespace, known)
            for behaviour in exercise.behaviours
        }
        for exercise in assignment.exercises
    }


def _behaviour(
    assignment: Assignment,
    exercise: Exercise,
    behaviour: Behaviour,
    namespace: dict[str, Any],
    known: Sequence[Mistake],
) -> Json:
    asked = request(assignment.name, exercise, behaviour)
    reference = collect(asked, namespace)
    if behaviour.returns is not None:
        exercise = replace(exercise, returns=behaviour.returns)
    mistakes: list[Json] = []
    for mistake in known:
        if mistake.function == exercise.function and mistake.behaviour == behaviour.name:
            for found in _known(exercise, mistake, asked, reference, namespace):
                if not any(_alike(found, earlier) for earlier in mistakes):
                    mistakes.append(found)
    return {"request": asked, "reference": reference, "mistakes": mistakes}


def _known(
    exercise: Exercise, mistake: Mistake, asked: Json, reference: Json, namespace: dict[str, Any]
) -> list[Json]:
    """What a mistake is recognised by on the one call that exposes it; nothing where that is right there."""
    if mistake.question[0].islower():  # a part of what the check says by itself
        return []
    (call,) = [each for each in asked["calls"] if each["id"].rsplit(" #", 1)[0] == mistake.case][:1]
    bundle = collect(asked | {"calls": [call]}, define(mistake.code, exercise.function, namespace))
    if bundle["missing"] is not None:  # it cannot be called, and the check says so
        return []
    if not bundle["calls"][0].get("again", True):  # it draws at random, and the check says so
        return []
    outputs = _outputs(exercise, bundle["calls"][0])
    (right,) = [_outputs(exercise, each) for each in reference["calls"] if each["id"] == call["id"]]
    if outputs is None or same_outputs(outputs, _received(right or {})):
        return []
    if not same_outputs(outputs, _received(outputs)):  # nothing to compare, as with a list: the check says so
        return []
    return [{"id": mistake.id, "call": mistake.case, "outputs": outputs, "question": mistake.question}]


def _alike(found: Json, earlier: Json) -> bool:
    """Whether an earlier mistake gives the same on the same call, so that its question is asked anyway."""
    return found["call"] == earlier["call"] and same_outputs(earlier["outputs"], _received(found["outputs"]))


def _received(outputs: dict[str, Json]) -> dict[str, Received]:
    return {name: receive(each) for name, each in outputs.items()}


def _outputs(exercise: Exercise, record: Json) -> dict[str, Json] | None:
    """The outputs of a call by name, or the error it raised; None where it gave another number of values."""
    if "error" in record:
        return {ERROR: encode(error_text(record["error"]).value)}
    returned = record["returned"]
    received = receive(returned)
    if len(exercise.returns) > 1 and (
        received.kind != "tuple" or len(received.value) != len(exercise.returns)
    ):
        return None
    records = returned["items"] if len(exercise.returns) > 1 else [returned]
    return dict(zip(outputs_by_name(exercise.returns, received), records, strict=True))


def difference(stored: Json, now: Json, where: str) -> str | None:
    """The first place where two records differ by more than rounding."""
    if isinstance(stored, dict) and isinstance(now, dict):
        if stored.get("kind") == now.get("kind") and stored.get("kind") in ("array", "tensor"):
            a, b = receive(stored).value, receive(now).value
            same = a.dtype == b.dtype and a.shape == b.shape and _same_but_for_rounding(a, b)
            return None if same else f"numbers differ at {where}"
        if set(stored) != set(now):
            return f"other entries at {where or 'the top'}: {sorted(set(stored) ^ set(now))}"
        return next((d for key in now if (d := difference(stored[key], now[key], f"{where}/{key}"))), None)
    if isinstance(stored, list) and isinstance(now, list):
        if len(stored) != len(now):
            return f"another number of entries at {where}"
        pairs = enumerate(zip(stored, now, strict=True))
        return next((d for i, (a, b) in pairs if (d := difference(a, b, f"{where}/{i}"))), None)
    if isinstance(stored, float) and isinstance(now, float):
        same = _same_but_for_rounding(np.array(stored), np.array(now))
        return None if same else f"numbers differ at {where}"
    return None if stored == now else f"values differ at {where}"


def _same_but_for_rounding(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether numbers agree as far as processors do, which add in different orders. Those of double precision
    may have been of single precision before, as losses are."""
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    with np.errstate(over="ignore"):
        single = [np.array_equal(each, each.astype(np.float32), equal_nan=True) for each in (a, b)]
    rounding = 1e-5 if all(single) else 1e-9
    return bool(np.allclose(a, b, rtol=rounding, atol=rounding, equal_nan=True))
