"""How far a right answer that depends on random draws may lie from its mean: standard errors.

The order of drawing is free, so no single number is right. A result is accepted within seven standard errors
of its mean. A normal number lies outside once in 390,000 million times, a mean of few and skewed ones more
often, but those of the course less than once in 1,000 million times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

STANDARD_ERRORS = 7
GENERATORS = 400


@dataclass(frozen=True)
class Law:
    """Means and standard errors of (raw, scaled) results, estimated from `GENERATORS` of them."""

    mean: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def allowed(self) -> NDArray[np.float64]:
        """The distance from the mean that is accepted.

        A standard error estimated from n results is itself uncertain, by 1 / √(2 n) of its size. Three times
        that is added, so that seven estimated errors are not fewer than seven true ones.
        """
        return STANDARD_ERRORS * self.error * (1 + 3 / math.sqrt(2 * GENERATORS))


def spread_error(width: int, n_pairs: int) -> float:
    """Standard error of the standard deviation of n dot products of width K, relative to its mean √K.

    A product x = q k of standard normal numbers has E[x²] = 1 and E[x⁴] = 3 · 3 = 9. A sum S of K such
    products has E[S²] = K and E[S⁴] = 9 K + 3 K (K - 1) = 3 K² + 6 K. The variance of n sums estimates K with
    the squared error (E[S⁴] - K²) / n = (2 K² + 6 K) / n, and the root of an estimate has half its relative
    error: ½ √((2 + 6/K) / n) = √((1 + 3/K) / (2 n)).

    >>> round(math.sqrt(64) * spread_error(64, 10_000), 3)
    0.058
    """
    return math.sqrt((1 + 3 / width) / (2 * n_pairs))


@lru_cache(maxsize=1000)
def largest_weights(width: int, n_keys: int, n_queries: int) -> Law:
    """Mean and standard error of the mean largest weight, from 400 simulated results, always the same.

    All queries share their keys, so their largest weights are correlated, and the textbook error (standard
    deviation / √queries) is too small, at narrow widths several times. Hence the error is measured between
    whole results, each with keys of its own.

    A query meets the keys only through its components in the space that the keys span. They are standard
    normal too, so n_keys numbers per query do: with keysᵀ = orthogonal · R, the scores are normal · R.

    >>> largest_weights(64, 10, 200).mean.round(1).tolist()
    [0.9, 0.3]
    >>> largest_weights(64, 1, 200).error.tolist()
    [0.0, 0.0]
    """
    rng = np.random.default_rng(0)
    spanned = np.linalg.qr(rng.standard_normal((GENERATORS, width, n_keys)), mode="r")
    scores = rng.standard_normal((GENERATORS, n_queries, spanned.shape[-2])) @ spanned
    results = np.stack([_mean_largest(scores), _mean_largest(scores / math.sqrt(width))])
    return Law(results.mean(axis=-1), results.std(axis=-1, ddof=1) * math.sqrt(1 + 1 / GENERATORS))


def _mean_largest(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over queries of the largest weight, which is 1 / Σ exp(s - max)."""
    leads = scores - scores.max(axis=-1, keepdims=True)
    return (1 / np.exp(leads).sum(axis=-1)).mean(axis=-1)
