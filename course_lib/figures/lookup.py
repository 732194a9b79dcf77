"""Pictures of chapter 1: a lookup in the plane, weights as a number moves, curves through noisy points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..lookup import convex_hull
from .base import describe, new_axes, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def key_plane(
    query: ArrayLike, keys: ArrayLike, scores: ArrayLike, labels: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """Draw a query and keys as arrows from the origin, each key with its score.

    Parameters: query (2,), keys (M, 2), scores (M,), names of the M keys. Returns: the Axes.

    >>> key_plane([1, 0], [[1, 0], [0, 1]], [1, 0], ["A", "B"]).get_title()
    'keys and query'
    """
    query, keys = np.asarray(query, dtype=float), _rows("keys", keys, 2)
    _one_each(labels, keys=keys, scores=scores)
    if ax is None:
        (ax,) = new_axes(4.2, 3.8)
    for label, key, score in zip(labels, keys, np.asarray(scores, dtype=float), strict=True):
        _arrow(ax, key, "#0072B2", f"{label}: {score:.3g}", side=-1)
    _arrow(ax, query, "#B34700", "query", side=1)
    ax.plot(*query, marker="o", markersize=9, markerfacecolor="none", markeredgecolor="#B34700")
    _frame(ax, 1.45 * np.vstack([keys, query, np.zeros(2)]), "keys and query")  # with room for the labels
    rows = [
        [label, _point(key), f"{score:.3g}"] for label, key, score in zip(labels, keys, scores, strict=True)
    ]
    listed = ", ".join(f"{label} {score}" for label, _, score in rows)
    alt = f"Arrows from the origin: the query {_point(query)} and {len(keys)} keys. Scores: {listed}."
    return describe(ax, alt, f"query {_point(query)}\n{table(rows, ['key', 'place', 'score'])}")


def value_plane(
    values: ArrayLike, weights: ArrayLike, output: ArrayLike, labels: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """Draw values as points in their convex hull, larger for a larger weight, and the output among them.

    Parameters: values (M, 2), weights (M,), output (2,), names of the M values. Returns: the Axes.

    >>> value_plane([[2, 0], [0, 4]], [0.5, 0.5], [1, 2], ["A", "B"]).get_title()
    'values and output'
    """
    values, output = _rows("values", values, 2), np.asarray(output, dtype=float)
    _one_each(labels, values=values, weights=weights)
    if ax is None:
        (ax,) = new_axes(4.2, 3.8)
    hull = convex_hull(values)
    ax.fill(*hull.T, facecolor="0.93", edgecolor="0.6", linewidth=1.0, zorder=0)
    ax.scatter(*values.T, s=30 + 250 * np.asarray(weights, dtype=float), color="C0")
    centre = hull.mean(axis=0)
    for label, value, weight in zip(labels, values, weights, strict=True):
        outwards = 1 if value[1] >= centre[1] else -1
        ax.annotate(
            f"{label}: {weight:.3f}",
            value,
            xytext=(0, 16 * outwards),
            textcoords="offset points",
            ha="center",
            va="center",
        )
    ax.plot(*output, marker="X", markersize=11, color="#B34700", linestyle="none")
    ax.annotate("output", output, xytext=(11, 4), textcoords="offset points", color="#B34700")
    _frame(ax, values, "values and output")
    rows = [[n, _point(v), f"{w:.3f}"] for n, v, w in zip(labels, values, weights, strict=True)]
    alt = f"Points at the values, the output at {_point(output)} inside their convex hull."
    return describe(ax, alt, f"{table(rows, ['value', 'place', 'weight'])}\noutput {_point(output)}")


def lookup_planes(
    query: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
    *,
    scores: ArrayLike,
    weights: ArrayLike,
    output: ArrayLike,
    labels: Sequence[str],
) -> Axes:
    """Draw a whole lookup: keys and query on the left, values and output on the right.

    Parameters: as for `key_plane` and `value_plane`. Returns: the left Axes.

    >>> ax = lookup_planes(
    ...     [0, 1], [[1, 0]], [[3, 4]], scores=[0], weights=[1], output=[3, 4], labels=["A"]
    ... )
    >>> len(ax.get_figure().axes)
    2
    """
    left, right = new_axes(8.2, 3.7, columns=2)
    value_plane(values, weights, output, labels, ax=right)
    return key_plane(query, keys, scores, labels, ax=left)


def weight_curves(
    steps: ArrayLike, weights: ArrayLike, labels: Sequence[str], *, xlabel: str, ax: Axes | None = None
) -> Axes:
    """Draw how each key's weight moves with a number above 0, on a logarithmic axis.

    Parameters: steps (S,), weights (S, M), names of the M keys, what the number is. Returns: the Axes.

    >>> weight_curves([1, 2], [[0.5, 0.5], [0.6, 0.4]], ["A", "B"], xlabel="factor").get_ylabel()
    'weight'
    """
    steps, weights_SM = np.asarray(steps, dtype=float), np.asarray(weights, dtype=float)
    if weights_SM.shape != (len(steps), len(labels)):
        raise ValueError(f"weights: expected shape {(len(steps), len(labels))}, got {weights_SM.shape}")
    if ax is None:
        (ax,) = new_axes(5.6, 3.0)
    for curve, marker in zip(weights_SM.T, "osD^vPX*"):  # noqa: B905 (more markers than keys)
        ax.semilogx(steps, curve, marker=marker, markersize=4, base=2)
    for label, height in zip(labels, _apart(weights_SM[-1], 0.075), strict=True):
        ax.annotate(label, (steps[-1], height), xytext=(6, 0), textcoords="offset points", va="center")
    ax.set_xticks(steps, [f"{step:g}" for step in steps])
    ax.minorticks_off()
    ax.set(xlabel=xlabel, ylabel="weight", ylim=(-0.03, 1.03))
    rows = [[f"{s:g}", *(f"{w:.3f}" for w in row)] for s, row in zip(steps, weights_SM, strict=True)]
    ends = ", ".join(
        f"{label} from {a:.3f} to {b:.3f}" for label, a, b in zip(labels, *weights_SM[[0, -1]], strict=True)
    )
    alt = f"A curve per key: its weight as {xlabel} goes from {steps[0]:g} to {steps[-1]:g}. {ends}."
    return describe(ax, alt, table(rows, [xlabel, *labels]))


def _apart(heights: ArrayLike, gap: float) -> NDArray[np.float64]:
    """Heights for labels: from the lowest up, each moved so far that it stands `gap` above the one below.

    >>> _apart([0.9, 0.0, 0.05], 0.1).tolist()
    [0.9, 0.0, 0.1]
    """
    placed = np.array(heights, dtype=float)
    order = np.argsort(placed, kind="stable")
    for below, above in pairwise(order):
        placed[above] = max(placed[above], placed[below] + gap)
    return placed


def smoothers(
    x: ArrayLike, y: ArrayLike, grid: ArrayLike, curves: Mapping[str, ArrayLike], truth: ArrayLike
) -> Axes:
    """Draw noisy points, the true curve, and one estimate per panel.

    Parameters: x (N,), y (N,), grid (G,), curves maps a title to estimates (G,), truth (G,).
    Returns: the leftmost Axes.

    >>> ax = smoothers([0, 1], [0, 1], [0, 1], {"flat": [0.5, 0.5], "line": [0, 1]}, [0, 1])
    >>> len(ax.get_figure().axes), ax.get_title()
    (2, 'flat')
    """
    panels = new_axes(3.0 * len(curves) + 0.4, 3.0, columns=len(curves))
    grid = np.asarray(grid, dtype=float)
    shown = np.linspace(0, len(grid) - 1, 5).round().astype(int)
    for ax, (title, curve) in zip(panels, curves.items(), strict=True):
        curve = np.asarray(curve, dtype=float)
        ax.scatter(x, y, s=14, color="0.55", zorder=1)
        ax.plot(grid, truth, color="black", linestyle="--", linewidth=1.0, zorder=2)
        ax.plot(grid, curve, color="C1", zorder=3)
        ax.set(title=title, xlabel="query x", ylim=(min(y) - 0.2, max(y) + 0.2))
        text = "  ".join(f"{grid[i]:g}: {curve[i]:.2f}" for i in shown)
        alt = f"Panel {title}: noisy points (grey), the true curve (dashed) and the estimate (solid)."
        describe(ax, alt, f"{title}, estimate at query x  {text}")
    panels[0].set_ylabel("value y")
    return panels[0]


def _rows(name: str, rows: ArrayLike, width: int) -> np.ndarray:
    """A float table of the argument, or an error that names it."""
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ValueError(f"{name}: expected shape (M, {width}), got {rows.shape}")
    return rows


def _one_each(labels: Sequence[str], **lists: ArrayLike) -> None:
    for name, rows in lists.items():
        if len(np.asarray(rows)) != len(labels):
            raise ValueError(f"{name}: expected {len(labels)}, one per label, got {len(np.asarray(rows))}")


def _arrow(ax: Axes, tip: np.ndarray, colour: str, label: str, *, side: int) -> None:
    """An arrow from the origin to `tip`, its label beside the tip: side -1 is right, 1 left."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    if tip.any():
        ax.annotate("", tip, xytext=(0, 0), arrowprops=style)
    forward = tip / np.hypot(*tip) if tip.any() else np.array([1.0, 0.0])
    away = 5 * forward + 11 * side * np.array([-forward[1], forward[0]])
    align = "left" if away[0] > 2 else "right" if away[0] < -2 else "center"
    ax.annotate(label, tip, xytext=away, textcoords="offset points", ha=align, va="center", color=colour)


def _frame(ax: Axes, points: np.ndarray, title: str) -> None:
    """A square frame with room for labels around the points, and thin lines through the origin."""
    middle, reach = (points.max(axis=0) + points.min(axis=0)) / 2, np.ptp(points, axis=0).max() / 2
    reach = 1.65 * reach if reach > 0 else 1.0
    ax.axhline(0, color="0.85", linewidth=0.8, zorder=-1)
    ax.axvline(0, color="0.85", linewidth=0.8, zorder=-1)
    ax.set_aspect("equal", adjustable="box")
    ax.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
    ax.set(title=title, xlabel="first entry", ylabel="second entry")


def _point(entries: ArrayLike) -> str:
    return "(" + ", ".join(f"{entry:.4g}" for entry in np.asarray(entries, dtype=float)) + ")"
