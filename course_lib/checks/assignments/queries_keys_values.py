"""Assignment 02: projections, attention, self-attention, cross-attention, and a measure of equivariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.entries import build
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned
from course_lib.checks.values import Entry

from .tables import integer_queries_and_keys, long_queries, queries_and_keys

# What the four functions refuse: the point is to write the formula oneself. The course's softmax is allowed.
LIBRARY_ATTENTION = (
    "course_lib.attention.project",
    "course_lib.attention.scores",
    "course_lib.attention.attention_weights",
    "course_lib.attention.attention",
    "course_lib.attention.self_attention",
    "course_lib.attention.cross_attention",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention.forward",
)
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
VALUES = np.array([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
OUTPUT_AND_WEIGHTS = (Returned("output", "... L V"), Returned("weights", "... L M", weights=True))


def row_equivariance(outputs: list[dict[str, Any]]) -> str | None:
    """The output of X, and of X with every row moved down by one, agree after the same move."""
    first, second = (each["output"] for each in outputs)
    if first.shape == second.shape and np.allclose(np.roll(first, 1, axis=-2), second, rtol=1e-5, atol=1e-5):
        return None
    return (
        "Moving the rows of X must move the rows of the output in the same way, and change nothing else; "
        "yours change."
    )


def _matrices(draw: Draw) -> Arguments:
    """Projections of a size at which the weights are neither even nor one-hot."""
    return {
        name: draw.normal(f"D {width}", 0.6) for name, width in (("W_q", "K"), ("W_k", "K"), ("W_v", "V"))
    }


def _sequence(draw: Draw, axes: str = "L D") -> Arguments:
    return {"X": draw.normal(axes)} | _matrices(draw)


def _wide_values(draw: Draw) -> Arguments:
    """Values wider than keys."""
    narrow, wide = sorted((draw.sizes["K"], draw.sizes["V"]))
    drawn = {"X": draw.normal("L D"), "W_q": draw.normal(f"D {narrow}"), "W_k": draw.normal(f"D {narrow}")}
    return drawn | {"W_v": draw.normal(f"D {wide}")}


def _one_column(drawn: Arguments) -> Arguments:
    """The same with matrices of one column."""
    return drawn | {name: drawn[name][:, :1] for name in ("W_q", "W_k", "W_v")}


def _large_scores(draw: Draw, build: Callable[[Draw], Arguments]) -> Arguments:
    """Rows so long that `exp` of a score overflows; drawn again until float32 has no doubt which key wins."""
    while True:
        drawn = build(draw)
        for name in {"X", "Y"} & drawn.keys():
            drawn[name] *= 60.0
        Q, K = drawn["X"] @ drawn["W_q"], drawn.get("Y", drawn["X"]) @ drawn["W_k"]
        second, first = np.sort(Q @ K.T / np.sqrt(Q.shape[-1]))[:, -2:].T
        if (first - second).min() > 60 and 1500 < first.max() < 60_000:
            return drawn


def _one_hot(draw: Draw, name: str = "X", rows: str = "L") -> Arguments:
    """Whole numbers, as in a table of features: rows in which one entry is 1."""
    chosen = draw.rng.integers(0, draw.sizes["D"], draw.shape(rows))
    return {name: np.eye(draw.sizes["D"], dtype=np.int64)[chosen]}


def _moved(draw: Draw) -> list[Arguments]:
    drawn = _sequence(draw)
    return [drawn, drawn | {"X": np.roll(drawn["X"], 1, axis=-2)}]


def _two_sequences(draw: Draw, X: str = "L D", Y: str = "M D") -> Arguments:
    return {"X": draw.normal(X), "Y": draw.normal(Y)} | _matrices(draw)


def _shorter(draw: Draw) -> Arguments:
    few, many = sorted((draw.sizes["L"], draw.sizes["M"]))
    return _two_sequences(draw, f"{few} D", f"{many} D")


def _longer(draw: Draw) -> Arguments:
    few, many = sorted((draw.sizes["L"], draw.sizes["M"]))
    return _two_sequences(draw, f"{many} D", f"{few} D")


def _table(draw: Draw, before: str = "", queries: str = "L", keys: str = "M") -> Arguments:
    return queries_and_keys(draw, before, queries, keys) | {"V": draw.normal(f"{before} {keys} V", 3.0)}


def _one_number_each(draw: Draw) -> Arguments:
    drawn = _table(draw)
    return drawn | {"V": drawn["V"][:, :1]}


def _permutation(draw: Draw, length: int) -> np.ndarray:
    """A permutation that is not its own inverse: a swap would hide which of the two was used."""
    while True:
        drawn = draw.rng.permutation(length)
        if not np.array_equal(drawn[drawn], np.arange(length)):
            return drawn


def _layer(draw: Draw, name: str, rows: int) -> Entry:
    """A named layer of `entries`, with arrays that fit `rows` rows of width D."""
    arrays: dict[str, Callable[[], Arguments]] = {
        "attention_layer": lambda: _matrices(draw),
        "per_token_layer": lambda: {"W": draw.normal("D V")},
        "positional_layer": lambda: {"W": draw.normal("D V"), "positions": draw.normal(f"{rows} D")},
        "running_sum_layer": dict,
        "pooling_layer": dict,
        "previous_row_layer": dict,
        "identity_layer": dict,
    }
    return Entry(name, arrays[name]())


def _permuted(draw: Draw, name: str, before: str = "", rows: int | None = None) -> Arguments:
    """A layer, rows for it, and their new order; rows are many enough for orders that are no swap."""
    rows = draw.sizes["L"] + 4 if rows is None else rows
    layer = _layer(draw, name, rows)
    return {
        "layer": layer,
        "X": draw.normal(f"{before} {rows} D"),
        "permutation": _permutation(draw, rows),
    }


def _signed(draw: Draw, name: str, sign: int) -> Arguments:
    """The same, drawn again until the largest difference has that sign: a forgotten `abs` then shows."""
    while True:
        drawn = _permuted(draw, name)
        layer = build(drawn["layer"].name, drawn["layer"].arguments)
        X, order = drawn["X"], drawn["permutation"]
        differences = sign * (layer(X[order]) - layer(X)[order])
        if differences.max() > -1.1 * differences.min():
            return drawn


def _three_cycle(draw: Draw) -> Arguments:
    return _permuted(draw, "attention_layer", rows=3) | {"permutation": np.array([1, 2, 0])}


def _same_order(draw: Draw) -> Arguments:
    drawn = _permuted(draw, "running_sum_layer")
    return drawn | {"permutation": np.arange(len(drawn["permutation"]))}


def _small_gap(draw: Draw) -> Arguments:
    """Numbers so small that the largest difference is far below 0.001."""
    drawn = _permuted(draw, "running_sum_layer")
    return drawn | {"X": drawn["X"] * 2e-4 / len(drawn["X"])}


def _gap_beside_large_numbers(draw: Draw) -> Arguments:
    """Outputs of 100,000 and more, and gaps of a few; all is whole, so that float32 holds it exactly."""
    while True:
        drawn = _permuted(draw, "positional_layer")
        order, rows = drawn["permutation"], f"{len(drawn['permutation'])} D"
        W, positions = (draw.integers(axes, 0, 2).astype(float) for axes in ("D V", rows))
        if ((positions - positions[order]) @ W).any():
            layer = Entry("positional_layer", {"W": W, "positions": positions})
            return drawn | {"layer": layer, "X": 100_000.0 + draw.integers(rows, 0, 3)}


def _integer_rows(draw: Draw) -> Arguments:
    drawn = _permuted(draw, "positional_layer")
    return drawn | {"X": draw.integers(f"{len(drawn['permutation'])} D")}


ANY_SEQUENCE = (
    Case("a batch", lambda draw: _sequence(draw, "B L D")),
    Case("a batch of one", lambda draw: _sequence(draw, "1 L D")),
    Case("two axes in front", lambda draw: _sequence(draw, "2 B L D")),
    Case("one row", lambda draw: _sequence(draw, "1 D")),
    Case("matrices of one column", lambda draw: _one_column(_sequence(draw))),
    Case("integers", lambda draw: _one_hot(draw) | _matrices(draw)),
)

PROJECT = Exercise(
    function="project",
    parameters=("X", "W_q", "W_k", "W_v"),
    returns=(Returned("Q", "... L K"), Returned("K", "... L K"), Returned("V", "... L V")),
    refused=LIBRARY_ATTENTION,
    behaviours=(
        Behaviour(
            "ordinary",
            "one sequence",
            2,
            cases=(
                Case("a sequence", _sequence),
                Case("as many rows as columns", _sequence, equal_sizes=True),
                Case("values wider than keys", _wide_values),
            ),
        ),
        Behaviour(
            "any input",
            "batches, axes of length 1, integers, and inputs left as they are",
            1,
            unchanged=True,
            cases=ANY_SEQUENCE,
        ),
    ),
)

ATTENTION = Exercise(
    function="attention",
    parameters=("Q", "K", "V"),
    returns=OUTPUT_AND_WEIGHTS,
    refused=LIBRARY_ATTENTION,
    behaviours=(
        Behaviour(
            "ordinary",
            "one table of queries, one of keys and values",
            3,
            cases=(
                Case(
                    "chapter 1",
                    lambda draw: {"Q": np.array([[1.0, 2.0], [0.0, 0.0]]), "K": KEYS, "V": VALUES},
                ),
                Case("another table", _table),
                Case("as many queries as keys", _table, equal_sizes=True),
            ),
        ),
        Behaviour(
            "batches",
            "batches, axes of length 1",
            2,
            cases=(
                Case("a batch", lambda draw: _table(draw, "B")),
                Case("a batch of one", lambda draw: _table(draw, "1")),
                Case("two axes in front", lambda draw: _table(draw, "2 B")),
                Case("a batch with all sizes equal", lambda draw: _table(draw, "B"), equal_sizes=True),
                Case("one query", lambda draw: _table(draw, queries="1")),
                Case("one key", lambda draw: _table(draw, keys="1")),
                Case("one number per value", _one_number_each),
            ),
        ),
        Behaviour(
            "any input",
            "long queries, integers, and inputs left as they are",
            2,
            unchanged=True,
            cases=(
                Case("the usual", _table),
                Case("very long queries", lambda draw: long_queries(draw) | {"V": draw.normal("M V", 3.0)}),
                Case(
                    "integers",
                    lambda draw: integer_queries_and_keys(draw) | {"V": draw.integers("M V", 0, 9)},
                ),
            ),
        ),
    ),
)

SELF_ATTENTION = Exercise(
    function="self_attention",
    parameters=("X", "W_q", "W_k", "W_v"),
    returns=(Returned("output", "... L V"), Returned("weights", "... L L", weights=True)),
    predecessors=("project", "attention"),
    refused=LIBRARY_ATTENTION,
    behaviours=(
        Behaviour(
            "ordinary",
            "one sequence",
            2,
            cases=(
                Case("a sequence", _sequence),
                Case("as many rows as columns", _sequence, equal_sizes=True),
                Case("rows moved down by one", _moved, across=row_equivariance),
            ),
        ),
        Behaviour(
            "any input",
            "batches, axes of length 1, long rows, integers, and inputs left as they are",
            1,
            unchanged=True,
            cases=(*ANY_SEQUENCE, Case("long rows", lambda draw: _large_scores(draw, _sequence))),
        ),
    ),
)

CROSS_ATTENTION = Exercise(
    function="cross_attention",
    parameters=("X", "Y", "W_q", "W_k", "W_v"),
    returns=OUTPUT_AND_WEIGHTS,
    predecessors=("project", "attention"),
    refused=LIBRARY_ATTENTION,
    behaviours=(
        Behaviour(
            "ordinary",
            "two sequences",
            2,
            cases=(
                Case("X shorter than Y", _shorter),
                Case("X longer than Y", _longer),
                Case("X as long as Y", _two_sequences, equal_sizes=True),
            ),
        ),
        Behaviour(
            "any input",
            "batches, axes of length 1, long rows, integers, and inputs left as they are",
            2,
            unchanged=True,
            cases=(
                Case("a batch", lambda draw: _two_sequences(draw, "B L D", "B M D")),
                Case("a batch of one", lambda draw: _two_sequences(draw, "1 L D", "1 M D")),
                Case("two axes in front", lambda draw: _two_sequences(draw, "2 B L D", "2 B M D")),
                Case("one row in X", lambda draw: _two_sequences(draw, "1 D")),
                Case("one row in Y", lambda draw: _two_sequences(draw, Y="1 D")),
                Case("matrices of one column", lambda draw: _one_column(_two_sequences(draw))),
                Case("long rows", lambda draw: _large_scores(draw, _two_sequences)),
                Case("integers", lambda draw: _one_hot(draw) | _one_hot(draw, "Y", "M") | _matrices(draw)),
            ),
        ),
    ),
)

EQUIVARIANCE_GAP = Exercise(
    function="equivariance_gap",
    parameters=("layer", "X", "permutation"),
    returns=(Returned("gap", ""),),
    behaviours=(
        Behaviour(
            "ordinary",
            "layers that keep or mind the order of rows",
            2,
            cases=(
                Case("attention, a cycle of three", _three_cycle),
                Case("attention, more rows", lambda draw: _permuted(draw, "attention_layer")),
                Case("as many rows as columns", _three_cycle, equal_sizes=True),
                Case("each row by itself", lambda draw: _permuted(draw, "per_token_layer")),
                Case("positions added", lambda draw: _signed(draw, "positional_layer", 1)),
                Case("running sum", lambda draw: _signed(draw, "running_sum_layer", -1)),
                Case("the row before", lambda draw: _permuted(draw, "previous_row_layer")),
                Case("every row the mean", lambda draw: _permuted(draw, "pooling_layer")),
            ),
        ),
        Behaviour(
            "any input",
            "batches, the order left as it is, small gaps, integers, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("the usual", lambda draw: _permuted(draw, "running_sum_layer")),
                Case("attention on a batch", lambda draw: _permuted(draw, "attention_layer", "B")),
                Case("running sum on a batch", lambda draw: _permuted(draw, "running_sum_layer", "B")),
                Case("positions, two axes in front", lambda draw: _permuted(draw, "positional_layer", "2 B")),
                Case(
                    "as many tables as rows",
                    lambda draw: _permuted(draw, "running_sum_layer", "B", rows=3),
                    equal_sizes=True,
                ),
                Case("the same order", _same_order),
                Case("a layer that returns its input", lambda draw: _permuted(draw, "identity_layer")),
                Case("a small gap", _small_gap),
                Case("a gap beside large numbers", _gap_beside_large_numbers),
                Case("integers", _integer_rows),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "02_queries_keys_values",
    "Queries, keys, values",
    (PROJECT, ATTENTION, SELF_ATTENTION, CROSS_ATTENTION, EQUIVARIANCE_GAP),
)
