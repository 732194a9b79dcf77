"""The inputs of a case, drawn from a seed; axes are named by their dimension letters, as in "B L K"."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

# All different, none square; no width is 1 or 4, at which the usual mistakes with √ do not show.
VISIBLE_SIZES = {"B": 4, "L": 3, "M": 5, "K": 7, "V": 2, "D": 6}
HIDDEN_SIZES = (2, 3, 5, 7, 11, 13)
EQUAL_SIZE = 3


class Draw:
    """Random numbers with named axes: `draw.normal("L K")` has a row per query and a column per key width.

    Parameters: seed of the case; sizes, the length of every axis by its letter.
    """

    def __init__(self, seed: int, sizes: Mapping[str, int]) -> None:
        self.rng = np.random.default_rng(seed)
        self.sizes = dict(sizes)

    def shape(self, axes: str) -> tuple[int, ...]:
        """The lengths of axes, given as letters or whole numbers: "B 1 K"."""
        return tuple(int(axis) if axis.isdigit() else self.sizes[axis] for axis in axes.split())

    def normal(self, axes: str, scale: float = 1.0) -> np.ndarray:
        """Independent normal numbers with mean 0 and standard deviation `scale`, float64."""
        return scale * self.rng.standard_normal(self.shape(axes))

    def integers(self, axes: str, low: int = -3, high: int = 4) -> np.ndarray:
        """Independent whole numbers from low to high - 1, int64."""
        return self.rng.integers(low, high, self.shape(axes))

    def weights(self, axes: str) -> np.ndarray:
        """Rows of positive numbers that sum to 1 along the last axis."""
        exponentials = np.exp(self.normal(axes))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)

    def seed(self) -> int:
        """A seed for a generator that the function under check is given."""
        return int(self.rng.integers(2**31))


def seed_of(*words: str) -> int:
    """A seed that depends on every word and on nothing else."""
    return int.from_bytes(hashlib.sha256(json.dumps(words).encode()).digest()[:8], "big")


def hidden_sizes(seed: int) -> dict[str, int]:
    """Lengths of the axes for a hidden case: different primes, in an order that the seed decides."""
    sizes = np.random.default_rng(seed).permutation(HIDDEN_SIZES)
    return {axis: int(size) for axis, size in zip(VISIBLE_SIZES, sizes, strict=True)}
