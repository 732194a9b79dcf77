"""Assignment 03: what results of random draws must be like, one by one and over many generators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from course_lib.checks.chance import GENERATORS, STANDARD_ERRORS, largest_weights, spread_error
from course_lib.checks.results import TOLERANCE
from course_lib.checks.spec import Across, Arguments

# Pairs of width 1, for many generators: products of two normal numbers have long tails, so that their spread
# differs a lot from one generator to the next. In 10,000 groups of 64 generators it did 0.63 to 1.36 times as
# much as expected; 0.52 times is what uniform numbers of the same variance give on average, 0.49 times what
# normal numbers in place of products give, and 8 times what one key for all pairs gives.
SPREAD_GENERATORS, SPREAD_PAIRS = 64, 400
LEAST_DIFFERENCE, MOST_DIFFERENCE = 0.6, 1.6

# Three keys of width 2 and 150 queries, for many generators: with shared keys the results spread five times
# as much as with new keys for every query. In 6,000 groups of 32 generators, the spread of right results was
# never below 0.59 of its expected size, and that of results with new keys never above 0.29 of it.
# Thirty keys of width 30 and 2 queries: the spread of right results was never below 0.52 of its expected size
# in 2,000 groups, and with 30 queries never above 0.31 for raw.
SHARED_KEYS, TWO_QUERIES = (2, 3, 150), (30, 30, 2)
MANY_GENERATORS = 32
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
    return compare_products(arguments, outputs, reference)


def compare_products(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether both spreads belong to the same products, whatever their size."""
    raw, scaled = float(outputs["raw"]), float(outputs["scaled"])
    if not math.isclose(raw, scaled * math.sqrt(arguments["d_k"]), rel_tol=TOLERANCE):
        return "scaled is the spread of other products than raw. Divide the same products by √d_k."
    return None


def compare_sweep(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether every entry lies within five standard errors of its mean, by `chance.largest_weights`.

    Of 1,056,000 simulated right entries, widths 13 to 256, one lay further away, by 8 %. Of the mistakes that
    these errors must tell, the median instead of the mean comes nearest: 1.6 times as far as is allowed on
    the visible cases, at least 1.3 times on 20 draws of hidden ones.

    With one key all entries are 1, at width 1 raw equals scaled, and with two keys and one query either
    follows from the other, up to rounding.
    """
    if (sentence := compare_with_one(arguments, outputs, reference)) is not None:
        return sentence
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
    return _compare_two_keys(outputs, np.sqrt(widths)) if arguments["n_keys"] == 2 else None


def _compare_two_keys(outputs: dict[str, Any], roots: np.ndarray) -> str | None:
    """Whether the weights of one query and two keys belong to the same scores, undivided and divided.

    A difference of x between two scores gives the larger one the weight w = 1 / (1 + exp(-x)), so that
    exp(-x) is (1 - w) / w, which is 1 or less.
    """
    raw, scaled = (np.clip(outputs[name], 0.5, 1) for name in ("raw", "scaled"))
    expected = 1 / (1 + ((1 - scaled) / scaled) ** roots)
    if np.allclose(raw, expected, rtol=0, atol=100 * TOLERANCE):
        return None
    return (
        "With one query and two keys, raw and scaled are not weights of the same two scores, undivided and "
        "divided by √d_k. Do both come from the same queries and the same keys, and what is the root?"
    )


def compare_with_one(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether the entries can be means of weights: all that can be said of one result where chance is great.

    Means over two queries have a tail too long for five standard errors to hold a million of them.
    """
    if max(outputs["raw"].max(), outputs["scaled"].max()) > 1 + TOLERANCE:
        return (
            "An entry is larger than 1, so it is no mean of weights. What comes out of softmax, what goes in?"
        )
    return None


def depends_on_rng(outputs: list[dict[str, Any]]) -> str | None:
    """Results of different generators differ."""
    if len({each["raw"].tobytes() for each in outputs}) == len(outputs):
        return None
    return "Different generators give you the very same numbers. Do all your draws come from `rng`?"


def spreads_as_products(outputs: list[dict[str, Any]]) -> str | None:
    """Results of different generators have the mean of products of normal numbers, and differ as they do."""
    if depends_on_rng(outputs) is not None:
        return depends_on_rng(outputs)
    raw, error = [float(each["raw"]) for each in outputs], spread_error(1, SPREAD_PAIRS)
    if abs(np.mean(raw) - 1) > STANDARD_ERRORS * error / math.sqrt(SPREAD_GENERATORS):
        return "At width 1 your spreads are not 1 on average, over many generators. What is multiplied?"
    if np.std(raw) < LEAST_DIFFERENCE * error:
        return (
            "From one generator to the next your results differ too little. "
            "Is each entry standard normal, and are there no more pairs than `n_pairs`?"
        )
    if np.std(raw) > MOST_DIFFERENCE * error:
        return (
            "From one generator to the next your results differ too much. "
            "Is each query new, and each key, and are there as many pairs as `n_pairs`?"
        )
    return None


def spreads_as(width: int, n_keys: int, n_queries: int, question: str) -> Across:
    """Whether results of different generators have the mean of right ones, and differ enough."""

    def across(outputs: list[dict[str, Any]]) -> str | None:
        if depends_on_rng(outputs) is not None:
            return depends_on_rng(outputs)
        law = largest_weights(width, n_keys, n_queries)
        for place, name in enumerate(("raw", "scaled")):
            results = [each[name] for each in outputs]
            if np.std(results) < LEAST_SPREAD * law.error[place]:
                return (
                    "From one generator to the next your results differ far too little: chance evens out. "
                    + question
                )
            error = law.error[place] * math.sqrt(1 / len(outputs) + 1 / GENERATORS)
            difference = np.mean(results) - law.mean[place]
            if abs(difference) > STANDARD_ERRORS * error:
                size = "large" if difference > 0 else "small"
                return (
                    f"Over many generators {name} is too {size}: the mean is over five standard errors off."
                )
        return None

    return across
