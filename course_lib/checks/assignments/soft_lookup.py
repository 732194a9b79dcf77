"""Assignment 01: softmax, soft lookup, Gaussian lookup, and sharpening by a temperature."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned

# What is refused: the point is to write it oneself. A logarithm of softmax, or a softmin, is one in disguise.
LIBRARY_SOFTMAX = (
    "course_lib.attention.softmax",
    "scipy.special.softmax",
    "scipy.special.log_softmax",
    "torch.softmax",
    "torch.log_softmax",
    "torch.Tensor.softmax",
    "torch.Tensor.log_softmax",
    "torch.special.softmax",
    "torch.special.log_softmax",
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.functional.softmin",
)
LIBRARY_LOOKUP = (
    "course_lib.attention.soft_lookup",
    "course_lib.attention.attention",
    "torch.nn.functional.scaled_dot_product_attention",
)
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
VALUES = np.array([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])


def shift_invariance(outputs: list[dict[str, Any]]) -> str | None:
    """The weights of scores and of the same scores plus a constant agree."""
    first, second = outputs
    if first["weights"].shape == second["weights"].shape and np.allclose(
        first["weights"], second["weights"], rtol=1e-5, atol=1e-5
    ):
        return None
    return "Adding one number to all scores must not change the weights; yours change."


def _shifted(draw: Draw) -> list[Arguments]:
    scores = draw.normal("L M")
    return [{"scores": scores}, {"scores": scores + 2.5}]


def _lookup(draw: Draw, axes: str = "K") -> Arguments:
    return {
        "query": _coarse(draw, axes),
        "keys": _coarse(draw, "M K"),
        "values": draw.normal("M V", 3.0),
    }


def _wide_keys(draw: Draw) -> Arguments:
    """Wider vectors than anywhere else, with scores of the usual size."""
    drawn = {"query": _coarse(draw, "24"), "keys": _coarse(draw, "M 24") / 4}
    return drawn | {"values": draw.normal("M V", 3.0)}


def _integer_lookup(draw: Draw) -> Arguments:
    return {"query": draw.integers("K"), "keys": draw.integers("M K"), "values": draw.integers("M V", 0, 9)}


def _one_key(draw: Draw, queries: str = "K") -> Arguments:
    return {"query": draw.normal(queries), "keys": draw.normal("1 K"), "values": draw.normal("1 V")}


def _long_query(draw: Draw) -> Arguments:
    """A query so long that one weight is 1; drawn again until float32 has no doubt which."""
    while True:
        drawn = _lookup(draw) | {"query": draw.normal("K", 2000.0)}
        if _clear_winner(drawn["keys"] @ drawn["query"]):
            return drawn


def _very_negative(draw: Draw) -> Arguments:
    """All scores near -2000, and none far from the others; whole queries keep them exact in float32."""
    query, keys = draw.integers("K").astype(float), _coarse(draw, "M K")
    at = draw.rng.integers(draw.sizes["K"])
    query[at], keys[:, at] = -1000, 2
    return {"query": query, "keys": keys, "values": draw.normal("M V", 3.0)}


def _clear_winner(scores: np.ndarray) -> bool:
    second, first = np.sort(scores)[-2:]
    return bool(first - second > 60)


def _coarse(draw: Draw, axes: str) -> np.ndarray:
    """Normal numbers in steps of 1/256: float32 holds them, their products, and them plus 10,000 exactly."""
    return np.round(draw.normal(axes) * 256) / 256


def _gaussian(draw: Draw, axes: str = "K", width: float = 0.7) -> Arguments:
    return _lookup(draw, axes) | {"width": width}


def _near(draw: Draw) -> Arguments:
    """A narrow kernel, and a key near enough for a small number in the sum not to show."""
    while True:
        drawn = _gaussian(draw)
        if _nearness(drawn).max() > -10:
            return drawn


def _near_and_far(draw: Draw) -> Arguments:
    """Queries near the keys, and one far from all; drawn again until float32 is sure which is next to it."""
    while True:
        drawn = _gaussian(draw, "L K", 1.5)
        drawn["query"][-1] += 500.0
        if _clear_winner(_nearness(drawn | {"query": drawn["query"][-1]})):
            return drawn


def _in_other_units(draw: Draw, unit: float) -> Arguments:
    """Queries, keys and width in another unit of length."""
    drawn = _gaussian(draw, "L K", 1.5)
    return drawn | {name: drawn[name] * unit for name in ("query", "keys", "width")}


def _one_number_each(drawn: Arguments) -> Arguments:
    """The same with values of width 1."""
    return drawn | {"values": drawn["values"][:, :1]}


def _far(draw: Draw) -> Arguments:
    """Every key so far away that its kernel underflows; drawn again until float32 is sure which is next."""
    while True:
        drawn = _gaussian(draw) | {"query": draw.normal("K") + 500.0}
        if _clear_winner(_nearness(drawn)):
            return drawn


def _far_together(draw: Draw) -> Arguments:
    """Two keys nearly equally near, and every kernel underflows. They lie on one line with the query, in
    steps of 1/64, so that float32 holds distances, squares and roots exactly, however they are computed."""
    drawn = {name: value.astype(float) for name, value in _integer_lookup(draw).items()}
    query, keys = drawn["query"], drawn["keys"]
    at = draw.rng.integers(draw.sizes["K"])
    nearest, second = draw.rng.permutation(draw.sizes["M"])[:2]
    query[at], keys[:, at] = draw.rng.integers(46, 52), 0
    keys[[nearest, second]] = query
    keys[nearest, at], keys[second, at] = 3, 3 - 1 / 64
    return drawn | {"width": 1.0}


def _narrow(draw: Draw) -> Arguments:
    while True:
        drawn = _gaussian(draw, width=0.001)
        if _clear_winner(_nearness(drawn)):
            return drawn


def _nearness(drawn: Arguments) -> np.ndarray:
    squared_distances = ((drawn["query"] - drawn["keys"]) ** 2).sum(axis=-1)
    return -squared_distances / (2 * drawn["width"] ** 2)


def _integer_gaussian(draw: Draw) -> Arguments:
    return _integer_lookup(draw) | {"width": 2}


def _tempered(draw: Draw, axes: str, low: float, high: float) -> Arguments:
    """Scores, and a temperature between low and high that nobody can know before."""
    return {"scores": draw.normal(axes), "temperature": round(float(draw.rng.uniform(low, high)), 2)}


def _large_and_hot(draw: Draw) -> Arguments:
    """Scores of thousands, and a temperature that makes them as small as usual ones."""
    return {"scores": 4000.0 * _coarse(draw, "L M"), "temperature": int(draw.rng.integers(2500, 4500))}


SOFTMAX = Exercise(
    function="softmax",
    parameters=("scores",),
    returns=(Returned("weights", "... M", weights=True),),
    refused=LIBRARY_SOFTMAX,
    behaviours=(
        Behaviour(
            "ordinary",
            "weights of one row and of a table of scores",
            2,
            cases=(
                Case("one row", lambda draw: {"scores": np.array([1.0, 0.0, -1.0])}),
                Case("a table", lambda draw: {"scores": draw.normal("L M", 2.0)}),
                Case("a square table", lambda draw: {"scores": draw.normal("L M", 2.0)}, equal_sizes=True),
                Case("scores plus a constant", _shifted, across=shift_invariance),
            ),
        ),
        Behaviour(
            "large scores",
            "scores of any size",
            2,
            cases=(
                Case("very large", lambda draw: {"scores": 1e4 + _coarse(draw, "M")}),
                Case("very negative", lambda draw: {"scores": -1e4 + _coarse(draw, "M")}),
                Case("both at once", lambda draw: {"scores": np.array([1e4, 0.0, -1e4])}),
                Case(
                    "rows of very different size",
                    lambda draw: {
                        "scores": _coarse(draw, "L M")
                        + np.linspace(-1e4, 1e4, draw.sizes["L"]).round()[:, None]
                    },
                ),
            ),
        ),
        Behaviour(
            "any input",
            "batches, integers, and inputs left as they are",
            2,
            unchanged=True,
            cases=(
                Case("a batch of tables", lambda draw: {"scores": draw.normal("B L M")}),
                Case("two leading axes", lambda draw: {"scores": draw.normal("2 B L M")}),
                Case("integers", lambda draw: {"scores": draw.integers("L M")}),
                Case("one score", lambda draw: {"scores": draw.normal("L 1")}),
                Case("a table with one row", lambda draw: {"scores": draw.normal("1 M")}),
            ),
        ),
    ),
)

SOFT_LOOKUP = Exercise(
    function="soft_lookup",
    parameters=("query", "keys", "values"),
    returns=(Returned("output", "... V"), Returned("weights", "... M", weights=True)),
    predecessors=("softmax",),
    refused=LIBRARY_LOOKUP,
    behaviours=(
        Behaviour(
            "ordinary",
            "one query",
            2,
            cases=(
                Case(
                    "chapter 1", lambda draw: {"query": np.array([1.0, 2.0]), "keys": KEYS, "values": VALUES}
                ),
                Case("another table", _lookup),
                Case("as many keys as widths", _lookup, equal_sizes=True),
            ),
        ),
        Behaviour(
            "many queries",
            "a table of queries, batches of tables, and values of width 1",
            2,
            cases=(
                Case("a table of queries", lambda draw: _lookup(draw, "L K")),
                Case("a batch of tables", lambda draw: _lookup(draw, "B L K")),
                Case("two leading axes", lambda draw: _lookup(draw, "2 B L K")),
                Case("a table with one query", lambda draw: _lookup(draw, "1 K")),
                Case("one number per value", lambda draw: _one_number_each(_lookup(draw, "L K"))),
                Case("as many queries as keys", lambda draw: _lookup(draw, "L K"), equal_sizes=True),
            ),
        ),
        Behaviour(
            "any input",
            "long queries, integers, one key, and inputs left as they are",
            2,
            unchanged=True,
            cases=(
                Case("a very long query", _long_query),
                Case("very negative scores", _very_negative),
                Case("integers", _integer_lookup),
                Case("one key", _one_key),
                Case("wide keys", _wide_keys),
            ),
        ),
    ),
)

GAUSSIAN_LOOKUP = Exercise(
    function="gaussian_lookup",
    parameters=("query", "keys", "values", "width"),
    returns=(Returned("output", "... V"), Returned("weights", "... M", weights=True)),
    predecessors=("softmax",),
    refused=("course_lib.attention.gaussian_lookup",),
    behaviours=(
        Behaviour(
            "ordinary",
            "one query",
            2,
            cases=(
                Case("a narrow kernel", _near),
                Case("a wide kernel", lambda draw: _gaussian(draw, width=3.0)),
                Case("as many keys as widths", _gaussian, equal_sizes=True),
            ),
        ),
        Behaviour(
            "far keys",
            "keys that are all far away",
            2,
            cases=(
                Case("a query far from every key", _far),
                Case("a very narrow kernel", _narrow),
                Case("two keys nearly equally far", _far_together),
                Case("near queries and a far one", _near_and_far),
            ),
        ),
        Behaviour(
            "any input",
            "many queries, axes of length 1, any unit of length, integers, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a table of queries", lambda draw: _gaussian(draw, "L K", 1.5)),
                Case("a batch of tables", lambda draw: _gaussian(draw, "B L K", 1.5)),
                Case("two leading axes", lambda draw: _gaussian(draw, "2 B L K", 1.5)),
                Case("a table with one query", lambda draw: _gaussian(draw, "1 K", 1.5)),
                Case("one key", lambda draw: _one_key(draw, "L K") | {"width": 1.5}),
                Case("one number per value", lambda draw: _one_number_each(_gaussian(draw, "L K", 1.5))),
                Case("as many queries as keys", lambda draw: _gaussian(draw, "L K", 1.5), equal_sizes=True),
                Case("tiny lengths", lambda draw: _in_other_units(draw, 0.004)),
                Case("huge lengths", lambda draw: _in_other_units(draw, 250.0)),
                Case("integers", _integer_gaussian),
            ),
        ),
    ),
)

SHARPEN = Exercise(
    function="sharpen",
    parameters=("scores", "temperature"),
    returns=(Returned("weights", "... M", weights=True),),
    predecessors=("softmax",),
    behaviours=(
        Behaviour(
            "ordinary",
            "low and high temperatures",
            1,
            cases=(
                Case("colder", lambda draw: {"scores": draw.normal("M"), "temperature": 0.5}),
                Case("as it is", lambda draw: {"scores": draw.normal("L M"), "temperature": 1}),
                Case("hotter", lambda draw: {"scores": draw.normal("L M"), "temperature": 4.0}),
                Case("a square table", lambda draw: _tempered(draw, "L M", 0.3, 0.9), equal_sizes=True),
                Case("another below 1", lambda draw: _tempered(draw, "L M", 0.3, 0.9)),
                Case("another above 1", lambda draw: _tempered(draw, "L M", 1.2, 9.0)),
            ),
        ),
        Behaviour(
            "any input",
            "extremes, batches, integers, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("nearly arg-max", lambda draw: {"scores": _coarse(draw, "B L M"), "temperature": 1e-3}),
                Case("nearly uniform", lambda draw: {"scores": draw.normal("L M"), "temperature": 1e4}),
                Case("large scores, high temperature", _large_and_hot),
                Case("two leading axes", lambda draw: _tempered(draw, "2 B L M", 1.2, 3.0)),
                Case("one score", lambda draw: _tempered(draw, "L 1", 1.2, 3.0)),
                Case("integers", lambda draw: {"scores": draw.integers("L M"), "temperature": 3}),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError for a temperature that is not above 0",
            1,
            cases=(
                Case("zero", lambda draw: {"scores": draw.normal("M"), "temperature": 0.0}, raises=True),
                Case("negative", lambda draw: {"scores": draw.normal("M"), "temperature": -1.0}, raises=True),
                Case("just below 0", lambda draw: _tempered(draw, "M", -0.9, -0.02), raises=True),
                Case("far below 0", lambda draw: _tempered(draw, "M", -90.0, -1.5), raises=True),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment("01_soft_lookup", "Soft lookup", (SOFTMAX, SOFT_LOOKUP, GAUSSIAN_LOOKUP, SHARPEN))
