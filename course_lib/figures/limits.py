"""Pictures of what one layer cannot do: the floor of a pair, scores by distance, and the parts of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import describe, new_axes, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("-", "--", ":", "-.")


def pair_floor(probabilities: ArrayLike, losses: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the mean loss of two texts that get one answer, against the probability of the first colour.

    Parameters: probabilities (P,) increasing, in (0, 1); losses (P,), the mean over the two texts. The lowest
    point is marked. Returns: the Axes.

    >>> pair_floor([0.25, 0.5, 0.75], [0.837, 0.693, 0.837]).get_ylabel()
    'mean loss of the two texts'
    """
    p, loss = (np.asarray(values, dtype=float) for values in (probabilities, losses))
    if p.ndim != 1 or p.shape != loss.shape or not len(p):
        raise ValueError(f"losses: expected one per probability, got shapes {p.shape} and {loss.shape}")
    if ax is None:
        (ax,) = new_axes(5.6, 3.2)
    best = int(loss.argmin())
    ax.plot(p, loss)
    ax.plot(p[best], loss[best], "o")
    ax.annotate(f"lowest: {loss[best]:.3f}", (p[best], loss[best]), (0, -14), textcoords="offset points")
    ax.set(xlabel="probability of the first colour", ylabel="mean loss of the two texts", xlim=(0, 1))
    ax.set_ylim(bottom=min(0.0, float(loss.min())))
    ax.set_title("One answer for two opposite texts")
    shown = np.unique(np.linspace(0, len(p) - 1, 9).round().astype(int))
    rows = [[f"{p[at]:.2f}", f"{loss[at]:.3f}"] for at in shown]
    alt = (
        f"A curve like a bowl of the mean loss against the probability, lowest at {p[best]:.2f}, "
        f"where it is {loss[best]:.3f}."
    )
    return describe(ax, alt, table(rows, ["probability of the first colour", "mean loss"]))


def distance_curves(
    curves: Mapping[str, ArrayLike],
    *,
    longest_trained: int | None = None,
    title: str = "What is added to a score?",
    ax: Axes | None = None,
) -> Axes:
    """Draw what a key's distance adds to its score, one curve per name, distances 0, 1, 2, ... across.

    Parameters: curves maps a name to (P,); longest_trained, the largest distance in training, drawn as a
    thin line. Returns: the Axes.

    >>> distance_curves({"slope": [0.0, -0.2, -0.4]}).get_xlabel()
    'distance from query to key, in tokens'
    """
    arrays = {name: np.asarray(values, dtype=float) for name, values in curves.items()}
    lengths = {values.shape for values in arrays.values()}
    if len(lengths) != 1 or len(next(iter(lengths))) != 1:
        raise ValueError(f"curves: expected curves of one length, got shapes {sorted(lengths)}")
    if ax is None:
        (ax,) = new_axes(6.4, 3.2)
    for at, (name, values) in enumerate(arrays.items()):
        ax.plot(values, _LINES[at % len(_LINES)], label=name)
    rounded = {name: values.round(1) for name, values in arrays.items()}
    places = next(iter(lengths))[0]
    if longest_trained is not None:
        ax.axvline(longest_trained, color="0.4", lw=0.9)
        corner = {"xycoords": ("data", "axes fraction"), "va": "bottom", "fontsize": 9}
        ax.annotate(" longest in training", (longest_trained, 0.02), **corner)
    ax.set(xlabel="distance from query to key, in tokens", ylabel="added to the score", title=title)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    shown = np.unique(np.linspace(0, places - 1, 9).round().astype(int))
    rows = [[str(at), *(f"{values[at] + 0.0:.1f}" for values in rounded.values())] for at in shown]
    ends = ", ".join(f"{name} from {v[0] + 0.0:.1f} to {v[-1] + 0.0:.1f}" for name, v in rounded.items())
    mark = "" if longest_trained is None else f" A line marks {longest_trained}, the longest in training."
    alt = f"Curves against the distance from 0 to {places - 1}: {ends}.{mark}"
    return describe(ax, alt, f"{title}\n{table(rows, ['distance', *arrays])}")


def block_parts(
    parts: Sequence[tuple[str, str]], *, title: str = "A transformer block", ax: Axes | None = None
) -> Axes:
    """Draw a stack of boxes from bottom to top; an arrow beside some says what goes around them.

    Parameters: parts from first to last, each a name and what it does; a name that begins with "+" closes a
    residual path, which began at the last one before it, or at the input. Returns: the Axes.

    >>> block_parts([("attention", "looks elsewhere"), ("+ X", "adds the row itself")]).get_title()
    'A transformer block'
    """
    if not parts:
        raise ValueError("parts: expected at least one, got none")
    if ax is None:
        (ax,) = new_axes(6.4, 0.9 + 0.5 * len(parts))
    began = -0.5
    for at, (name, words) in enumerate(parts):
        closes = name.startswith("+")
        box = {"boxstyle": "round", "facecolor": "#fff3d6" if closes else "#dceaf7", "edgecolor": "0.4"}
        ax.text(0, at, name, ha="center", va="center", bbox=box)
        ax.text(1.1, at, words, ha="left", va="center", fontsize=9)
        ax.annotate("", (0, at - 0.25), (0, at - 0.75), arrowprops={"arrowstyle": "->", "color": "0.4"})
        if closes:
            ax.plot([0, -1.1, -1.1], [began, began, at], color="0.4", lw=1.2)
            ax.annotate("", (-0.35, at), (-1.12, at), arrowprops={"arrowstyle": "->", "color": "0.4"})
            began = at + 0.5
    ax.annotate("", (0, len(parts) - 0.25), (0, len(parts) - 0.75), arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(-1.5, 5), ylim=(-0.9, len(parts) - 0.1), title=title)
    ax.axis("off")
    rows = [[str(at), name, words] for at, (name, words) in enumerate(parts, start=1)]
    listed = ", ".join(name for name, _ in parts)
    alt = f"Boxes from bottom to top: {listed}. A path leads around the boxes below each +."
    return describe(ax, alt, f"{title}\n{table(rows, ['step', 'part', 'what it does'])}")
