"""Chapter 1: drag a query among a few keys and watch the weights and the weighted average of the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention
from course_lib.figures import describe, new_axes, table
from course_lib.lookup import convex_hull

from .base import Explorable, explorable, numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
KEY, QUERY, VALUE = "#0072b2", "#d55e00", "#009e73"


def soft_lookup(
    keys: ArrayLike,
    values: ArrayLike,
    query: ArrayLike,
    labels: Sequence[str] | None = None,
    *,
    scaled: bool = False,
) -> Explorable:
    """A soft lookup in the plane whose query the reader drags: weights = softmax(K q), output = weights · V.

    Left the keys and the query, right the values, their convex hull and the output; the weights as bars and
    numbers. Mouse, touch and arrow keys move the query.

    Parameters: keys (M, 2), values (M, 2), query (2,) where the reader starts; labels of the M tokens
    (A, B, C, ... if none); scaled divides the scores by √2, the root of the key width.
    Returns: the display object. Raises: ValueError for other shapes, or more than 8 keys.

    >>> figure = soft_lookup([[1, 0], [-1, 0]], [[2, 0], [0, 4]], query=[1, 0])
    >>> print(figure.text)
    query (1.00, 0.00), output (1.76, 0.48)
    token  key            value         score   weight
    A      (1.00, 0.00)   (2.00, 0.00)  1.000   0.881
    B      (-1.00, 0.00)  (0.00, 4.00)  -1.000  0.119
    """
    keys, query = numbers("keys", keys, (None, 2)), numbers("query", query, (2,))
    values = numbers("values", values, (len(keys), 2))
    names = list(labels) if labels is not None else list("ABCDEFGH"[: len(keys)])
    if len(keys) > 8 or len(names) != len(keys):
        raise ValueError(f"labels: expected one per key, 8 at most, got {len(names)} for {len(keys)} keys")
    scores = attention.scores(query[None], keys, scaled=scaled)[0]
    data = {
        "keys": keys,
        "values": values,
        "query": query,
        "labels": names,
        "scale": 2**-0.5 if scaled else 1.0,
        "reach": float(np.ceil(2.4 * max(np.abs(keys).max(), np.abs(query).max() / 2)) / 2 + 0.5),
        "box": _box(values),
        "hull": convex_hull(values),
    }
    ax = _draw(data, attention.softmax(scores))
    describe(ax, *_words(data, scores))
    caption = "Drag the query, or focus it and use the arrow keys. The output never leaves the shaded hull."
    return explorable(ax, "soft_lookup", data, caption)


def _words(data: dict[str, Any], scores: Array) -> tuple[str, str]:
    """What is seen, in sentences, and the numbers as a table."""
    weights = attention.softmax(scores)
    query, output = _point(data["query"]), _point(weights @ data["values"])
    rows = [
        [name, _point(key), _point(value), f"{score:.3f}", f"{weight:.3f}"]
        for name, key, value, score, weight in zip(
            data["labels"], data["keys"], data["values"], scores, weights, strict=True
        )
    ]
    listed = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(data["labels"], weights, strict=True))
    alt = (
        f"Two panels. Left: {len(rows)} keys as arrows from the origin and the query at {query}. "
        f"Right: the values, their convex hull, and the output at {output} inside it. Weights: {listed}."
    )
    header = ["token", "key", "value", "score", "weight"]
    return alt, f"query {query}, output {output}\n{table(rows, header)}"


def _box(points: Array) -> Array:
    """Ends of both axes, (2, 2), a little beyond the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.12 * np.maximum(high - low, 1e-3)
    return np.stack([low - margin, high + margin], axis=1)


def _point(point: Array) -> str:
    return f"({point[0] + 0:.2f}, {point[1] + 0:.2f})"


def _draw(data: dict[str, Any], weights: Array) -> Axes:
    left, right = new_axes(7.4, 3.6, columns=2)
    reach = data["reach"]
    _draw_keys(left, data)
    left.set(xlim=(-reach, reach), ylim=(-reach, reach), title="keys and query", aspect="equal")
    _draw_values(right, data, weights)
    right.set(xlim=data["box"][0], ylim=data["box"][1], title="values and output")
    for ax in (left, right):
        ax.set(xlabel="first entry", ylabel="second entry")
    return left


def _draw_keys(ax: Axes, data: dict[str, Any]) -> None:
    for name, key in zip(data["labels"], data["keys"], strict=True):
        ax.annotate("", key, (0, 0), arrowprops={"arrowstyle": "->", "color": KEY, "lw": 1.8})
        away = 12 * np.sign(key)  # points beyond the tip
        ax.annotate(f"key {name}", key, textcoords="offset points", xytext=away, ha="center", va="center")
    ax.plot(*np.stack([(0, 0), data["query"]]).T, color=QUERY)
    ax.plot(*data["query"], "o", color=QUERY, markersize=10)
    ax.annotate("query", data["query"], textcoords="offset points", xytext=(10, 6))


def _draw_values(ax: Axes, data: dict[str, Any], weights: Array) -> None:
    values, output = data["values"], weights @ data["values"]
    ax.fill(*data["hull"].T, color=VALUE, alpha=0.15)
    for name, value, weight in zip(data["labels"], values, weights, strict=True):
        way = np.stack([value, output]).T
        ax.plot(*way, color="0.5", lw=0.5 + 5 * weight, solid_capstyle="round", zorder=1)
        ax.plot(*value, "s", color=VALUE)
        ax.annotate(f"{name} {weight:.2f}", value, textcoords="offset points", xytext=(5, 6))
    ax.plot(*output, "D", color="black", markersize=8)
    ax.annotate("output", output, textcoords="offset points", xytext=(8, 8))
