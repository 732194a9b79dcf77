"""The upper rungs of the ladder: for each a sentence that says what is wrong with a result, or None."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .calls import Call, Hint, named, place
from .spec import Behaviour, Exercise, Returned
from .values import Received

# Every honest float32 solution tried stays within 1e-5 of the float64 reference, relative to 1 or to the
# value, whichever is larger; the nearest mistake in the catalogue is more than 100 times further away.
TOLERANCE = 1e-5
SUM_TOLERANCE = 1e-5
NEARLY = 0.005  # a sum as near as that has lost digits, as in float16: no step is missing
ONE = {"floats": "a number", "integers": "a whole number", "booleans": "True or False"}
HOLDS = {"f": "floats", "i": "integers", "u": "integers", "b": "booleans"}


def types(exercise: Exercise, call: Call, got: Received, reveal: bool) -> str | None:
    """As many values as asked for, each in the right container and of real numbers."""
    wanted = [returned.name for returned in exercise.returns]
    if got.kind == "none":
        return "Your function returns nothing (None). Does it end with a return?"
    if len(wanted) > 1:
        if got.kind not in ("tuple", "list") or len(got.value) != len(wanted):
            many = got.kind in ("tuple", "list")
            count = f"a {got.kind} of {len(got.value)}" if many else f"one, {named(got, reveal)}"
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
        holds = HOLDS.get(np.asarray(item.value).dtype.kind, "something else")
        if holds == returned.holds:
            return None
        wanted = "real numbers (floats)" if returned.holds == "floats" else returned.holds
        return f"{place(call, reveal)} {name} must hold {wanted}; yours holds {holds}."
    if axes in ("", "...") and _plain(item, returned.holds):
        return None
    if axes == "":
        came = "a float" if (returned.holds, item.kind) == ("integers", "number") else named(item, reveal)
        return f"Return {name} as {ONE[returned.holds]}, not {came}."
    container = f"{words[exercise.container]} of {returned.holds}"
    return f"Return {name} as {container}, not {named(item, reveal)}."


def _plain(item: Received, holds: str) -> bool:
    """Whether it is a plain number, or a plain True or False, of the kind that is wanted."""
    if holds == "booleans":
        return item.kind == "bool"
    return item.kind == "number" and (holds == "floats" or isinstance(item.value, int))


def shapes(exercise: Exercise, call: Call, got: dict[str, Received], reveal: bool) -> str | None:
    """Every output has the shape of the reference's."""
    assert call.reference is not None
    for returned in exercise.returns:
        shape, wanted = np.shape(got[returned.name].value), call.reference[returned.name].shape
        if shape != wanted and not returned.free:
            numbers = f": expected {wanted}, got {shape}" if reveal else ""
            axes = f" with axes {returned.words}" if returned.axes else ""
            return f"{place(call, reveal)} {returned.name}{axes} has the wrong shape{numbers}."
    return None


def finite(call: Call, got: dict[str, np.ndarray], reveal: bool) -> str | None:
    """No output contains NaN or infinity."""
    for name, array in got.items():
        if not np.isfinite(array).all():
            what = "NaN" if np.isnan(array).any() else "infinity"
            return f"{place(call, reveal)} {name} contains {what}."
    return None


def row_sums(
    exercise: Exercise, call: Call, got: dict[str, np.ndarray], reveal: bool, hint: Hint
) -> str | None:
    """The rows of weights sum to what the reference's rows sum to: 1, or 0 where nothing is allowed.

    hint: gives the question that leads to a known mistake; without it the sentence ends with one of its own.
    """
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
            nearly = abs(sums[index] - wanted[index]) < NEARLY
            numbers = (
                f" to {sums[index]:{'.6f' if nearly else '.3f'}}, not {wanted[index]:.0f}"
                if reveal
                else f" to something else than {wanted[index]:.0f}"
            )
            return f"{place(call, reveal)} {row}{numbers}. {hint() or _question_of_sums(call, nearly)}"
    return None


def _question_of_sums(call: Call, nearly: bool) -> str:
    if nearly:
        return "Which step keeps too few digits?"
    if call.arguments.get("mask") is not None:
        return "Which scores does the mask leave, and what is their row divided by?"
    return "What must each row be divided by?"


def properties_hold(
    behaviour: Behaviour, arrays: list[tuple[Call, dict[str, np.ndarray]]]
) -> Iterator[str | None]:
    """What must hold for each call, and between the calls of one case."""
    for call, got in arrays:
        for holds in behaviour.properties:
            yield holds(call.arguments, got)
    for case in behaviour.cases:
        if case.across is not None:
            outputs = [got for call, got in arrays if call.name == case.name]
            yield case.across(outputs) if outputs else None


def unchanged(call: Call) -> str | None:
    """Inputs are as they were, and a second call gives the same."""
    if call.record["changed"]:
        changed = [name for name in call.record["changed"] if name in call.arguments]
        which = f"its input {changed[0]}" if changed else "one of its inputs"
        return f"Your function changes {which}. Work on a copy: the caller still needs it."
    return repeats(call)


def repeats(call: Call) -> str | None:
    """A second call gives the same."""
    if call.record.get("again", True):
        return None
    return "Called twice with the same input, your function gives two different answers."


def values_agree(exercise: Exercise, call: Call, got: dict[str, np.ndarray], reveal: bool) -> str | None:
    """Every value agrees with the reference within the tolerance, or as the exercise compares them."""
    assert call.reference is not None
    if exercise.compare is not None:
        sentence = exercise.compare(call.arguments, got, call.reference)
        if sentence is None:
            return None
        beside = f" A right answer is {_short(call.reference)}; yours is {_short(got)}." if reveal else ""
        return f"{place(call, reveal)} {sentence}{beside}"
    for name, array in got.items():
        wanted = call.reference[name]
        if np.array_equal(array, wanted):  # which most are, and which is far quicker to see
            continue
        far = ~np.isclose(array, wanted, rtol=TOLERANCE, atol=TOLERANCE)
        if far.any():
            if not reveal:
                return f"{place(call, reveal)} some values of {name} are wrong."
            index = tuple(int(i) for i in np.argwhere(far)[0])
            where = f"{name}{list(index)}" if index else name
            want, came = _apart(wanted[index], array[index])
            return f"{place(call, reveal)} {where} should be {want}; yours is {came}."
    return None


def _short(outputs: dict[str, np.ndarray]) -> str:
    """Outputs in few words; of a long one the first and last numbers."""
    texts = {
        name: np.array2string(array, precision=3, separator=", ", threshold=8)
        for name, array in outputs.items()
    }
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def _apart(first: float, second: float) -> tuple[str, str]:
    """Two different numbers in as few digits as show that they differ, but at least four; truths in words."""
    if isinstance(first, np.bool_) and isinstance(second, np.bool_):
        return str(first), str(second)
    first, second = first + 0.0, second + 0.0  # -0 reads like a mistake
    digits = next((d for d in range(4, 17) if f"{first:.{d}g}" != f"{second:.{d}g}"), 17)
    return f"{first:.{digits}g}", f"{second:.{digits}g}"
