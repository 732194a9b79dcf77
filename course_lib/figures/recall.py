"""Pictures of colour-recall layers: how they train, where they look, what they hold, where losses end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import Grid, describe, new_axes, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_STYLES = ("-", "--", ":")
_WEIGHT_COLOUR = "#D55E00"  # the style's second colour


def training_story(
    runs: Mapping[str, Mapping[str, Mapping[str, ArrayLike]]], *, axes: Sequence[Axes] | None = None
) -> Axes:
    """Draw what changes while models train: a column per run, a row per group of curves, updates across.

    Parameters: runs maps a run's name to its groups of curves, and a group's name to its curves, each (U,)
    with one number per update from 0 on. All runs have the same groups. Returns: the first Axes.

    >>> training_story({"seed 7": {"loss": {"training": [2.8, 1.1, 0.1]}}}).get_ylabel()
    'loss'
    """
    groups = list(next(iter(runs.values())))
    if any(list(run) != groups for run in runs.values()):
        raise ValueError(
            f"runs: expected the groups {groups} in every run, got {[list(r) for r in runs.values()]}"
        )
    if axes is None:
        axes = new_axes(4.6 * len(runs), 2.2 * len(groups), columns=len(runs), rows=len(groups))
    for row, group in enumerate(groups):
        for column, (name, run) in enumerate(runs.items()):
            ax = axes[row * len(runs) + column]
            _curves(ax, run[group], f"{name}: {group}")
            ax.set(
                xlabel="update" if group == groups[-1] else "", ylabel=group, title=name if row == 0 else ""
            )
    return axes[0]


def _curves(ax: Axes, curves: Mapping[str, ArrayLike], name: str) -> None:
    """One group of curves with its legend and words: the numbers at six updates."""
    arrays = {label: np.asarray(values, dtype=float) for label, values in curves.items()}
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) != 1:
        raise ValueError(f"runs: expected curves of one length in {name!r}, got lengths {sorted(lengths)}")
    for (label, values), style in zip(arrays.items(), _STYLES, strict=False):
        ax.plot(values, style, label=label)
    ax.set_ylim(bottom=-0.03 * max(float(values.max()) for values in arrays.values()))
    ax.legend(loc="center right")  # free: curves end high or low
    shown = np.linspace(0, lengths.pop() - 1, 6).astype(int)
    rows = [[str(at), *(f"{values[at]:.3f}" for values in arrays.values())] for at in shown]
    ends = ", ".join(f"{label} from {values[0]:.2f} to {values[-1]:.2f}" for label, values in arrays.items())
    describe(ax, f"Curves, {name}: {ends}.", f"{name}\n{table(rows, ['update', *arrays])}")


def prefix_rows(
    prefixes: Mapping[str, tuple[Sequence[str], ArrayLike, ArrayLike]], *, axes: Sequence[Axes] | None = None
) -> Axes:
    """Draw one query's scores and weights at each token, for several texts side by side.

    Parameters: prefixes maps a text's name to its M tokens, scores (M,) and weights (M,). Scores stand on the
    left of each text, weights on the right; tokens run from top to bottom. Returns: the first Axes.

    >>> prefix_rows({"red": (["is", "red"], [-8.0, 9.0], [0.0, 1.0])}).get_xlabel()
    'score'
    """
    if axes is None:
        longest = max(len(tokens) for tokens, *_ in prefixes.values())
        axes = new_axes(4.4 * len(prefixes), 1.1 + 0.24 * longest, columns=2 * len(prefixes))
    limits = _limits([scores for _, scores, _ in prefixes.values()])
    for at, (name, (tokens, scores, weights)) in enumerate(prefixes.items()):
        labels = [f"{position} {token}" for position, token in enumerate(tokens, start=1)]
        score_M, weight_M = (np.asarray(values, dtype=float) for values in (scores, weights))
        if not score_M.shape == weight_M.shape == (len(tokens),):
            raise ValueError(
                f"prefixes: expected {len(tokens)} scores and weights for {name!r}, got shapes "
                f"{score_M.shape} and {weight_M.shape}"
            )
        left, right = axes[2 * at], axes[2 * at + 1]
        left.barh(range(len(tokens)), score_M)
        left.axvline(0, color="0.5", lw=0.8)
        left.set_yticks(range(len(tokens)), labels)
        left.set(xlabel="score", ylabel="key", title=name, xlim=limits)
        right.barh(range(len(tokens)), weight_M, color=_WEIGHT_COLOUR)
        right.set_yticks(range(len(tokens)), [""] * len(tokens))
        right.set(xlabel="weight", xlim=(0, 1.05))
        for ax in (left, right):
            ax.invert_yaxis()
        best = int(weight_M.argmax())
        found = f"{weight_M[best]:.3f}, on {tokens[best]} at position {best + 1}"
        alt = f"Bars, {name}: the largest weight is {found}."
        rows = [
            [label, f"{s + 0.0:.1f}", f"{w:.3f}"]
            for label, s, w in zip(labels, score_M, weight_M, strict=True)
        ]
        describe(left, alt, f"{name}\n{table(rows, ['key', 'score', 'weight'])}")
    return axes[0]


def _limits(scores: Sequence[ArrayLike]) -> tuple[float, float]:
    """Ends of an axis that shows 0 and all these scores, with a little room."""
    low = min(0.0, *(float(np.min(each)) for each in scores))
    high = max(0.0, *(float(np.max(each)) for each in scores))
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def before_after(
    matrices: Mapping[str, tuple[ArrayLike, ArrayLike]], *, axes: Sequence[Axes] | None = None
) -> Axes:
    """Draw matrices before training (above) and after it (below), all in one scale of colours.

    Parameters: matrices maps a name to the matrix before and after, both of the same shape.
    Returns: the first Axes.

    >>> before_after({"W_V": ([[0.1, -0.2]], [[1.5, -0.5]])}).get_title()
    'W_V before'
    """
    pairs = {name: [np.asarray(each, dtype=float) for each in pair] for name, pair in matrices.items()}
    for name, (before, after) in pairs.items():
        if before.ndim != 2 or before.shape != after.shape:
            raise ValueError(
                f"matrices: expected two of one shape for {name!r}, got {before.shape}, {after.shape}"
            )
    limit = max(float(np.abs(each).max()) for pair in pairs.values() for each in pair) or 1.0
    if axes is None:
        axes = new_axes(2.1 * len(pairs), 5.2, columns=len(pairs), rows=2)
    rows, grids = [], []
    for column, (name, pair) in enumerate(pairs.items()):
        for row, (matrix, when) in enumerate(zip(pair, ("before", "after"), strict=True)):
            ax = axes[row * len(pairs) + column]
            image = ax.imshow(matrix, vmin=-limit, vmax=limit, cmap=_below_and_above_0(), aspect="auto")
            down, across = (range(0, size, 2 if size <= 8 else 4) for size in matrix.shape)
            ax.set(title=f"{name} {when}", xticks=across, yticks=down)
            lines = [[str(at), *(f"{x + 0.0:.1f}" for x in line)] for at, line in enumerate(matrix.round(1))]
            grids.append(Grid(f"{name} {when}", ["row", *map(str, range(matrix.shape[1]))], lines))
        sizes = [f"{np.abs(matrix).max():.1f}" for matrix in pair]
        rows.append([name, f"{pair[0].shape[0]} × {pair[0].shape[1]}", *sizes])
        axes[column + len(pairs)].set_xlabel("column")
    for ax in axes[:: len(pairs)]:
        ax.set_ylabel("row")
    axes[0].get_figure().colorbar(image, ax=list(axes), shrink=0.6, label="number in the matrix")
    listed = ", ".join(f"{name} from {before} to {after}" for name, _, before, after in rows)
    alt = f"Heat maps of matrices before and after training. Largest size: {listed}."
    text = table(rows, ["matrix", "shape", "largest size before", "after"])
    return describe(axes[0], alt, text, grids)


def _below_and_above_0() -> Colormap:
    """Blue below 0, white at 0, orange above, as in the movable figure of the same matrices."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("below and above 0", ["#0072B2", "white", _WEIGHT_COLOUR])


def final_losses(losses: ArrayLike, levels: Mapping[str, float], *, ax: Axes | None = None) -> Axes:
    """Draw the losses of many models in order of size, with levels as thin lines.

    Parameters: losses (S,); levels maps a name to a loss. The text twin counts the models within 0.05 of each
    level. Returns: the Axes.

    >>> final_losses([0.0, 0.01, 1.1], {"zero": 0.0, "ln 3": 1.099}).get_ylabel()
    'training loss at the end'
    """
    sizes = np.sort(np.asarray(losses, dtype=float))
    if sizes.ndim != 1 or not len(sizes):
        raise ValueError(f"losses: expected one per model, got shape {sizes.shape}")
    if ax is None:
        (ax,) = new_axes()
    ax.plot(range(1, len(sizes) + 1), sizes, ".", markersize=4)
    rows = []
    for name, level in levels.items():
        ax.axhline(level, color="0.5", lw=0.8)
        corner = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": "bottom"}
        ax.annotate(f"{name} = {level:.3f}", (0.01, level), **corner)
        rows.append([name, f"{level:.3f}", str(int((np.abs(sizes - level) < 0.05).sum()))])
    ax.set(xlabel="models, from the smallest loss to the largest", ylabel="training loss at the end")
    ax.set_title("Where do the losses end?")
    listed = ", ".join(f"{count} near {name}" for name, _, count in rows)
    alt = f"Losses of {len(sizes)} models in order of size, in steps: {listed}."
    return describe(ax, alt, table(rows, ["level", "loss", "models within 0.05"]))
