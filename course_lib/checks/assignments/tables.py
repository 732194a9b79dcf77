"""Queries and keys, which several assignments draw in the same way."""

from __future__ import annotations

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.spec import Arguments


def queries_and_keys(draw: Draw, before: str = "", queries: str = "L", keys: str = "M") -> Arguments:
    """Tables of normal numbers; before: the axes in front."""
    return {"Q": draw.normal(f"{before} {queries} K"), "K": draw.normal(f"{before} {keys} K")}


def integer_queries_and_keys(draw: Draw) -> Arguments:
    """Tables of whole numbers."""
    return {"Q": draw.integers("L K"), "K": draw.integers("M K")}


def long_queries(draw: Draw) -> Arguments:
    """So long that `exp` of a score overflows, and is 0 for all scores of one query, which every key opposes;
    drawn again until float32 has no doubt which key wins."""
    while True:
        drawn = queries_and_keys(draw) | {"Q": draw.normal("L K", 20_000.0)}
        drawn["Q"][0, 0], drawn["K"][:, 0] = -60_000, 3 + np.abs(drawn["K"][:, 0])
        second, first = np.sort(drawn["Q"] @ drawn["K"].T / np.sqrt(draw.sizes["K"]))[:, -2:].T
        if (first - second).min() > 60 and first.max() > 1500 and first.min() < -1500:
            return drawn
