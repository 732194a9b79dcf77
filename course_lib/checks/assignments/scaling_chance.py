"""Assignment 03: what a single result of random draws must be like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from course_lib.checks.chance import STANDARD_ERRORS, largest_weights, spread_error
from course_lib.checks.results import TOLERANCE
from course_lib.checks.spec import Arguments

from .scaling_generators import means_of_weights, same_products


def compare_spread(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether both spreads lie within seven standard errors of √K and 1, and belong to the same products.

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
            return f"{name} is too {size}: more than seven standard errors away from its mean."
    return same_products(arguments, outputs, reference)


def compare_sweep(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether every entry lies within seven standard errors of its mean, by `chance.largest_weights`.

    Of 1,056,000 simulated right entries, widths 13 to 256, the one furthest away was 5.4 errors off. Of the
    mistakes that these errors must tell, the median instead of the mean comes nearest: at least 1.34 times as
    far as is allowed in 300 results of the visible sizes, and in 160 of hidden ones.

    With one key all entries are 1, at width 1 raw equals scaled, and with two keys and one query either
    follows from the other, up to rounding.
    """
    if (sentence := means_of_weights(arguments, outputs, reference)) is not None:
        return sentence
    widths = arguments["widths"]
    for place, width in enumerate(widths):
        law = largest_weights(int(width), arguments["n_keys"], arguments["n_queries"])
        for name, mean, allowed in zip(("raw", "scaled"), law.mean, law.allowed, strict=True):
            difference = float(outputs[name][place]) - mean
            if abs(difference) > allowed + TOLERANCE:
                size = "large" if difference > 0 else "small"
                return f"{name}[{place}] is too {size}: more than seven standard errors away from its mean."
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
