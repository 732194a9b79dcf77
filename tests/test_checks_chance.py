"""How far right answers that draw at random may lie from their mean: limits that none of them will meet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from course_lib.checks.assignments.scaling_generators import (
    FEW_QUERIES,
    MANY_PAIRS,
    SHARED_KEYS,
    TWO_PAIRS,
    Population,
)
from course_lib.checks.chance import STANDARD_ERRORS
from course_lib.checks.draw import VISIBLE_SIZES, Draw

POPULATIONS = {
    "two pairs": TWO_PAIRS,
    "many pairs": MANY_PAIRS,
    "shared keys": SHARED_KEYS,
    "few queries": FEW_QUERIES,
}
RESULTS = 200_000
RARE = 1e-9


def _raw(population: Population) -> np.ndarray:
    """Results of a right function from that many generators, which here is one that goes on."""
    rng, sizes = np.random.default_rng(0), population.sizes
    if "n_pairs" in sizes:
        pairs = rng.standard_normal((2, RESULTS, sizes["n_pairs"], sizes["d_k"]))
        return pairs.prod(axis=0).sum(axis=-1).std(axis=-1)
    keys = rng.standard_normal((RESULTS, sizes["n_keys"], sizes["widths"][0]))
    queries = rng.standard_normal((RESULTS, sizes["n_queries"], sizes["widths"][0]))
    scores = queries @ keys.swapaxes(1, 2)
    leads = scores - scores.max(axis=-1, keepdims=True)
    return (1 / np.exp(leads).sum(axis=-1)).mean(axis=-1)


def _chernoff(values: np.ndarray, limit: float, count: int) -> float:
    """A bound on the probability that the mean of so many values lies beyond the limit."""
    sign = 1.0 if limit > values.mean() else -1.0
    best = 0.0
    for rate in np.geomspace(0.01, 3, 60) * sign:
        largest = (rate * values).max()
        log_mean = largest + math.log(np.mean(np.exp(rate * values - largest)))
        best = max(best, rate * limit - log_mean)
    return math.exp(-count * best)


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS.values(), ids=POPULATIONS)
def test_a_right_answer_is_refused_less_than_once_in_a_thousand_million_times(population: Population) -> None:
    raw, mean, deviation = _raw(population), population.mean[0], population.deviation[0]
    assert raw.mean() == pytest.approx(mean, abs=0.02 * deviation)
    assert raw.std() == pytest.approx(deviation, rel=0.01)
    standard = (raw - raw.mean()) / raw.std()
    error = STANDARD_ERRORS / math.sqrt(population.generators)
    for limit in (error, -error):
        assert _chernoff(standard, limit, population.generators) < RARE
    for share in (population.least, population.most):
        if 0 < share < math.inf:
            assert _chernoff(standard**2, share**2, population.generators) < RARE


@pytest.mark.parametrize("population", POPULATIONS.values(), ids=POPULATIONS)
def test_the_first_seed_comes_again_and_all_others_once(population: Population) -> None:
    seeds = population.call(Draw(1, VISIBLE_SIZES))["rng"]
    assert len(seeds) == population.generators + 1
    assert seeds[0] == seeds[-1]
    assert len(np.unique(seeds[:-1])) == population.generators
