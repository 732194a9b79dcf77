"""Pictures of masks: which key each query may attend to, weights with and without it, losses and a floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import Grid, describe, new_axes, table
from .tables import heat_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "x")


def mask_panels(
    masks: Mapping[str, ArrayLike],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    words: tuple[str, str] = ("may attend", "hidden"),
    sides: tuple[str, str] = ("query", "key"),
    axes: Sequence[Axes] | None = None,
) -> Axes:
    """Draw tables of yes and no, a row per query and a column per key, one panel per table.

    Parameters: masks maps a title to bool (L, M); names of the L queries and M keys; words for True and
    False; sides, what a row and a column is called. Returns: the first Axes.

    >>> mask_panels({"causal": [[True, False], [True, True]]}, ["1", "2"], ["1", "2"]).get_ylabel()
    'query'
    """
    if axes is None:
        width = 1.3 + 0.32 * len(keys) + 0.06 * max(map(len, queries))
        axes = new_axes(width * len(masks), 1.5 + 0.3 * len(queries), columns=len(masks))
    if len(axes) != len(masks):
        raise ValueError(f"axes: expected {len(masks)}, one per mask, got {len(axes)}")
    for ax, (title, values) in zip(axes, masks.items(), strict=True):
        allowed_LM = np.asarray(values)
        if allowed_LM.dtype != bool or allowed_LM.shape != (len(queries), len(keys)):
            raise ValueError(
                f"masks: expected booleans of shape {(len(queries), len(keys))} for {title!r}, "
                f"got {allowed_LM.dtype} of shape {allowed_LM.shape}"
            )
        _draw_mask(ax, allowed_LM, queries, keys)
        ax.set(xlabel=sides[1], title=title)
        header = [sides[0], *keys]
        _describe_mask(ax, allowed_LM, queries, header, title, words)
    axes[0].set_ylabel(sides[0])
    return axes[0]


def weight_panels(
    tables: Mapping[str, ArrayLike],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    axes: Sequence[Axes] | None = None,
) -> Axes:
    """Draw several tables of weights of the same queries and keys side by side, as heat maps from 0 to 1.

    Parameters: tables maps a title to weights (L, M); names of the queries and keys. Returns: the first Axes.

    >>> weight_panels({"before": [[0.5, 0.5]], "after": [[1.0, 0.0]]}, ["q"], ["a", "b"]).get_title()
    'before'
    """
    if axes is None:
        width = 0.9 + 0.42 * len(keys)
        axes = new_axes(width * len(tables), 1.3 + 0.36 * len(queries), columns=len(tables))
    if len(axes) != len(tables):
        raise ValueError(f"axes: expected {len(tables)}, one per table, got {len(axes)}")
    for ax, (title, values) in zip(axes, tables.items(), strict=True):
        heat_map(values, queries, keys, title=title, ax=ax)
    for ax in axes[1:]:
        ax.set_ylabel("")
    return axes[0]


def floor_curves(
    losses: Mapping[str, ArrayLike],
    floor: float,
    levels: Mapping[str, float] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw training losses on a logarithmic axis, and the region below which no honest model can go.

    Parameters: losses maps a name to (U,), the loss at each update, above 0; floor in nats, above 0; levels
    maps a name to a loss drawn as a thin line. Returns: the Axes.

    >>> floor_curves({"right": [2.8, 0.2]}, floor=0.15).get_yscale()
    'log'
    """
    if not floor > 0:
        raise ValueError(f"floor: expected a number above 0, got {floor}")
    if ax is None:
        (ax,) = new_axes(7.4, 3.8)
    rows = []
    for at, (name, values) in enumerate(losses.items()):
        y = np.asarray(values, dtype=float)
        every = max(1, len(y) // 8)
        style = {"linestyle": _LINES[at % len(_LINES)], "marker": _MARKERS[at % len(_MARKERS)]}
        ax.plot(y, label=name, markevery=(at * every // 5, every), markersize=5, **style)
        rows.append([name, *(f"{y[step]:.3f}" for step in _steps(len(y)))])
        length = len(y)
    bottom = min(float(np.asarray(values).min()) for values in losses.values()) / 1.5
    ax.axhspan(min(bottom, floor / 2), floor, color="0.85", label=f"below the floor, {floor:.3f}", zorder=0)
    for name, level in (levels or {}).items():
        ax.axhline(level, color="0.4", linewidth=0.9, linestyle=":")
        ax.text(length, level, f" {name}", va="center", fontsize=9)
    ax.set_yscale("log")
    ax.set(xlabel="update", ylabel="training loss, nats", title="Which losses are too good to be true?")
    ax.set_ylim(bottom=min(bottom, floor / 2))
    ax.legend(loc="upper left", bbox_to_anchor=(1.12 if levels else 1, 1), frameon=False)
    last = ", ".join(f"{row[0]} {row[-1]} ({_side(float(row[-1]), floor)})" for row in rows)
    alt = f"Training losses against updates, grey below the floor {floor:.3f}. At the end: {last}."
    header = ["loss at update", *map(str, _steps(length))]
    return describe(ax, alt, f"floor {floor:.3f}\n{table(rows, header)}")


def _steps(length: int) -> list[int]:
    """A few updates for the text twin: the first, some in between, the last."""
    return sorted({round(share * (length - 1)) for share in (0, 0.125, 0.25, 0.5, 1)})


def _side(loss: float, floor: float) -> str:
    return "below the floor" if loss < floor - 0.0005 else "not below"


def _draw_mask(ax: Axes, allowed_LM: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> None:
    """Light squares with a dot where True, dark ones where False: readable without colour."""
    ax.imshow(allowed_LM, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    rows, columns = np.nonzero(allowed_LM)
    ax.plot(columns, rows, "o", color="black", markersize=4, linestyle="none")
    ax.set_xticks(range(len(keys)), keys, rotation=90 if max(map(len, keys)) > 2 else 0)
    ax.set_yticks(range(len(queries)), queries)
    ax.set_xticks(np.arange(0.5, len(keys) - 1), minor=True)
    ax.set_yticks(np.arange(0.5, len(queries) - 1), minor=True)
    ax.grid(which="minor", color="white", linewidth=0.8)
    ax.tick_params(which="minor", length=0)


def _describe_mask(
    ax: Axes,
    allowed_LM: np.ndarray,
    queries: Sequence[str],
    header: list[str],
    title: str,
    words: tuple[str, str],
) -> None:
    counts = ", ".join(f"{query} {int(row.sum())}" for query, row in zip(queries, allowed_LM, strict=True))
    alt = f"Table, {title}: a dot means {words[0]}, a dark square {words[1]}. Dots in each row: {counts}."
    rows = [
        [query, *("●" if yes else "·" for yes in row)] for query, row in zip(queries, allowed_LM, strict=True)
    ]
    grid = Grid(f"{title} (● {words[0]}, · {words[1]})", header, rows)
    describe(ax, alt, grid.text(), [grid])
