"""Assignment 03: what results of many generators must be like together, where a single one shows nothing.

With two pairs or four queries one result may be nearly anything, but the mean and the spread of hundreds are
known well. How often a right answer lies beyond the limits was bounded by Chernoff's inequality, from 300,000
simulated results or more: less than once in 3,000 million times for each limit. Sizes are the same under
every secret, so that the limits are, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from course_lib.checks.chance import STANDARD_ERRORS
from course_lib.checks.draw import Draw
from course_lib.checks.results import TOLERANCE
from course_lib.checks.spec import Arguments

# Results are normal float32 numbers at worst: of 700, one in a hundred times two are the same.
LEAST_DIFFERENT = 0.9


@dataclass(frozen=True)
class Population:
    """Results of one function at one size, over all generators.

    sizes: the arguments of a call but for the generator. mean, deviation: those of raw and of scaled.
    generators: how many there are in a check. least, most: how much raw may differ from one generator to the
    next, as a share of the deviation. question: what is asked where it differs less or more; about_mean: what
    is asked where the mean is another one.
    """

    sizes: dict[str, Any]
    mean: tuple[float, float]
    deviation: tuple[float, float]
    generators: int
    least: float = 0.0
    most: float = math.inf
    question: str = ""
    about_mean: str = "Is each entry standard normal?"

    def call(self, draw: Draw) -> Arguments:
        """What the probe "with_generators" is given: seeds in place of a generator, the first one twice."""
        seeds = draw.rng.integers(2**31, size=self.generators)
        sizes = {n: np.array(size) if isinstance(size, list) else size for n, size in self.sizes.items()}
        return sizes | {"rng": np.append(seeds, seeds[0])}

    def across(self, outputs: list[dict[str, Any]]) -> str | None:
        """None, or what is wrong with the results of one call of the probe."""
        results = {name: each.reshape(len(each)) for name, each in outputs[0].items()}
        sentence = _drawn_from(results["raw"])
        if sentence is None:
            sentence = self._means(results) or self._differences(results["raw"][:-1])
        return sentence

    def _means(self, results: dict[str, Any]) -> str | None:
        for (name, each), mean, deviation in zip(results.items(), self.mean, self.deviation, strict=True):
            difference = np.mean(each[:-1]) - mean
            if abs(difference) > STANDARD_ERRORS * deviation / math.sqrt(self.generators):
                size = "large" if difference > 0 else "small"
                return (
                    f"With {self._words()}, {name} is too {size} on average, over {self.generators} "
                    f"generators. {self.about_mean}"
                )
        return None

    def _differences(self, raw: np.ndarray) -> str | None:
        share = np.std(raw) / self.deviation[0]
        if self.least <= share <= self.most:
            return None
        size = "little" if share < self.least else "much"
        return (
            f"With {self._words()}, your results differ too {size} from one generator to the next. "
            f"{self.question}"
        )

    def _words(self) -> str:
        return ", ".join(f"{name} {size}" for name, size in self.sizes.items())


def two_pairs(width: int) -> tuple[float, float]:
    """Mean and deviation of the spread of two dot products, which is half their distance.

    The distance of two dot products of width K is distributed as one of width 2 K, as |q| Z with a vector q
    of 2 K normal numbers and another one Z: E|q| = √2 Γ(K + ½) / Γ(K) and E|Z| = √(2 / π). So the spread has
    the mean Γ(K + ½) / (Γ(K) √π), and K / 2 is the mean of its square.

    >>> [round(each, 4) for each in two_pairs(3)]
    [0.9375, 0.7881]
    """
    mean = math.exp(math.lgamma(width + 0.5) - math.lgamma(width)) / math.sqrt(math.pi)
    return mean, math.sqrt(width / 2 - mean**2)


def _over_root(values: tuple[float, float], width: int) -> dict[str, tuple[float, float]]:
    mean, deviation = values
    root = math.sqrt(width)
    return {"mean": (mean, mean / root), "deviation": (deviation, deviation / root)}


# With n_pairs - 1 or with distances from 0 the mean is 1.41 times as large, with twice the pairs, too; with a
# key that is another pair's query it is 0.
TWO_PAIRS = Population(
    {"d_k": 3, "n_pairs": 2},
    generators=700,
    about_mean=(
        "From which number is a distance taken, by what is the sum of the squares divided, and has each pair "
        "numbers of its own?"
    ),
    **_over_root(two_pairs(3), 3),
)

# Products of two normal numbers have long tails. Uniform numbers of the same variance give 0.59 of their
# deviation, normal numbers in place of products 0.56 of it, one key for all pairs 2.1 times as much.
MANY_PAIRS = Population(
    {"d_k": 1, "n_pairs": 20},
    mean=(0.9329, 0.9329),
    deviation=(0.283, 0.283),
    generators=400,
    least=0.7,
    most=1.6,
    question="Is each entry standard normal, each query and each key new, and how many pairs are there?",
)

# At width 1 most of the chance lies in the keys, which all queries share: a second table of keys for half of
# the queries gives 0.73 of the deviation, new keys for each query a third of it.
SHARED_KEYS = Population(
    {"widths": [1], "n_keys": 2, "n_queries": 20},
    mean=(0.6686, 0.6686),
    deviation=(0.0997, 0.0997),
    generators=400,
    least=0.82,
    most=1.2,
    question="How many times do you draw keys for one width?",
)

# At width 30 most of it lies in the queries: half as many give 1.41 times the deviation, as many as there
# are keys 0.63 of it.
FEW_QUERIES = Population(
    {"widths": [30], "n_keys": 10, "n_queries": 4},
    mean=(0.801, 0.318),
    deviation=(0.0969, 0.0571),
    generators=400,
    least=0.75,
    most=1.24,
    question="How many different queries do you draw?",
)


def _drawn_from(raw: np.ndarray) -> str | None:
    """Results depend on the generator, which comes first and last with the same seed, and on nothing else."""
    if not math.isclose(raw[0], raw[-1], rel_tol=TOLERANCE, abs_tol=TOLERANCE):
        return (
            "Called twice with a generator of the same seed, your function gives two different answers. "
            "Do all your draws come from `rng`?"
        )
    different = len(np.unique(raw[:-1]))
    if different == 1 and raw[0] > TOLERANCE:
        return "Different generators give you the very same numbers. Do all your draws come from `rng`?"
    if 1 < different < LEAST_DIFFERENT * (len(raw) - 1) and raw.max() > TOLERANCE:
        return (
            f"{len(raw) - 1} generators give you no more than {different} different results. "
            "Is each entry standard normal, and drawn from `rng` itself?"
        )
    return None


def more_pairs(draw: Draw) -> list[Arguments]:
    """The same seeds with more and more pairs, which the results must not leave unused."""
    seeds = draw.rng.integers(2**31, size=4)
    return [{"d_k": draw.sizes["K"], "n_pairs": pairs, "rng": seeds} for pairs in (1500, 3000, 6000)]


def all_pairs_count(outputs: list[dict[str, Any]]) -> str | None:
    """With more pairs from the same generators, results change."""
    for fewer, more in pairwise(outputs):
        if np.array_equal(fewer["raw"], more["raw"]):
            return "With twice as many pairs your results stay the same. Do all `n_pairs` pairs count?"
    return None


def same_products(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether raw and scaled belong to the same products; two of these may nearly cancel, in float32."""
    root = math.sqrt(arguments["d_k"])
    if not np.allclose(outputs["raw"], outputs["scaled"] * root, rtol=TOLERANCE, atol=TOLERANCE * root):
        return "scaled is the spread of other products than raw. Divide the same products by √d_k."
    return None


def means_of_weights(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Whether entries can be means of weights: all that can be said of single ones where chance is great."""
    if max(outputs["raw"].max(), outputs["scaled"].max()) > 1 + TOLERANCE:
        return (
            "An entry is larger than 1, so it is no mean of weights. What comes out of softmax, what goes in?"
        )
    return None
