"""Which kinds of input each function meets, visible and hidden ones together: nothing slips through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib.checks.assignments import MODULES, load
from course_lib.checks.collect import names_in
from course_lib.checks.spec import Behaviour, Exercise
from course_lib.checks.values import decode_named
from course_lib.grading.source import Source

ROOT = Path(__file__).resolve().parents[1]
Arguments = dict[str, Any]


def _arrays(arguments: Arguments) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in arguments.items() if hasattr(value, "shape")}


def _scores(given: Arguments) -> np.ndarray | None:
    """The table before softmax, of what has one: from scores, from queries and keys, or from rows."""
    arrays = {name: array.astype(float) for name, array in _arrays(given).items() if array.dtype != bool}
    if "scores" in arrays:
        return arrays["scores"]
    if "query" in arrays and "width" not in given:
        return arrays["query"] @ arrays["keys"].T
    if {"Q", "K"} <= arrays.keys():
        return arrays["Q"] @ np.swapaxes(arrays["K"], -1, -2) / np.sqrt(arrays["K"].shape[-1])
    if {"X", "W_q", "W_k"} <= arrays.keys():
        X, Y, (_, width), heads = arrays["X"], arrays.get("Y", arrays["X"]), arrays["W_q"].shape, 1
        if "num_heads" in given:
            heads = given["num_heads"]
        stored = "d_model" in given  # a module's matrices, as nn.Linear keeps them
        W_q, W_k = (arrays[name].T if stored else arrays[name] for name in ("W_q", "W_k"))
        Q, K = (
            np.swapaxes(rows.reshape(*rows.shape[:-1], heads, width // heads), -2, -3)
            for rows in (X @ W_q, Y @ W_k)
        )
        return Q @ np.swapaxes(K, -1, -2) / np.sqrt(width // heads)
    return None


def _allowed(given: Arguments) -> tuple[np.ndarray, np.ndarray] | None:
    """Scores, and a mask of the same shape, of a call that has both."""
    scores, mask = _scores(given), _arrays(given).get("mask")
    if scores is None or mask is None:
        return None
    mask = mask[..., None, :, :] if "num_heads" in given else mask
    return scores, np.broadcast_to(mask, scores.shape)


def _hidden_keys_dominate(given: Arguments) -> bool:
    """In some row a hidden score lies so far above the allowed ones that these would get nothing."""
    if (both := _allowed(given)) is None:
        return False
    scores, mask = both
    allowed = np.where(mask, scores, -np.inf).max(axis=-1)
    return bool(((np.where(mask, -np.inf, scores).max(axis=-1) > allowed + 100) & mask.any(axis=-1)).any())


def _allowed_scores_negative(given: Arguments) -> bool:
    """In some row with hidden keys every allowed score is below 0: a 0 in place of hidden ones would win."""
    if (both := _allowed(given)) is None:
        return False
    scores, mask = both
    rows = mask.any(axis=-1) & ~mask.all(axis=-1)
    return bool(((np.where(mask, scores, -np.inf).max(axis=-1) < 0) & rows).any())


def _million_behind_the_mask(given: Arguments) -> bool:
    large = [array for array in _arrays(given).values() if array.dtype.kind == "f"]
    return "mask" in given and any(array.size and np.abs(array).max() >= 1e6 for array in large)


def _row_far_from_0(given: Arguments, sign: int) -> bool:
    """`exp` of an allowed score is infinite (sign 1), or that of all in a row is 0 (sign -1)."""
    scores = _scores(given)
    if scores is None:
        return False
    mask = np.broadcast_to(True, scores.shape) if (both := _allowed(given)) is None else both[1]
    largest = np.where(mask, scores, -np.inf).max(axis=-1)[mask.any(axis=-1)]
    single = any(array.dtype == np.float32 for array in _arrays(given).values())
    overflow, underflow = (89, -104) if single else (710, -746)
    return bool((largest > overflow).any() if sign > 0 else (largest < underflow).any())


def _mask(given: Arguments) -> np.ndarray | None:
    mask = _arrays(given).get("mask")
    return mask if mask is not None and mask.dtype == bool else None


def _asymmetric(given: Arguments) -> bool:
    mask = _mask(given)
    square = mask is not None and mask.ndim > 1 and mask.shape[-1] == mask.shape[-2] > 1
    return square and not np.array_equal(mask, np.swapaxes(mask, -1, -2))


def _key_width(given: Arguments) -> bool:
    """There is a key width, and it is neither 1 nor 4, whose root is easily missed."""
    names = {"K": -1, "keys": -1, "W_k": -1}
    widths = [array.shape[axis] for name, array in _arrays(given).items() if (axis := names.get(name))]
    heads = given.get("num_heads", 1)
    return any(width // heads not in (1, 4) for width in widths)


KINDS: dict[str, Callable[[Arguments], bool]] = {
    "sizes all different": lambda given: any(
        array.ndim > 1 and len(set(array.shape)) == array.ndim for array in _arrays(given).values()
    ),
    "key width": _key_width,
    "hidden keys dominate": _hidden_keys_dominate,
    "a million behind the mask": _million_behind_the_mask,
    "exp overflows": lambda given: _row_far_from_0(given, 1),
    "exp is 0 in a whole row": lambda given: _row_far_from_0(given, -1),
    "allowed scores negative": _allowed_scores_negative,
    "integers": lambda given: any(array.dtype.kind == "i" for array in _arrays(given).values()),
    "one row": lambda given: any(
        array.ndim > 1 and array.shape[-2] == 1
        for name, array in _arrays(given).items()
        if name not in ("mask", "keys", "values", "K", "V")
    ),
    "one key": lambda given: any(
        array.shape[axis] == 1
        for name, axis in (("scores", -1), ("weights", -1), ("keys", 0), ("K", -2), ("Y", -2), ("X", -2))
        if (array := _arrays(given).get(name)) is not None and array.ndim
    ),
    "a batch": lambda given: any(
        array.ndim > 2 and array.shape[0] > 1 for name, array in _arrays(given).items() if name != "mask"
    ),
    "an asymmetric mask": _asymmetric,
    "an empty row": lambda given: (mask := _mask(given)) is not None and not mask.any(axis=-1).all(),
    "an all-True mask": lambda given: (mask := _mask(given)) is not None and bool(mask.all()),
}


@cache
def _source(name: str) -> Source:
    return Source(ROOT / "solutions" / name / f"{name}.ipynb", "a fixed secret")


def _calls(name: str, function: str) -> Iterator[tuple[Behaviour, Arguments]]:
    for test in _source(name).tests.values():
        if test.exercise.function == function:
            for part in _source(name).parts(test):
                for call in part.request["calls"]:
                    names = names_in(call, test.exercise.parameters)
                    yield part.behaviour, decode_named(call["arguments"], names)


def kinds(name: str, exercise: Exercise) -> set[str]:
    """The kinds of input that a function meets."""
    found = set()
    for behaviour, given in _calls(name, exercise.function):
        found |= {kind for kind, holds in KINDS.items() if holds(given)}
        found |= {"called twice, inputs compared"} if behaviour.unchanged else set()
        found |= {"gradients"} if "gradients" in (behaviour.probe or "") else set()
    sizes = [case.equal_sizes for behaviour in exercise.behaviours for case in behaviour.cases]
    return found | ({"sizes all equal"} if any(sizes) else set())


SIZES = {"sizes all different", "sizes all equal"}
ROWS = SIZES | {"a batch", "one row", "one key", "called twice, inputs compared"}
ATTENTION = ROWS | {"key width"}
EXTREMES = {"exp overflows", "exp is 0 in a whole row"}
MASKS = {
    *("hidden keys dominate", "allowed scores negative"),
    *("an asymmetric mask", "an all-True mask"),
}
EMPTY = {"a million behind the mask", "an empty row", "gradients"}
# What a function must meet at least. Functions that are not here take no tables, but lengths or counts.
WANTED = {
    "softmax": ROWS | EXTREMES | {"integers"},
    "soft_lookup": ATTENTION | EXTREMES | {"integers"},
    "gaussian_lookup": ATTENTION | {"integers"},
    "sharpen": ROWS - {"one row"} | {"integers"},
    "project": ATTENTION | {"integers"},
    "attention": ATTENTION | EXTREMES | {"integers"},
    "self_attention": ATTENTION | {"integers"},
    "cross_attention": ATTENTION | {"integers"},
    "equivariance_gap": ROWS - {"one row", "one key"} | {"integers"},
    "softmax_jacobian": ROWS - {"one row"},
    "entropy": ROWS - {"one row"},
    "attention_weights": ATTENTION | EXTREMES | {"integers"},
    "padding_mask": {"sizes all equal", "integers", "called twice, inputs compared"},
    "masked_softmax": ROWS | EXTREMES | MASKS | EMPTY,
    "masked_attention": ATTENTION | EXTREMES | MASKS | EMPTY,
    "sees_future": ROWS - {"sizes all equal"},
    "split_heads": ROWS,
    "join_heads": ROWS,
    "multi_head_attention": ATTENTION | EXTREMES | MASKS,
    "MultiHeadAttention": ATTENTION | MASKS - {"hidden keys dominate", "an all-True mask"} | {"gradients"},
    "ColourRecall": SIZES | {"key width", "one row", "an all-True mask", "gradients"},
    "recall_loss": SIZES | {"one row", "gradients", "called twice, inputs compared"},
    "train": {"one row", "an all-True mask", "called twice, inputs compared"},
    "value_contribution": {"sizes all equal", "integers", "called twice, inputs compared"},
    "swap_tokens": SIZES | {"a batch", "one row", "integers", "called twice, inputs compared"},
    "fourier_features": {"integers", "called twice, inputs compared"},
    "two_layer_attention": ROWS | {"an asymmetric mask"},
    "TransformerBlock": ROWS | {"gradients"},
}


@pytest.mark.parametrize("name", MODULES)
def test_every_function_meets_the_kinds_of_input_that_give_mistakes_away(name: str) -> None:
    for exercise in load(name).exercises:
        assert WANTED.get(exercise.function, set()) - kinds(name, exercise) == set(), exercise.function


def test_every_function_of_the_table_is_an_exercise() -> None:
    assert set(WANTED) <= {exercise.function for name in MODULES for exercise in load(name).exercises}
