"""Two small helpers of chapter 1: the nearest-neighbour lookup, and the outline of a set of points.

Both stand beside the soft lookup of `course_lib.attention`: the nearest-neighbour lookup has the same shape
with harder weights, and every weighted average lies inside the outline (the convex hull) of the values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.attention import lookup_arguments

Array = NDArray[np.floating]


def nearest_lookup(
    query: ArrayLike, keys: ArrayLike, values: ArrayLike, neighbours: int = 1
) -> tuple[Array, Array]:
    """Plain average of the values whose keys are nearest to the query: weight 1/k for k keys, 0 for the rest.

    Of two keys at the same distance, the earlier one counts as nearer.

    Parameters: query (..., K), keys (M, K), values (M, V), neighbours k from 1 to M.
    Returns: output (..., V), weights (..., M), each 0 or 1/k.
    Raises: ValueError for arguments that do not fit together, and for more neighbours than keys or fewer
    than 1. Source: Cover and Hart 1967, for k = 1 in classification.

    >>> output, weights = nearest_lookup([0.2], [[0.0], [1.0], [5.0]], [[2.0], [4.0], [9.0]], neighbours=2)
    >>> output.tolist(), weights.tolist()
    ([3.0], [0.5, 0.5, 0.0])
    """
    query, keys, values = lookup_arguments(query, keys, values)
    if not 1 <= neighbours <= len(keys):
        raise ValueError(f"neighbours: expected a number from 1 to {len(keys)}, got {neighbours}")
    distances = ((query[..., None, :] - keys) ** 2).sum(axis=-1)
    nearest = np.argsort(distances, axis=-1, kind="stable")[..., :neighbours]
    weights = np.zeros_like(distances)
    np.put_along_axis(weights, nearest, 1 / neighbours, axis=-1)
    return weights @ values, weights


def convex_hull(points: ArrayLike) -> Array:
    """Corners of the smallest convex outline that holds all points, anticlockwise from the leftmost.

    Parameters: points (N, 2), N ≥ 1. Returns: corners (C, 2) with C ≤ N; points inside or on an edge are left
    out. Raises: ValueError for points in another shape, or none. Source: Andrew 1979 (monotone chain).

    >>> convex_hull([[0, 0], [2, 0], [1, 0.5], [1, 2]]).tolist()
    [[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]]
    """
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(f"points: expected shape (N, 2) with at least one row, got {points.shape}")
    ordered = np.unique(points, axis=0)
    if len(ordered) == 1:
        return ordered
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _chain(ordered: Array) -> list[Array]:
    """The corners met on the way along one side: keep only left turns."""
    corners: list[Array] = []
    for point in ordered:
        while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        corners.append(point)
    return corners


def _turn(a: Array, b: Array, c: Array) -> float:
    """Above 0 when the way from a over b to c turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
