"""Turn a bundle into a verdict, by the same ladder for students and for marks.

The rungs, in order: exists, takes these arguments, runs, type, shape, finite, rows sum to 1, property,
inputs left unchanged, value. The first rung that fails is told in one sentence; later ones are not judged.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .spec import Behaviour, Exercise, Returned, outputs_by_name
from .values import ERROR, BadRecord, Json, Received, decode, error_text, readable, receive

# Every honest float32 solution tried stays within 1e-5 of the float64 reference, relative to 1 or to the
# value, whichever is larger; the nearest mistake in the catalogue is more than 100 times further away.
TOLERANCE = 1e-5
SUM_TOLERANCE = 1e-5
KNOWN_ERRORS = {name for name in vars(builtins) if name.endswith("Error")} | {"AxisError", "LinAlgError"}


@dataclass(frozen=True)
class Call:
    """One call, ready to be judged: arguments, the student's record and the reference's outputs."""

    name: str
    arguments: dict[str, Any]
    record: Json
    raises: bool
    reference: dict[str, Any] | None


@dataclass
class Verdict:
    """What the judge says of one behaviour: the rungs passed, and the sentence for the first that failed."""

    function: str
    behaviour: str
    title: str
    max_points: float
    passed: list[str] = field(default_factory=list)
    failed: str | None = None
    sentence: str = ""
    written: bool = True

    @property
    def points(self) -> float:
        """All points of the behaviour, or none."""
        return float(self.max_points) if self.failed is None else 0.0


def judge(
    exercise: Exercise,
    behaviour: Behaviour,
    request: Json,
    bundle: Json,
    reference: Json,
    *,
    reveal: bool,
    diagnose: Callable[[str, dict[str, Received]], str | None] | None = None,
) -> Verdict:
    """The verdict on one behaviour.

    Parameters: request, what was asked; bundle, what the student's function gave; reference, what the
    solution's function gave to the same request; reveal, whether a sentence may tell inputs and expected
    values (visible cases) or not (hidden ones); diagnose, given a call's name and outputs, the question that
    leads to a known mistake, or None.
    """
    verdict = Verdict(exercise.function, behaviour.name, behaviour.title, behaviour.points)
    try:
        for rung, sentence in _rungs(exercise, behaviour, request, bundle, reference, reveal, diagnose):
            if sentence is not None:
                verdict.failed, verdict.sentence = rung, sentence
                verdict.written = rung != "not written"
                return verdict
            verdict.passed.append(rung)
    except Exception:
        # Only a bundle that collect did not make can lead here, and it must not stop the marking of others.
        verdict.failed, verdict.sentence = "runs", "What the notebook sent back could not be read."
    return verdict


def _rungs(
    exercise: Exercise,
    behaviour: Behaviour,
    request: Json,
    bundle: Json,
    reference: Json,
    reveal: bool,
    diagnose: Callable[[str, dict[str, Received]], str | None] | None,
) -> Iterator[tuple[str, str | None]]:
    name = exercise.function
    missing = bundle["missing"]
    yield "exists", _exists(name, missing)
    if missing is not None:
        signature = f"{name}({', '.join(exercise.parameters)})"
        why = readable(missing.removeprefix("arguments: "))
        yield "takes these arguments", f"It is called as {signature}, and yours does not take that: {why}."
    yield "takes these arguments", None

    records = {record["id"]: record for record in bundle["calls"]}
    if len(records) != len(bundle["calls"]):
        raise BadRecord("two answers to one call")
    expected = {record["id"]: record for record in reference["calls"]}
    calls = [_call(exercise, call, records[call["id"]], expected[call["id"]]) for call in request["calls"]]
    yield from _runs(name, calls, reveal, diagnose)

    answered = [call for call in calls if not call.raises]
    received = [(call, receive(call.record["returned"])) for call in answered]
    yield "type", _first(_type(exercise, call, got, reveal) for call, got in received)
    outputs = [(call, outputs_by_name(exercise.returns, got)) for call, got in received]
    hint = _hint(outputs, diagnose)
    yield "shape", _first((_shape(exercise, call, got, reveal) for call, got in outputs), hint)
    arrays = [(call, {name: np.asarray(item.value) for name, item in got.items()}) for call, got in outputs]
    overflow = "Which step can overflow, or divide by 0?"
    yield "finite", _first((_finite(call, got, reveal) for call, got in arrays), hint or overflow)
    if any(returned.weights for returned in exercise.returns):
        division = "What must each row be divided by?"
        sums = (_sums(exercise, call, got, reveal) for call, got in arrays)
        yield "rows sum to 1", _first(sums, hint or division)
    if behaviour.properties or any(case.across for case in behaviour.cases):
        yield "property", _first(_properties(behaviour, arrays), hint)
    if behaviour.unchanged:
        yield "inputs unchanged", _first(_unchanged(call) for call in calls)
    yield "value", _first((_value(exercise, call, got, reveal) for call, got in arrays), hint)


def _exists(name: str, missing: str | None) -> str | None:
    if missing is None or missing.startswith("arguments: "):
        return None
    if missing == "absent":
        return f"There is no {name} yet. Run the cell that defines it. Does that cell end without an error?"
    return f"{name} is {readable(missing)}, not a function. Run the cell that defines {name} again."


def _call(exercise: Exercise, call: Json, record: Json, expected: Json) -> Call:
    given = call["arguments"]
    arguments = {name: decode(given[name]) for name in exercise.parameters if name in given}
    reference = None
    if not call["raises"]:
        outputs = outputs_by_name(exercise.returns, receive(expected["returned"]))
        reference = {name: np.asarray(item.value) for name, item in outputs.items()}
    return Call(call["id"].rsplit(" #", 1)[0], arguments, record, call["raises"], reference)


def _runs(
    name: str,
    calls: list[Call],
    reveal: bool,
    diagnose: Callable[[str, dict[str, Received]], str | None] | None,
) -> Iterator[tuple[str, str | None]]:
    """The calls end as they should: without an error, or with ValueError where the statement asks for it."""
    errors = [(call, call.record.get("error")) for call in calls]
    hint = _hint([(call, {ERROR: error_text(error)}) for call, error in errors if error], diagnose)
    for _, error in errors:
        unwritten = None if error is None else _unwritten(name, error)
        if unwritten is not None:
            yield "not written", unwritten
    for call, error in errors:
        if error is None and call.raises:
            came = _named(receive(call.record["returned"]), reveal)
            yield "runs", f"{_place(call, reveal)} it must raise ValueError; yours returned {came}."
        elif error is not None and not (call.raises and error["type"] == "ValueError"):
            yield "runs", _first([_raised(call, error, reveal)], hint)
    yield "runs", None


def _unwritten(name: str, error: Json) -> str | None:
    """Whether it, or a function that it calls, is still the stub."""
    stub = re.fullmatch(r"(?:(\w{1,60}) is not written yet)?", error["message"])
    if error["type"] != "NotImplementedError" or stub is None:
        return None
    other = stub[1] or name
    return (
        f"{name} is not written yet." if other == name else f"{name} needs {other}, which is not written yet."
    )


def _raised(call: Call, error: Json, reveal: bool) -> str:
    kind, message, line = (readable(error[key], 300) for key in ("type", "message", "line"))
    if kind == "Refused":
        return f"Not your own work yet: {message}."
    if kind == "KeyboardInterrupt":
        return f"{_place(call, reveal)} it was stopped before it came to an end. Is there a loop without end?"
    if not reveal:  # an error of the student's own could tell the input
        kind, message = (kind if kind in KNOWN_ERRORS else "an error"), ""
    said = f"{kind}: {message.rstrip('.')}" if message else kind
    where = f" ({line})" if line else ""
    asked = ", not ValueError" if call.raises else ""
    return f"{_place(call, reveal)} it raised {said}{where}{asked}."


def _type(exercise: Exercise, call: Call, got: Received, reveal: bool) -> str | None:
    wanted = [returned.name for returned in exercise.returns]
    if got.kind == "none":
        return "Your function returns nothing (None). Does it end with a return?"
    if len(wanted) > 1:
        if got.kind not in ("tuple", "list") or len(got.value) != len(wanted):
            many = got.kind in ("tuple", "list")
            count = f"a {got.kind} of {len(got.value)}" if many else f"one, {_named(got, reveal)}"
            return f"Return {len(wanted)} values, ({', '.join(wanted)}); yours gave {count}."
        items = got.value
    else:
        items = [got]
    for returned, item in zip(exercise.returns, items, strict=True):
        sentence = _container(exercise, call, returned, item, reveal)
        if sentence is not None:
            return sentence
    return None


def _container(
    exercise: Exercise, call: Call, returned: Returned, item: Received, reveal: bool
) -> str | None:
    words = {"array": "a NumPy array", "tensor": "a PyTorch tensor"}
    name, axes = returned.name, returned.axes
    if item.kind == exercise.container:
        kind = np.asarray(item.value).dtype.kind
        if kind == "f":
            return None
        holds = "booleans" if kind == "b" else "integers"
        return f"{_place(call, reveal)} {name} must hold real numbers (floats); yours holds {holds}."
    if item.kind == "number" and axes in ("", "..."):
        return None
    if axes == "":
        return f"Return {name} as a number, not {_named(item, reveal)}."
    return f"Return {name} as {words[exercise.container]} of floats, not {_named(item, reveal)}."


def _named(item: Received, reveal: bool) -> str:
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


def _shape(exercise: Exercise, call: Call, got: dict[str, Received], reveal: bool) -> str | None:
    assert call.reference is not None
    for returned in exercise.returns:
        shape, wanted = np.shape(got[returned.name].value), call.reference[returned.name].shape
        if shape != wanted:
            numbers = f": expected {wanted}, got {shape}" if reveal else ""
            axes = f" with axes {returned.words}" if returned.axes else ""
            return f"{_place(call, reveal)} {returned.name}{axes} has the wrong shape{numbers}."
    return None


def _finite(call: Call, got: dict[str, np.ndarray], reveal: bool) -> str | None:
    for name, array in got.items():
        if not np.isfinite(array).all():
            what = "NaN" if np.isnan(array).any() else "infinity"
            return f"{_place(call, reveal)} {name} contains {what}."
    return None


def _sums(exercise: Exercise, call: Call, got: dict[str, np.ndarray], reveal: bool) -> str | None:
    assert call.reference is not None
    for returned in exercise.returns:
        if not returned.weights:
            continue
        sums = got[returned.name].astype(np.float64).sum(axis=-1)
        wanted = call.reference[returned.name].sum(axis=-1)
        wrong = np.argwhere(np.abs(sums - wanted) > SUM_TOLERANCE)
        if len(wrong):
            index = tuple(int(i) for i in wrong[0])
            row = f"row {list(index)} of {returned.name} sums" if index else f"{returned.name} sum"
            numbers = (
                f" to {sums[index]:.3f}, not {wanted[index]:.0f}" if reveal else " to something else than 1"
            )
            return f"{_place(call, reveal)} {row}{numbers}."
    return None


def _properties(
    behaviour: Behaviour, arrays: list[tuple[Call, dict[str, np.ndarray]]]
) -> Iterator[str | None]:
    for call, got in arrays:
        for holds in behaviour.properties:
            yield holds(call.arguments, got)
    for case in behaviour.cases:
        if case.across is not None:
            outputs = [got for call, got in arrays if call.name == case.name]
            yield case.across(outputs) if outputs else None


def _unchanged(call: Call) -> str | None:
    if call.record["changed"]:
        changed = readable(call.record["changed"][0], 60)
        return f"Your function changes its input {changed}. Work on a copy: the caller still needs it."
    if not call.record.get("again", True):
        return "Called twice with the same input, your function gives two different answers."
    return None


def _value(exercise: Exercise, call: Call, got: dict[str, np.ndarray], reveal: bool) -> str | None:
    assert call.reference is not None
    if exercise.compare is not None:
        sentence = exercise.compare(call.arguments, got, call.reference)
        return None if sentence is None else f"{_place(call, reveal)} {sentence}"
    for name, array in got.items():
        wanted = call.reference[name]
        far = ~np.isclose(array, wanted, rtol=TOLERANCE, atol=TOLERANCE)
        if far.any():
            if not reveal:
                return f"{_place(call, reveal)} some values of {name} are wrong."
            index = tuple(int(i) for i in np.argwhere(far)[0])
            where = f"{name}{list(index)}" if index else name
            return (
                f"{_place(call, reveal)} {where} should be {wanted[index]:.4g}; yours is {array[index]:.4g}."
            )
    return None


def _place(call: Call, reveal: bool) -> str:
    """Where it went wrong; for hidden cases only their kind is told."""
    if not reveal:
        return f"On another input of the kind “{call.name}”,"
    shapes = [
        f"{name} {tuple(value.shape)}" for name, value in call.arguments.items() if hasattr(value, "shape")
    ]
    plain = [f"{name} {value}" for name, value in call.arguments.items() if isinstance(value, (int, float))]
    inputs = ", ".join(shapes + plain)
    return f"On “{call.name}” ({inputs})," if inputs else f"On “{call.name}”,"


def _hint(
    outputs: list[tuple[Call, dict[str, Received]]],
    diagnose: Callable[[str, dict[str, Received]], str | None] | None,
) -> str | None:
    if diagnose is None:
        return None
    return _first(diagnose(call.name, got) for call, got in outputs)


def _first(sentences: Iterable[str | None], hint: str | None = None) -> str | None:
    """The first sentence there is, with the question that leads to the mistake where one is known."""
    for sentence in sentences:
        if sentence is not None:
            return f"{sentence} {hint}" if hint else sentence
    return None
