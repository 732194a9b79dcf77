"""Chapter 4: a mask to click together, the weights that are left, and who sees a later token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.figures import Grid, describe, new_axes

from .base import Explorable, explorable, numbers
from .rows import distinct

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_TOKENS = 12


def mask_editor(tokens: Sequence[str], scores: ArrayLike, mask: ArrayLike | None = None) -> Explorable:
    """A table of weights whose mask the reader edits, cell by cell: True means "may attend".

    Hidden cells are set to -∞ before softmax, or (if the reader chooses so) to 0 after it. Beside each row
    stand its sum and the later tokens that its output depends on. Four buttons set a whole mask: causal, all,
    no diagonal, one too far.

    Parameters: tokens, L of them (2 to 12); scores (L, L), already scaled, a row per query, kept to four
    decimals; mask (L, L) booleans, where the reader starts (the causal mask if none).
    Returns: the display object. Raises: ValueError.

    >>> print(mask_editor(["So", "wear"], [[0, 0], [0, 1]]).text)
    weights, hidden cells as a dot
    query  So    wear  sum   later tokens seen
    So     1.00  ·     1.00  none
    wear   0.27  0.73  1.00  none
    """
    names = distinct(tokens)
    if not 2 <= len(names) <= MOST_TOKENS:
        raise ValueError(f"tokens: expected 2 to {MOST_TOKENS}, got {len(names)}")
    # Four decimals, so that 32-bit scores whose last bit depends on the machine give the same figure.
    scores_LL = numbers("scores", scores, (len(names), len(names))).round(4) + 0.0
    allowed_LL = np.tri(len(names), dtype=bool) if mask is None else np.asarray(mask)
    if allowed_LL.dtype != bool or allowed_LL.shape != scores_LL.shape:
        raise ValueError(
            f"mask: expected booleans of shape {scores_LL.shape}, got {allowed_LL.dtype} of shape "
            f"{allowed_LL.shape}"
        )
    weights_LL = masked_weights(scores_LL, allowed_LL)
    ax = _draw(weights_LL, allowed_LL, names)
    describe(ax, *_words(weights_LL, allowed_LL, names))
    data = {"tokens": names, "scores": scores_LL, "mask": allowed_LL.astype(int)}
    caption = (
        "Click a cell to hide or to show a key; or reach the table with Tab, move with the arrow keys and "
        "press the space bar. A thick frame marks a later token that may be attended to."
    )
    return explorable(ax, "mask_editor", data, caption)


def masked_weights(scores: Array, allowed: Mask, *, late: bool = False) -> Array:
    """Weights of each row over the keys that it may attend to; a row without any has weights of zero.

    Parameters: scores (L, M), allowed (L, M); late: softmax over all keys, and zeros only afterwards, so that
    the rows no longer sum to 1. Returns: (L, M).

    >>> masked_weights(np.zeros((2, 2)), np.array([[True, False], [False, False]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    >>> masked_weights(np.zeros((1, 2)), np.array([[True, False]]), late=True).tolist()
    [[0.5, 0.0]]
    """
    counted = np.ones_like(allowed) if late else allowed
    largest = np.where(counted, scores, -np.inf).max(axis=1, keepdims=True)
    largest[~np.isfinite(largest)] = 0.0
    exponentials = np.exp(np.where(counted, scores - largest, -np.inf))
    totals = exponentials.sum(axis=1, keepdims=True)
    return np.where(allowed, exponentials, 0.0) / np.where(totals > 0, totals, 1.0)


def later_tokens(allowed: Mask, *, late: bool = False) -> list[list[int]]:
    """For each row the later tokens on which its output depends.

    With zeros written only after softmax, every key is in the sum that the row is divided by; so all later
    tokens count as soon as the row attends to anything.

    >>> later_tokens(np.array([[True, True], [True, True]]))
    [[1], []]
    >>> later_tokens(np.array([[True, False], [True, True]]), late=True)
    [[1], []]
    """
    felt = allowed.any(axis=1, keepdims=True) & np.ones_like(allowed) if late else allowed
    return [[int(key) for key in np.flatnonzero(row) if key > query] for query, row in enumerate(felt)]


def _words(weights: Array, allowed: Mask, names: list[str]) -> tuple[str, str, list[Grid]]:
    """What is seen, in sentences, and the weights with their sums as a table, as text and as a grid."""
    later = later_tokens(allowed)
    rows = [
        [
            name,
            *(f"{weight:.2f}" if may else "·" for weight, may in zip(row, may_row, strict=True)),
            f"{row.sum():.2f}",
            ", ".join(names[key] for key in seen) or "none",
        ]
        for name, row, may_row, seen in zip(names, weights, allowed, later, strict=True)
    ]
    leaks = [name for name, seen in zip(names, later, strict=True) if seen]
    empty = [name for name, row in zip(names, allowed, strict=True) if not row.any()]
    alt = (
        f"Table of weights, a row per query and a column per key, with {int(allowed.sum())} of "
        f"{allowed.size} cells allowed and the others hidden. Rows that see a later token: "
        f"{', '.join(leaks) or 'none'}. Rows that see nothing: {', '.join(empty) or 'none'}."
    )
    header = ["query", *names, "sum", "later tokens seen"]
    grid = Grid("weights, hidden cells as a dot", header, rows)
    return alt, grid.text(), [grid]


def _draw(weights: Array, allowed: Mask, names: list[str]) -> Axes:
    count = len(names)
    (ax,) = new_axes(2.2 + 0.5 * count, 1.6 + 0.36 * count)
    shown = np.where(allowed, weights, np.nan)
    ax.imshow(shown, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    for (query, key), weight in np.ndenumerate(weights):
        text, colour = (f"{weight:.2f}", "white" if weight < 0.45 else "black")
        if not allowed[query, key]:
            text, colour = "·", "black"
        ax.text(key, query, text, ha="center", va="center", color=colour, fontsize=8)
        if allowed[query, key] and key > query:
            ax.add_patch(_frame(query, key))
    for query, row in enumerate(weights):
        ax.text(count - 0.3, query, f"{row.sum():.2f}", va="center", fontsize=9)
    ax.text(count - 0.3, -0.8, "sum", va="center", fontsize=9)
    ax.set_xticks(range(count), names, rotation=45 if max(map(len, names)) > 4 else 0)
    ax.set_yticks(range(count), names)
    ax.set(xlabel="key", ylabel="query", title="weights under the mask")
    return ax


def _frame(query: int, key: int) -> object:
    from matplotlib.patches import Rectangle

    return Rectangle((key - 0.5, query - 0.5), 1, 1, fill=False, edgecolor="#d55e00", lw=3)
