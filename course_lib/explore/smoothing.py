"""Chapter 1: kernel smoothing with a width that the reader moves, beside nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention
from course_lib.figures import describe, new_axes

from .base import Explorable, explorable, numbers, steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
GRID = 161


def kernel_smoother(
    x: ArrayLike,
    y: ArrayLike,
    width: float,
    *,
    neighbours: int = 5,
    truth: Callable[[Array], ArrayLike] | ArrayLike | None = None,
) -> Explorable:
    """Nadaraya-Watson regression, Σ_i w_i(q) y_i with w = softmax(-(q - x)² / (2 width²)), to move.

    The reader moves the width, the number of neighbours and the query; drawn are the smoothed curve, the 1-
    and k-nearest-neighbour averages, and the weights of all points for the query.

    Parameters: x, y (N,) points, N from 3 to 300; width > 0 in the unit of x and neighbours (1 to N), where
    the reader starts; truth the curve without noise, a function of x or its values at the points, if known:
    then the mean squared errors against it, at the points, are shown.
    Returns: the display object. Raises: ValueError. Source: Nadaraya 1964, Watson 1964.

    >>> figure = kernel_smoother([0, 1, 2, 3], [0, 2, 1, 3], width=1.0, neighbours=2)
    >>> print(figure.text)
    bandwidth 1, 2 nearest neighbours, query 1.5
    smoothed 1.50, nearest 2.00, mean of the 2 nearest 1.50
    """
    x = numbers("x", x, (None,))
    y = numbers("y", y, x.shape)
    curve = None if truth is None else numbers("truth", truth(x) if callable(truth) else truth, x.shape)
    if not 3 <= len(x) <= 300 or np.ptp(x) == 0:
        raise ValueError(f"x: expected 3 to 300 points that are not all equal, got {len(x)}")
    if not width > 0:
        raise ValueError(f"width: expected a number above 0, got {width}")
    if not 1 <= neighbours <= len(x):
        raise ValueError(f"neighbours: expected 1 to {len(x)}, got {neighbours}")
    order = np.argsort(x, kind="stable")
    x, y, curve = x[order], y[order], None if curve is None else curve[order]
    grid = np.linspace(x[0], x[-1], GRID).round(6)
    curves = {
        f"smoothed, bandwidth {width:.3g}": smooth(grid, x, y, width),
        "nearest neighbour": nearest(grid, x, y, 1),
        f"mean of the {neighbours} nearest": nearest(grid, x, y, neighbours),
    }
    ax = _draw(x, y, grid, curves, curve)
    data = {
        "x": x,
        "y": y,
        "truth": curve,
        "grid": grid,
        "widths": steps(np.ptp(x) / len(x) / 4, np.ptp(x), width),
        "width": float(width),
        "neighbours": neighbours,
    }
    describe(ax, *_words(data, [float(line[GRID // 2]) for line in curves.values()]))
    caption = (
        "Move the bandwidth, the number of neighbours and the query; bars show how much each point counts."
    )
    return explorable(ax, "kernel_smoother", data, caption)


def _words(data: dict[str, Any], at_query: list[float]) -> tuple[str, str]:
    """What is seen, in a sentence, and the three averages at the query in the middle."""
    width, neighbours, query = data["width"], data["neighbours"], data["grid"][GRID // 2]
    smoothed, single, several = at_query
    alt = (
        f"{len(data['x'])} noisy points and three curves through them: a smooth one (bandwidth {width:.3g}), "
        f"a jagged dotted staircase (nearest neighbour) and a finer one (mean of the {neighbours} nearest)."
    )
    text = (
        f"bandwidth {width:.3g}, {neighbours} nearest neighbours, query {query:.3g}\n"
        f"smoothed {smoothed:.2f}, nearest {single:.2f}, mean of the {neighbours} nearest {several:.2f}"
    )
    return alt, text


def smooth(queries: Array, x: Array, y: Array, width: float) -> Array:
    """Nadaraya-Watson estimates at the queries: the Gaussian soft lookup of `attention`."""
    return attention.gaussian_lookup(queries[:, None], x[:, None], y[:, None], width)[0][:, 0]


def nearest(queries: Array, x: Array, y: Array, count: int) -> Array:
    """Mean of the `count` nearest points' y for each query; of equal distances the first point counts.

    >>> nearest(np.array([0.4]), np.array([0.0, 1.0, 2.0]), np.array([1.0, 5.0, 9.0]), 2).tolist()
    [3.0]
    """
    closest = np.argsort(np.abs(queries[:, None] - x), axis=1, kind="stable")[:, :count]
    return y[closest].mean(axis=1)


def _draw(x: Array, y: Array, grid: Array, curves: dict[str, Array], truth: Array | None) -> Axes:
    (ax,) = new_axes(7.0, 3.4)
    ax.plot(x, y, "o", color="0.45", markersize=4, label="points")
    if truth is not None:
        ax.plot(x, truth, "--", color="black", lw=1.2, label="without noise")
    styles = (("#0072b2", 2.4, "-"), ("#e69f00", 1.6, ":"), ("#d55e00", 1.4, "-"))
    for (name, line), (colour, thickness, style) in zip(curves.items(), styles, strict=True):
        ax.plot(grid, line, color=colour, lw=thickness, ls=style, label=name)
    ax.set(xlabel="x", ylabel="y")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    return ax
