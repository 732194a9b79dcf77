"""Pictures of tables: weights (or scores) of queries and keys as a heat map, and one row of them as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import Grid, describe, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def heat_map(
    values: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "weights",
    kind: str = "weight",
    numbers: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a table of weights (colours from 0 to 1) or scores (colours centred at 0).

    Parameters: values (L, M); names of the L queries and M keys; kind "weight" or "score"; numbers writes
    each value, with two decimals, into its square. Returns: the Axes.

    >>> heat_map([[0.25, 0.75]], ["it"], ["cat", "mat"]).get_xlabel()
    'key'
    """
    table_LM = np.asarray(values, dtype=float)
    if kind not in ("weight", "score"):
        raise ValueError(f'kind: expected "weight" or "score", got {kind!r}')
    if table_LM.shape != (len(queries), len(keys)):
        raise ValueError(f"values: expected shape {(len(queries), len(keys))}, got {table_LM.shape}")
    if ax is None:
        (ax,) = new_axes(1.6 + 0.62 * len(keys), 1.1 + 0.42 * len(queries))
    limit = max(float(np.abs(table_LM).max()), 1e-12)
    low, high, colours = (0.0, 1.0, "cividis") if kind == "weight" else (-limit, limit, "PuOr")
    image = ax.imshow(table_LM, vmin=low, vmax=high, cmap=colours, aspect="auto")
    ax.set_xticks(range(len(keys)), keys, rotation=45 if max(map(len, keys)) > 4 else 0)
    ax.set_yticks(range(len(queries)), queries)
    ax.set(xlabel="key", ylabel="query", title=title)
    if numbers:
        _write_numbers(ax, table_LM, image)
    rows = [[name, *(f"{value:.2f}" for value in row)] for name, row in zip(queries, table_LM, strict=True)]
    strongest = [f"{q}: {keys[int(row.argmax())]}" for q, row in zip(queries, table_LM, strict=True)]
    largest = f"Largest {kind} of each row: {', '.join(strongest)}."
    alt = f"Heat map, {title}: a row per query, a column per key. {largest}"
    grid = Grid(title, ["query", *keys], rows)
    return describe(ax, alt, grid.text(), [grid])


def weight_bars(
    weights: ArrayLike, keys: Sequence[str], *, title: str = "weights", ax: Axes | None = None
) -> Axes:
    """Draw one query's weights as bars from 0 to 1.

    Parameters: weights (M,), names of the M keys. Returns: the Axes.

    >>> weight_bars([0.881, 0.119], ["k1", "k2"]).get_ylabel()
    'weight'
    """
    weights_M = np.asarray(weights, dtype=float)
    if weights_M.shape != (len(keys),):
        raise ValueError(f"weights: expected shape {(len(keys),)}, got {weights_M.shape}")
    if ax is None:
        (ax,) = new_axes(1.8 + 0.55 * len(keys), 2.6)
    bars = ax.bar(range(len(keys)), weights_M)
    ax.bar_label(bars, [f"{weight:.3f}" for weight in weights_M], padding=2)
    ax.set_xticks(range(len(keys)), keys)
    ax.set(xlabel="key", ylabel="weight", ylim=(0, 1.12), title=title)
    listed = ", ".join(f"{key} {weight:.3f}" for key, weight in zip(keys, weights_M, strict=True))
    return describe(ax, f"Bars, {title}: {listed}.", f"{title}: {listed}")


def _write_numbers(ax: Axes, table_LM: np.ndarray, image: object, decimals: int = 2) -> None:
    """Write each value into its square, dark on light and light on dark."""
    colours = image.cmap(image.norm(table_LM))  # type: ignore[attr-defined]
    brightness = colours[..., :3] @ np.array([0.299, 0.587, 0.114])
    for (row, column), value in np.ndenumerate(table_LM):
        shade = "black" if brightness[row, column] > 0.5 else "white"
        ax.text(column, row, f"{value + 0.0:.{decimals}f}", ha="center", va="center", color=shade, fontsize=8)
