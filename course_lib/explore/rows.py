"""Chapter 2: one row of the table of weights, with a temperature, and tokens that change places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention
from course_lib.figures import Grid, describe, heat_map, new_axes

from .base import Explorable, explorable, numbers, steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.floating]


def query_row(
    tokens: Sequence[str],
    queries: ArrayLike,
    keys: ArrayLike,
    row: int,
    *,
    values: ArrayLike | None = None,
    contents: Sequence[str] | None = None,
    temperature: float = 1.0,
) -> Explorable:
    """The table softmax(Q Kᵀ / (τ √K)) of a sentence, one row of it as bars, and the sentence to rearrange.

    The reader picks the row, turns the temperature τ from 0.01 (each row almost one-hot) to 100 (almost equal
    weights), and moves tokens: rows and columns of the table follow, and so do the outputs, if any.

    Parameters: tokens, L of them (at most 12); queries (L, K), keys (L, K); row, the index of the query shown
    first; values (L, V) with V up to 4, or None; contents, names of their columns (number 1, number 2, ... if
    none); temperature > 0 at the start.
    Returns: the display object. Raises: ValueError.

    >>> queries, keys = [[0, 2, 0], [0, 0, 0]], [[0, 0, 0], [0, 2, 1]]
    >>> print(query_row(["it", "cat"], queries, keys, row=0).text)
    weights, temperature 1
    query  it    cat
    it     0.09  0.91
    cat    0.50  0.50
    row of it: it 0.090, cat 0.910
    """
    names = distinct(tokens)
    queries = numbers("queries", queries, (len(names), None))
    keys = numbers("keys", keys, queries.shape)
    if not 2 <= len(names) <= 12:
        raise ValueError(f"tokens: expected 2 to 12, got {len(names)}")
    if not 0 <= row < len(names):
        raise ValueError(f"row: expected an index from 0 to {len(names) - 1}, got {row}")
    if not temperature > 0:
        raise ValueError(f"temperature: expected a number above 0, got {temperature}")
    values = None if values is None else numbers("values", values, (len(names), None))
    if values is not None and values.shape[1] > 4:
        raise ValueError(f"values: expected at most 4 columns, got {values.shape[1]}")
    columns = 0 if values is None else values.shape[1]
    named = [f"number {column}" for column in range(1, columns + 1)] if contents is None else list(contents)
    if len(named) != columns:
        raise ValueError(f"contents: expected a name for each of {columns} columns of values, got {named}")
    weights_LM = attention.attention_weights(queries, keys, temperature=temperature)
    ax = _draw(weights_LM, names, row, temperature)
    describe(ax, *_words(weights_LM, names, row, temperature))
    data = {
        "tokens": names,
        "queries": queries,
        "keys": keys,
        "values": values,
        "contents": named,
        "row": row,
        "temperature": float(temperature),
        "temperatures": steps(0.01, 100.0, temperature),
    }
    caption = "Pick a query, turn the temperature, move a token: its row and its column move with it."
    return explorable(ax, "query_row", data, caption)


def _words(weights_LM: Array, names: list[str], row: int, temperature: float) -> tuple[str, str, list[Grid]]:
    """What is seen, in a sentence, and the table with the chosen row, as text and as a grid."""
    best = names[int(weights_LM[row].argmax())]
    listed = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(names, weights_LM[row], strict=True))
    rows = [[name, *(f"{w:.2f}" for w in weights)] for name, weights in zip(names, weights_LM, strict=True)]
    alt = (
        f"Heat map of the weights of {len(names)} tokens, a row per query and a column per key, with the row "
        f"of {names[row]} framed and drawn below as bars; its largest weight is on {best}."
    )
    grid = Grid(f"weights, temperature {temperature:.3g}", ["query", *names], rows)
    return alt, f"{grid.text()}\nrow of {names[row]}: {listed}", [grid]


def distinct(tokens: Sequence[str]) -> list[str]:
    """Names that tell repeated words apart by their index in the original sentence.

    >>> distinct(["the", "cat", "the"])
    ['the 0', 'cat', 'the 2']
    """
    times = Counter(tokens)
    return [f"{token} {index}" if times[token] > 1 else token for index, token in enumerate(tokens)]


def _draw(weights_LM: Array, names: list[str], row: int, temperature: float) -> Axes:
    count = len(names)
    (ax,) = new_axes(1.9 + 0.55 * count, 2.6 + 0.42 * count)
    grid = ax.get_subplotspec().get_gridspec().figure.add_gridspec(2, 1, height_ratios=[0.42 * count, 1.2])
    ax.set_subplotspec(grid[0])
    heat_map(weights_LM, names, names, title=f"weights, temperature {temperature:.3g}", ax=ax)
    ax.add_patch(_frame(row, count))
    bars = ax.get_figure().add_subplot(grid[1], sharex=ax)
    bars.bar(range(count), weights_LM[row], color="#d55e00")
    bars.set(ylim=(0, 1), ylabel=f"row of {names[row]}")
    bars.spines[["top", "right"]].set_visible(False)
    bars.tick_params(labelbottom=False)
    return ax


def _frame(row: int, count: int) -> object:
    from matplotlib.patches import Rectangle

    return Rectangle((-0.5, row - 0.5), count, 1, fill=False, edgecolor="#d55e00", lw=3, clip_on=False)
