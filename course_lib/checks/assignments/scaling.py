"""Assignment 03: how large scores are, what softmax does with them, and what dividing by √d_k changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned
from course_lib.checks.values import Entry

from .scaling_chance import compare_spread, compare_sweep
from .scaling_generators import (
    FEW_QUERIES,
    MANY_PAIRS,
    SHARED_KEYS,
    TWO_PAIRS,
    all_pairs_count,
    means_of_weights,
    more_pairs,
    same_products,
)
from .tables import integer_queries_and_keys, long_queries, queries_and_keys

RAW_AND_SCALED = (Returned("raw", ""), Returned("scaled", ""))
FOR_EACH_GENERATOR = (Returned("raw", "generators"), Returned("scaled", "generators"))
ONE_PER_WIDTH = (Returned("raw", "widths"), Returned("scaled", "widths"))


def _generator(draw: Draw) -> Entry:
    return Entry("generator", {"seed": draw.seed()})


def _pairs(draw: Draw, d_k: int, n_pairs: int) -> Arguments:
    return {"d_k": d_k, "n_pairs": n_pairs, "rng": _generator(draw)}


def _other_widths(draw: Draw) -> list[Arguments]:
    """Narrow ones, a middling and a wide one; from 5 up, so that the mean of squares is nearly normal.

    With one key for all pairs the spread is that key's length, which at the narrow widths is off its mean by
    about a quarter: one in four such results lies within what is allowed, but one in 4,000 groups of six.
    """
    ranges = (*[(5, 9)] * 6, (20, 40), (90, 120))
    return [
        _pairs(draw, int(draw.rng.integers(*each)), int(draw.rng.integers(4800, 5200))) for each in ranges
    ]


def _single_pairs(draw: Draw) -> list[Arguments]:
    return [_pairs(draw, draw.sizes["K"], 1), _pairs(draw, draw.sizes["K"] + 20, 1)]


def _narrow(draw: Draw) -> list[Arguments]:
    return [_pairs(draw, d_k, int(draw.rng.integers(4800, 5200))) for d_k in (2, 3)]


def _any_temperature(draw: Draw, low: float, high: float, before: str = "") -> Arguments:
    """A table or batch, and a temperature from low to high; steps of 1/256 are exact in float32."""
    table = {name: np.round(each * 256) / 256 for name, each in queries_and_keys(draw, before).items()}
    return table | {"temperature": round(float(draw.rng.uniform(low, high)), 3)}


def _with_zeros(draw: Draw, axes: str) -> np.ndarray:
    """Weights of which one is 0, in each row another one."""
    weights = draw.weights(axes)
    rows = np.arange(weights.size // weights.shape[-1])
    weights.reshape(-1, weights.shape[-1])[rows, rows % weights.shape[-1]] = 0
    return weights / weights.sum(axis=-1, keepdims=True)


def _many_small(draw: Draw) -> Arguments:
    """One key has most of the weight; hundreds of others, with 1 in 20,000 each, have half of the entropy."""
    small = np.full(int(draw.rng.integers(800, 1200)), 5e-5)
    return {"weights": np.array([1 - small.sum(), *small])}


def _long_and_hot(draw: Draw) -> Arguments:
    """Scores of thousands, and a whole temperature that makes them as small as usual ones."""
    table = {name: np.round(each * 256) / 256 for name, each in queries_and_keys(draw).items()}
    return table | {"Q": 4000.0 * table["Q"], "temperature": int(draw.rng.integers(2500, 4500))}


def _one_hot(draw: Draw, axes: str) -> np.ndarray:
    size = draw.sizes["M"]
    return np.eye(size)[draw.rng.integers(0, size, draw.shape(axes))]


def _sweep(draw: Draw, widths: list[int], n_keys: int, n_queries: int) -> Arguments:
    return {
        "widths": np.array(widths),
        "n_keys": n_keys,
        "n_queries": n_queries,
        "rng": _generator(draw),
    }


def _any_sweep(draw: Draw) -> Arguments:
    """Widths that neither rise nor fall, narrow and wide out of place, all above the number of keys."""
    widths = [int(draw.rng.integers(*each)) for each in ((13, 20), (30, 60), (100, 160))]
    order = ((1, 2, 0), (2, 0, 1))[draw.rng.integers(2)]
    n_keys, n_queries = int(draw.rng.integers(6, 13)), int(draw.rng.integers(470, 530))
    return _sweep(draw, [widths[place] for place in order], n_keys, n_queries)


def _width_twice(draw: Draw) -> Arguments:
    width = int(draw.rng.integers(13, 30))
    return _sweep(draw, [width, 64, width], 10, 200)


SCORE_SPREAD = Exercise(
    function="score_spread",
    parameters=("d_k", "n_pairs", "rng"),
    returns=RAW_AND_SCALED,
    compare=compare_spread,
    behaviours=(
        Behaviour(
            "ordinary",
            "thousands of pairs",
            2,
            cases=(
                Case("width 64", lambda draw: _pairs(draw, 64, 5000)),
                Case("other widths", _other_widths),
                Case("narrow", _narrow),
            ),
        ),
        Behaviour("one pair", "a single pair", 1, cases=(Case("one pair", _single_pairs),)),
        Behaviour(
            "the generator",
            "all draws come from rng",
            1,
            probe="with_generators",
            returns=FOR_EACH_GENERATOR,
            compare=same_products,
            cases=(
                Case("many generators", MANY_PAIRS.call, across=MANY_PAIRS.across),
                Case("two pairs", TWO_PAIRS.call, across=TWO_PAIRS.across),
                Case("more pairs", more_pairs, across=all_pairs_count),
            ),
        ),
    ),
)

SOFTMAX_JACOBIAN = Exercise(
    function="softmax_jacobian",
    parameters=("weights",),
    returns=(Returned("jacobian", "... M M"),),
    refused=("course_lib.attention.softmax_jacobian",),
    behaviours=(
        Behaviour(
            "ordinary",
            "one row of weights",
            2,
            cases=(
                Case("three keys", lambda draw: {"weights": np.array([0.5, 0.3, 0.2])}),
                Case("another row", lambda draw: {"weights": draw.weights("M")}),
            ),
        ),
        Behaviour(
            "batches",
            "tables of weights, and batches of tables",
            1,
            cases=(
                Case("a table", lambda draw: {"weights": draw.weights("L M")}),
                Case("a square table", lambda draw: {"weights": draw.weights("L M")}, equal_sizes=True),
                Case("a batch of tables", lambda draw: {"weights": draw.weights("B L M")}),
                Case("two leading axes", lambda draw: {"weights": draw.weights("2 3 L M")}),
                Case("a table with one row", lambda draw: {"weights": draw.weights("1 M")}),
            ),
        ),
        Behaviour(
            "any input",
            "weights of 0 and 1, one key, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("one weight is 1", lambda draw: {"weights": _one_hot(draw, "")}),
                Case("one weight is 0", lambda draw: {"weights": _with_zeros(draw, "M")}),
                Case("one key", lambda draw: {"weights": np.array([1.0])}),
            ),
        ),
    ),
)

ENTROPY = Exercise(
    function="entropy",
    parameters=("weights",),
    returns=(Returned("entropy", "..."),),
    refused=(
        "course_lib.attention.entropy",
        "scipy.stats.entropy",
        "scipy.special.entr",
        "torch.special.entr",
    ),
    behaviours=(
        Behaviour(
            "ordinary",
            "one row of weights and a table of weights",
            2,
            cases=(
                Case("three keys", lambda draw: {"weights": np.array([0.5, 0.3, 0.2])}),
                Case("a table", lambda draw: {"weights": draw.weights("L M")}),
                Case("a square table", lambda draw: {"weights": draw.weights("L M")}, equal_sizes=True),
            ),
        ),
        Behaviour(
            "zeros",
            "weights of 0, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("one weight is 1", lambda draw: {"weights": _one_hot(draw, "")}),
                Case("zeros in every row", lambda draw: {"weights": _with_zeros(draw, "L M")}),
                Case("each row has all its weight on one key", lambda draw: {"weights": _one_hot(draw, "L")}),
            ),
        ),
        Behaviour(
            "any input",
            "batches, axes of length 1, equal and small weights, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of tables", lambda draw: {"weights": draw.weights("B L M")}),
                Case("two leading axes", lambda draw: {"weights": draw.weights("2 B L M")}),
                Case("a table with one row", lambda draw: {"weights": draw.weights("1 M")}),
                Case("equal weights", lambda draw: {"weights": np.ones(draw.shape("M")) / draw.sizes["M"]}),
                Case("many small weights", _many_small),
                Case("one key", lambda draw: {"weights": np.ones(draw.shape("L 1"))}),
            ),
        ),
    ),
)

ATTENTION_WEIGHTS = Exercise(
    function="attention_weights",
    parameters=("Q", "K", "temperature"),
    returns=(Returned("weights", "... L M", weights=True),),
    refused=(
        "course_lib.attention.attention_weights",
        "course_lib.attention.attention",
        "course_lib.attention.scores",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    behaviours=(
        Behaviour(
            "ordinary",
            "queries and keys, no temperature given",
            2,
            cases=(
                Case("one sequence", queries_and_keys),
                Case("as many queries as keys and widths", queries_and_keys, equal_sizes=True),
            ),
        ),
        Behaviour(
            "temperature",
            "low and high temperatures, for batches, too",
            1,
            cases=(
                Case("colder", lambda draw: queries_and_keys(draw) | {"temperature": 0.4}),
                Case("as it is", lambda draw: queries_and_keys(draw) | {"temperature": 1}),
                Case("hotter", lambda draw: queries_and_keys(draw) | {"temperature": 3.0}),
                Case("very cold", lambda draw: _any_temperature(draw, 0.03, 0.06)),
                Case("very hot", lambda draw: _any_temperature(draw, 20.0, 80.0)),
                Case("a batch of tables", lambda draw: _any_temperature(draw, 0.3, 0.7, "B")),
                Case("large scores, high temperature", _long_and_hot),
            ),
        ),
        Behaviour(
            "any input",
            "batches, one query or key, integers, long queries, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of tables", lambda draw: queries_and_keys(draw, "B")),
                Case("a batch of one", lambda draw: queries_and_keys(draw, "1")),
                Case("two leading axes", lambda draw: queries_and_keys(draw, "2 B")),
                Case("all axes of one length", lambda draw: queries_and_keys(draw, "B"), equal_sizes=True),
                Case("one query", lambda draw: queries_and_keys(draw, queries="1")),
                Case("one query for each table", lambda draw: queries_and_keys(draw, "B", queries="1")),
                Case("one key", lambda draw: queries_and_keys(draw, keys="1")),
                Case("integers", integer_queries_and_keys),
                Case("very long queries", long_queries),
            ),
        ),
    ),
)

LARGEST_WEIGHT_SWEEP = Exercise(
    function="largest_weight_sweep",
    parameters=("widths", "n_keys", "n_queries", "rng"),
    returns=ONE_PER_WIDTH,
    predecessors=("attention_weights",),
    compare=compare_sweep,
    behaviours=(
        Behaviour(
            "ordinary",
            "the mean largest weight at several widths",
            2,
            cases=(
                Case("three widths", lambda draw: _sweep(draw, [16, 64, 256], 10, 500)),
                Case("widths in any order", _any_sweep),
            ),
        ),
        Behaviour(
            "exact values",
            "width 1, one key, two keys, and a width that comes twice",
            1,
            cases=(
                Case("width 1", lambda draw: _sweep(draw, [1, draw.sizes["K"]], 3, 100)),
                Case("one key", lambda draw: _sweep(draw, [draw.sizes["K"], 20], 1, 50)),
                Case("a width twice", _width_twice),
                Case("two keys", lambda draw: _sweep(draw, [2, 3, 5, 6, 7, 8, 10, 11], 2, 1)),
            ),
        ),
        Behaviour(
            "the same keys",
            "all draws come from rng: n_queries queries, which all meet the same keys",
            1,
            probe="with_generators",
            returns=tuple(replace(each, axes="generators widths") for each in ONE_PER_WIDTH),
            compare=means_of_weights,
            cases=(
                Case("many generators", SHARED_KEYS.call, across=SHARED_KEYS.across),
                Case("four queries", FEW_QUERIES.call, across=FEW_QUERIES.across),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "03_scaling",
    "Scaling",
    (SCORE_SPREAD, SOFTMAX_JACOBIAN, ENTROPY, ATTENTION_WEIGHTS, LARGEST_WEIGHT_SWEEP),
)
