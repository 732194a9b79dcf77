"""Assignment 03: how large scores are, what softmax does with them, and what dividing by √d_k changes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from course_lib.checks.chance import STANDARD_ERRORS, largest_weights, spread_error
from course_lib.checks.draw import Draw
from course_lib.checks.results import TOLERANCE
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned
from course_lib.checks.values import Entry

RAW_AND_SCALED = (Returned("raw", ""), Returned("scaled", ""))
ONE_PER_WIDTH = (Returned("raw", "widths"), Returned("scaled", "widths"))

# Three keys of width 2 and 150 queries, for many generators: with shared keys the results spread five times
# as much as with new keys for every query. In 6,000 groups of 32 generators, the spread of right results was
# never below 0.59 of its expected size, and that of results with new keys never above 0.29 of it.
FEW_KEYS, NARROW, MANY_QUERIES, MANY_GENERATORS = 3, 2, 150, 32
LEAST_SPREAD = 0.4


def compare_spread(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether both spreads lie within five standard errors of √K and 1, and belong to the same products.

    A single pair has no spread at all. Right answers differ from it, and from scaled = raw / √K, by rounding
    only, scaled products of their own by about one standard error, a thousand times as much.
    """
    root, pairs = math.sqrt(arguments["d_k"]), arguments["n_pairs"]
    relative = {"raw": float(outputs["raw"]) / root, "scaled": float(outputs["scaled"])}
    if pairs == 1:
        for name, got in relative.items():
            if abs(got) > TOLERANCE:
                return f"{name} must be 0: a single number does not differ from its own mean."
        return None
    allowed = STANDARD_ERRORS * spread_error(arguments["d_k"], pairs)
    for name, got in relative.items():
        if abs(got - 1) > allowed:
            size = "large" if got > 1 else "small"
            return f"{name} is too {size}: more than five standard errors away from its mean."
    if not math.isclose(relative["raw"], relative["scaled"], rel_tol=TOLERANCE):
        return "scaled is the spread of other products than raw. Divide the same products by √d_k."
    return None


def compare_sweep(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether every entry lies within five standard errors of its mean, by `chance.largest_weights`.

    Of 1,056,000 simulated right entries, widths 13 to 256, one lay further away, by 8 %. Of the mistakes that
    these errors must tell, the median instead of the mean comes nearest: 1.6 times as far as is allowed on
    the visible cases, at least 1.3 times on 20 draws of hidden ones.

    With one key all entries are 1, and at width 1 raw equals scaled, up to rounding.
    """
    if max(outputs["raw"].max(), outputs["scaled"].max()) > 1 + TOLERANCE:
        return (
            "An entry is larger than 1, so it is no mean of weights. What comes out of softmax, what goes in?"
        )
    widths = arguments["widths"]
    for place, width in enumerate(widths):
        law = largest_weights(int(width), arguments["n_keys"], arguments["n_queries"])
        for name, mean, allowed in zip(("raw", "scaled"), law.mean, law.allowed, strict=True):
            difference = float(outputs[name][place]) - mean
            if abs(difference) > allowed + TOLERANCE:
                size = "large" if difference > 0 else "small"
                return f"{name}[{place}] is too {size}: more than five standard errors away from its mean."
    alone = widths == 1
    if not np.allclose(outputs["raw"][alone], outputs["scaled"][alone], rtol=TOLERANCE, atol=TOLERANCE):
        return (
            "raw and scaled differ at width 1, where √1 divides nothing. "
            "Do both come from the same queries and the same keys?"
        )
    return None


def depends_on_rng(outputs: list[dict[str, Any]]) -> str | None:
    """Results of different generators differ."""
    if len({each["raw"].tobytes() for each in outputs}) == len(outputs):
        return None
    return "Different generators give you the very same numbers. Do all your draws come from `rng`?"


def spreads_as_with_shared_keys(outputs: list[dict[str, Any]]) -> str | None:
    """Results of different generators differ as much as they do when all queries meet the same keys."""
    if depends_on_rng(outputs) is not None:
        return depends_on_rng(outputs)
    least = LEAST_SPREAD * largest_weights(NARROW, FEW_KEYS, MANY_QUERIES).error
    for name, limit in zip(("raw", "scaled"), least, strict=True):
        if np.std([each[name] for each in outputs]) < limit:
            return (
                "From one generator to the next your results differ far too little: chance evens out. "
                "How many times do you draw keys for one width?"
            )
    return None


def _generator(draw: Draw) -> Entry:
    return Entry("generator", {"seed": draw.seed()})


def _pairs(draw: Draw, d_k: int, n_pairs: int) -> Arguments:
    return {"d_k": d_k, "n_pairs": n_pairs, "rng": _generator(draw)}


def _other_widths(draw: Draw) -> list[Arguments]:
    """Narrow ones, a middling and a wide one; from 5 up, so that the mean of squares is nearly normal.

    With one key for all pairs the spread is that key's length, which at the narrow widths is off its mean by
    about a third: one in six such results lies within what is allowed, but one in a thousand groups of four.
    """
    ranges = (*[(5, 9)] * 4, (20, 40), (90, 120))
    return [
        _pairs(draw, int(draw.rng.integers(*each)), int(draw.rng.integers(4800, 5200))) for each in ranges
    ]


def _single_pairs(draw: Draw) -> list[Arguments]:
    return [_pairs(draw, draw.sizes["K"], 1), _pairs(draw, draw.sizes["K"] + 20, 1)]


def _two_generators(draw: Draw) -> list[Arguments]:
    return [_pairs(draw, draw.sizes["K"] + 6, 1000) for _ in range(2)]


def _table(draw: Draw, before: str = "", queries: str = "L", keys: str = "M") -> Arguments:
    return {"Q": draw.normal(f"{before} {queries} K"), "K": draw.normal(f"{before} {keys} K")}


def _any_temperature(draw: Draw, low: float, high: float, before: str = "") -> Arguments:
    """A table or batch, and a temperature from low to high; steps of 1/256 are exact in float32."""
    table = {name: np.round(each * 256) / 256 for name, each in _table(draw, before).items()}
    return table | {"temperature": round(float(draw.rng.uniform(low, high)), 3)}


def _integer_table(draw: Draw) -> Arguments:
    return {"Q": draw.integers("L K"), "K": draw.integers("M K")}


def _long_queries(draw: Draw) -> Arguments:
    """So long that `exp` of a score overflows; drawn again until float32 has no doubt which key wins."""
    while True:
        drawn = _table(draw) | {"Q": draw.normal("L K", 20_000.0)}
        second, first = np.sort(drawn["Q"] @ drawn["K"].T / np.sqrt(draw.sizes["K"]))[:, -2:].T
        if (first - second).min() > 60 and first.max() > 1500:
            return drawn


def _with_zeros(draw: Draw, axes: str) -> np.ndarray:
    """Weights of which one is 0, in each row another one."""
    weights = draw.weights(axes)
    rows = np.arange(weights.size // weights.shape[-1])
    weights.reshape(-1, weights.shape[-1])[rows, rows % weights.shape[-1]] = 0
    return weights / weights.sum(axis=-1, keepdims=True)


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
    n_keys, n_queries = int(draw.rng.integers(6, 13)), int(draw.rng.integers(170, 230))
    return _sweep(draw, [widths[place] for place in order], n_keys, n_queries)


def _width_twice(draw: Draw) -> Arguments:
    width = int(draw.rng.integers(13, 30))
    return _sweep(draw, [width, 64, width], 10, 200)


def _many_generators(draw: Draw) -> list[Arguments]:
    return [_sweep(draw, [NARROW], FEW_KEYS, MANY_QUERIES) for _ in range(MANY_GENERATORS)]


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
            ),
        ),
        Behaviour("one pair", "a single pair", 1, cases=(Case("one pair", _single_pairs),)),
        Behaviour(
            "the generator",
            "all draws come from rng",
            1,
            unchanged=True,
            cases=(Case("two generators", _two_generators, across=depends_on_rng),),
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
            "batches, equal weights, one key, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of tables", lambda draw: {"weights": draw.weights("B L M")}),
                Case("two leading axes", lambda draw: {"weights": draw.weights("2 B L M")}),
                Case("equal weights", lambda draw: {"weights": np.ones(draw.shape("M")) / draw.sizes["M"]}),
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
                Case("one sequence", _table),
                Case("as many queries as keys and widths", _table, equal_sizes=True),
            ),
        ),
        Behaviour(
            "temperature",
            "low and high temperatures, for batches, too",
            1,
            cases=(
                Case("colder", lambda draw: _table(draw) | {"temperature": 0.4}),
                Case("as it is", lambda draw: _table(draw) | {"temperature": 1}),
                Case("hotter", lambda draw: _table(draw) | {"temperature": 3.0}),
                Case("very cold", lambda draw: _any_temperature(draw, 0.03, 0.06)),
                Case("very hot", lambda draw: _any_temperature(draw, 20.0, 80.0)),
                Case("a batch of tables", lambda draw: _any_temperature(draw, 0.3, 0.7, "B")),
            ),
        ),
        Behaviour(
            "any input",
            "batches, one query, integers, long queries, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of tables", lambda draw: _table(draw, "B")),
                Case("a batch of one", lambda draw: _table(draw, "1")),
                Case("two leading axes", lambda draw: _table(draw, "2 B")),
                Case("all axes of one length", lambda draw: _table(draw, "B"), equal_sizes=True),
                Case("one query", lambda draw: _table(draw, queries="1")),
                Case("integers", _integer_table),
                Case("very long queries", _long_queries),
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
                Case("three widths", lambda draw: _sweep(draw, [16, 64, 256], 10, 200)),
                Case("widths in any order", _any_sweep),
            ),
        ),
        Behaviour(
            "exact values",
            "width 1, one key, and a width that comes twice",
            1,
            cases=(
                Case("width 1", lambda draw: _sweep(draw, [1, draw.sizes["K"]], 3, 100)),
                Case("one key", lambda draw: _sweep(draw, [draw.sizes["K"], 20], 1, 50)),
                Case("a width twice", _width_twice),
            ),
        ),
        Behaviour(
            "the same keys",
            "all draws come from rng, and all queries of a width meet the same keys",
            1,
            unchanged=True,
            cases=(Case("many generators", _many_generators, across=spreads_as_with_shared_keys),),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "03_scaling",
    "Scaling",
    (SCORE_SPREAD, SOFTMAX_JACOBIAN, ENTROPY, ATTENTION_WEIGHTS, LARGEST_WEIGHT_SWEEP),
)
