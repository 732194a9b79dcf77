"""Pictures of chapter 2: tables with named columns, weights against temperature, and points that move."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import Grid, describe, new_axes, table
from .tables import _write_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TWIN_ROWS = 9


def feature_table(
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    decimals: int = 0,
    row_label: str = "token",
    ax: Axes | None = None,
) -> Axes:
    """Draw vectors as the rows of a table whose columns have names; colours are centred at 0.

    Parameters: values (R, C), names of the R rows and C columns; decimals of the written numbers; what a row
    is, for the axis. Returns: the Axes.

    >>> feature_table([[4, 0]], ["it"], ["living", "action"], title="Q").get_ylabel()
    'token'
    """
    values_RC = np.asarray(values, dtype=float)
    if values_RC.shape != (len(rows), len(columns)):
        raise ValueError(f"values: expected shape {(len(rows), len(columns))}, got {values_RC.shape}")
    if ax is None:
        (ax,) = new_axes(1.8 + 0.7 * len(columns), 1.3 + 0.3 * len(rows))
    limit = max(float(np.abs(values_RC).max()), 1e-12)
    image = ax.imshow(values_RC, vmin=-limit, vmax=limit, cmap="PuOr", aspect="auto")
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.set(ylabel=row_label, title=title)
    _write_numbers(ax, values_RC.round(decimals), image, decimals)
    lines = [
        [name, *(f"{value:.{decimals}f}" for value in row)]
        for name, row in zip(rows, values_RC.round(decimals) + 0.0, strict=True)
    ]
    alt = f"Table, {title}: {len(rows)} rows ({row_label}), {len(columns)} columns ({', '.join(columns)})."
    grid = Grid(title, [row_label, *columns], lines)
    return describe(ax, alt, grid.text(), [grid])


def feature_tables(
    tables: Sequence[tuple[str, ArrayLike, Sequence[str]]],
    rows: Sequence[str],
    *,
    decimals: int = 0,
    row_label: str = "token",
) -> Axes:
    """Draw several tables with the same rows side by side.

    Parameters: tables, each a title, values (R, C) and names of the C columns; the rest as `feature_table`.
    Returns: the first Axes.

    >>> feature_tables([("Q", [[4]], ["thing"]), ("K", [[1]], ["thing"])], ["cat"]).get_title()
    'Q'
    """
    if not tables:
        raise ValueError("tables: expected at least one table, got none")
    widths = [1 + len(columns) for _, _, columns in tables]
    axes = new_axes(0.9 * len(tables) + 0.5 * sum(widths), 1.3 + 0.3 * len(rows), columns=len(tables))
    axes[0].get_gridspec().set_width_ratios(widths)
    for ax, (title, values, columns) in zip(axes, tables, strict=True):
        feature_table(values, rows, columns, title=title, decimals=decimals, row_label=row_label, ax=ax)
    return axes[0]


def temperature_curves(
    temperatures: ArrayLike,
    weights: ArrayLike,
    keys: Sequence[str],
    *,
    uniform: float,
    title: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw how one query's weights change with the temperature.

    Parameters: temperatures (T,), above 0 and rising; weights (T, M); names of the M keys shown; the uniform
    weight, drawn as a dashed line. Returns: the Axes. The text twin lists at most nine temperatures.

    >>> temperature_curves([0.1, 1.0], [[0.9], [0.6]], ["cat"], uniform=0.5, title="it").get_ylabel()
    'weight'
    """
    temperatures_T, weights_TM = np.asarray(temperatures, dtype=float), np.asarray(weights, dtype=float)
    if weights_TM.shape != (temperatures_T.size, len(keys)):
        raise ValueError(
            f"weights: expected shape {(temperatures_T.size, len(keys))}, got {weights_TM.shape}"
        )
    if ax is None:
        (ax,) = new_axes(6.4, 3.2)
    for key, curve, dashes in zip(keys, weights_TM.T, cycle(("-", "--", "-.", ":")), strict=False):
        ax.plot(temperatures_T, curve, dashes, label=key)
    ax.axhline(uniform, color="grey", linewidth=0.8, label=f"uniform {uniform:.3f}")
    ax.set(xscale="log", xlabel="temperature τ", ylabel="weight", ylim=(-0.03, 1.03), title=title)
    ax.legend(title="key")
    shown = np.unique(np.linspace(0, temperatures_T.size - 1, TWIN_ROWS).round().astype(int))
    lines = [
        [f"{temperatures_T[row]:.3g}", *(f"{weight:.3f}" for weight in weights_TM[row])] for row in shown
    ]
    ends = [
        ", ".join(f"{key} {weight:.3f}" for key, weight in zip(keys, row, strict=True)) for row in weights_TM
    ]
    alt = f"Curves, {title}. Coldest: {ends[0]}. Hottest: {ends[-1]}. Uniform would be {uniform:.3f}."
    return describe(ax, alt, f"{title}\n{table(lines, ['τ', *keys])}")


def moved_points(
    points: ArrayLike, outputs: ArrayLike, groups: Sequence[str], *, title: str, ax: Axes | None = None
) -> Axes:
    """Draw points of the plane, coloured by group, and an arrow from each to its output.

    Parameters: points (L, 2), outputs (L, 2), the group of each point. Returns: the Axes. The text twin says
    how far points and outputs are from the mean of their group's points.

    >>> moved_points([[0, 0], [2, 0]], [[1, 0], [1, 0]], ["left", "left"], title="mean").get_title()
    'mean'
    """
    points_L2, outputs_L2 = np.asarray(points, dtype=float), np.asarray(outputs, dtype=float)
    if points_L2.shape != (len(groups), 2):
        raise ValueError(f"points: expected shape {(len(groups), 2)}, got {points_L2.shape}")
    if outputs_L2.shape != points_L2.shape:
        raise ValueError(f"outputs: expected shape {points_L2.shape}, got {outputs_L2.shape}")
    if ax is None:
        (ax,) = new_axes(6.0, 3.8)
    lines = []
    for name, marker in zip(dict.fromkeys(groups), cycle("osD^v"), strict=False):
        inside = np.array([group == name for group in groups])
        start, end = points_L2[inside], outputs_L2[inside]
        colour = ax.scatter(*start.T, marker=marker, label=name).get_facecolor()
        ax.scatter(*end.T, marker=marker, s=70, facecolors="none", edgecolors=colour, label=f"{name}, output")
        ax.quiver(
            *start.T, *(end - start).T, angles="xy", scale_units="xy", scale=1, color=colour, width=0.003
        )
        before, after = (np.linalg.norm(each - start.mean(axis=0), axis=1).mean() for each in (start, end))
        lines.append([name, str(inside.sum()), f"{before:.2f}", f"{after:.2f}"])
    ax.set(xlabel="first coordinate", ylabel="second coordinate", title=title)
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend()
    said = "; ".join(
        f"{name}, {count} points: {before} before, {after} after" for name, count, before, after in lines
    )
    alt = f"Points with arrows to their outputs, {title}. Mean distance to the middle of the group: {said}."
    header = ["group", "points", "distance before", "distance after"]
    return describe(ax, alt, f"{title}: mean distance to the middle of the group\n{table(lines, header)}")
