"""Pictures of chapter 5: the maps of several heads, where trained heads look, and how costs grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import describe, new_axes, table
from .tables import heat_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TWIN_MODELS = 8


def head_maps(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str],
    titles: Sequence[str],
    *,
    columns: int = 3,
) -> Axes:
    """Draw the weights of several heads as heat maps, `columns` of them in a row.

    Up to four queries leave room for the numbers. With more there is a bar that says what the colours mean.

    Parameters: weights (H, L, M); names of the L queries and M keys; a title for each head.
    Returns: the first Axes.

    >>> head_maps([[[0.25, 0.75]], [[1, 0]]], ["it"], ["cat", "mat"], ["one", "two"]).get_title()
    'one'
    """
    weights_HLM = np.asarray(weights, dtype=float)
    if weights_HLM.shape != (len(titles), len(queries), len(keys)):
        raise ValueError(
            f"weights: expected shape {(len(titles), len(queries), len(keys))}, got {weights_HLM.shape}"
        )
    rows, numbers = ceil(len(titles) / columns), len(queries) <= 4
    square = (0.38, 0.42) if numbers else (0.26, 0.21)
    width, height = 0.8 + square[0] * len(keys), 0.9 + square[1] * len(queries)
    axes = new_axes(columns * width, rows * height, columns=columns, rows=rows)
    for ax, table_LM, title in zip(axes, weights_HLM, titles, strict=False):
        heat_map(table_LM, queries, keys, title=title, numbers=numbers, ax=ax)
        ax.tick_params(labelsize=8)
        ax.tick_params("x", rotation=90)
        ax.set_title(title, fontsize=9)
    for ax in axes[len(titles) :]:
        ax.set_axis_off()
    if not numbers:
        axes[0].get_figure().colorbar(axes[0].images[0], ax=list(axes), shrink=0.8, label="weight")
    return axes[0]


def head_places(
    weights: ArrayLike, names: Sequence[str], places: tuple[str, str], *, title: str, ax: Axes | None = None
) -> Axes:
    """Draw how much weight each of two heads gives to two places; a line joins the heads of one model.

    Parameters: weights (S, 2, 2): model, head, place; names of the S models; what the two places are called.
    Returns: the Axes. The text twin lists the first eight models.

    >>> head_places([[[1, 0], [0, 1]]], ["7"], ("first", "second"), title="two heads").get_xlabel()
    'weight on first'
    """
    weights_SHP = np.asarray(weights, dtype=float)
    if weights_SHP.shape != (len(names), 2, 2):
        raise ValueError(f"weights: expected shape {(len(names), 2, 2)}, got {weights_SHP.shape}")
    if ax is None:
        (ax,) = new_axes(5.6, 4.2)
    for pair in weights_SHP:
        ax.plot(*pair.T, color="0.75", linewidth=0.8, zorder=1)
    for head, marker in enumerate("os"):
        ax.scatter(*weights_SHP[:, head].T, marker=marker, s=28, alpha=0.8, label=f"head {head}")
    ax.set(
        xlabel=f"weight on {places[0]}",
        ylabel=f"weight on {places[1]}",
        xlim=(-0.05, 1.05),
        ylim=(-0.05, 1.05),
    )
    ax.set_title(title)
    ax.legend(loc="upper right")
    header = ["model", *(f"head {head}, {place}" for head in (0, 1) for place in places)]
    rows = [
        [name, *(f"{weight:.2f}" for weight in model.ravel())]
        for name, model in zip(names[:TWIN_MODELS], weights_SHP, strict=False)
    ]
    apart = int(np.sum(weights_SHP.argmax(axis=2)[:, 0] != weights_SHP.argmax(axis=2)[:, 1]))
    alt = (
        f"Points in a square, {title}: two joined points per model, one per head. In {apart} of {len(names)} "
        f"models the two heads prefer different places ({places[0]}, {places[1]})."
    )
    return describe(ax, alt, f"{title}\n{table(rows, header)}")


def growth(
    sizes: ArrayLike,
    measures: Mapping[str, ArrayLike],
    slopes: Mapping[str, float],
    *,
    ylabel: str,
    title: str,
    decimals: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """Draw how measures grow with the number of tokens, on log axes, where a power law is a straight line.

    Parameters: sizes (N,) and measures (N,) per name, all above 0; slopes, the fitted slope of each name;
    ylabel says the unit; decimals of the measures in the text twin. Returns: the Axes.

    >>> growth([1, 2], {"table": [4, 16]}, {"table": 2.0}, ylabel="bytes", title="memory").get_yscale()
    'log'
    """
    sizes_N = np.asarray(sizes, dtype=float)
    if list(measures) != list(slopes):
        raise ValueError(f"slopes: expected the names {list(measures)}, got {list(slopes)}")
    if ax is None:
        (ax,) = new_axes(6.4, 3.6)
    for (name, values), style in zip(measures.items(), cycle(("o-", "s--", "^:")), strict=False):
        if np.shape(values) != sizes_N.shape:
            raise ValueError(f"measures: expected shape {sizes_N.shape} for {name!r}, got {np.shape(values)}")
        ax.plot(sizes_N, np.asarray(values, dtype=float), style, label=f"{name}, slope {slopes[name]:.2f}")
    ax.set(xscale="log", yscale="log", xlabel="number of tokens n", ylabel=ylabel, title=title)
    ax.set_xticks(sizes_N, [f"{size:g}" for size in sizes_N])
    ax.minorticks_off()
    ax.legend()
    rows = [
        [f"{size:g}", *(f"{np.asarray(values)[at]:,.{decimals}f}" for values in measures.values())]
        for at, size in enumerate(sizes_N)
    ]
    rows.append(["slope", *(f"{slope:.2f}" for slope in slopes.values())])
    listed = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())
    ends = f"{sizes_N[0]:g} to {sizes_N[-1]:g} tokens"
    alt = f"Lines on log axes, {title}, in {ylabel}, for {ends}. Slopes: {listed}."
    return describe(ax, alt, f"{title}, in {ylabel}\n{table(rows, ['n', *measures])}")
