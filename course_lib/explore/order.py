"""Chapter 7: two colours change places before a layer whose positions can be turned up and down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention
from course_lib.figures import describe, new_axes, table

from .base import Explorable, explorable, numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
SHARES = [round(0.05 * step, 2) for step in range(21)]


def recent_colour(
    tokens: Sequence[str],
    token_rows: ArrayLike,
    position_rows: ArrayLike,
    W_q: ArrayLike,
    W_k: ArrayLike,
    value_logits: ArrayLike,
    answers: Sequence[str],
    places: tuple[int, int],
    *,
    share: float = 0.0,
) -> Explorable:
    """A layer that reads a text with two colours: its weights, its probabilities, and the loss of the pair.

    The row of each token is token_rows + share · position_rows; the last row asks. The reader exchanges the
    tokens at the two places and moves the share from 0 (no positions) to 1. The later colour is the answer.

    Parameters: tokens, M of them; token_rows and position_rows (M, D); W_q and W_k (D, K); value_logits
    (M, C), what each token adds to the C logits at weight 1; answers, the C names, among them the tokens at
    both places; places, two indices, the earlier first; share, a multiple of 0.05.
    Returns: the display object. Raises: ValueError.

    >>> rows = [[1.0, 0], [0, 0], [1, 0], [0, 0]]
    >>> logits = [[9.0, 0], [0, 0], [0, 9], [0, 0]]
    >>> eye = [[1.0, 0], [0, 1]]
    >>> text = ["red", ".", "blue", "wear"]
    >>> figure = recent_colour(text, rows, rows, eye, eye, logits, ["red", "blue"], (0, 2))
    >>> print(figure.text.splitlines()[-1])
    mean loss of the two orders 0.693
    """
    names, count = list(tokens), len(tokens)
    first = numbers("token_rows", token_rows, (count, None))
    second = numbers("position_rows", position_rows, first.shape)
    queries = numbers("W_q", W_q, (first.shape[1], None))
    keys = numbers("W_k", W_k, queries.shape)
    logits = numbers("value_logits", value_logits, (count, len(answers)))
    earlier, later = places
    if not 0 <= earlier < later < count:
        raise ValueError(f"places: expected two indices of tokens, the earlier first, got {places}")
    if not {names[earlier], names[later]} <= set(answers):
        raise ValueError(f"answers: expected them to hold the tokens at {places}, got {list(answers)}")
    if share not in SHARES:
        raise ValueError(f"share: expected a multiple of 0.05 from 0 to 1, got {share}")
    layer = {"tokenRows": first, "positionRows": second, "W_q": queries, "W_k": keys, "valueLogits": logits}
    weights, probabilities, loss = read(layer, names, list(answers), places, share)
    ax = _draw(names, weights, list(answers), probabilities)
    describe(ax, *_words(names, weights, list(answers), probabilities, places, share, loss))
    data = layer | {
        "tokens": names,
        "answers": list(answers),
        "places": [earlier, later],
        "share": float(share),
        "shares": SHARES,
    }
    caption = (
        "Exchange the two colours, and turn the positions up: watch the weights and the loss of the pair."
    )
    return explorable(ax, "recent_colour", data, caption, needs=("bars",))


def read(
    layer: dict[str, Array],
    names: list[str],
    answers: list[str],
    places: tuple[int, int],
    share: float,
    *,
    swapped: bool = False,
) -> tuple[Array, Array, float]:
    """Weights (M,) and probabilities (C,) for one order of the colours, and the mean loss of both orders."""
    read_orders = []
    for order in (swapped, not swapped):
        rows = list(range(len(names)))
        if order:
            rows[places[0]], rows[places[1]] = rows[places[1]], rows[places[0]]
        X = layer["tokenRows"][rows] + share * layer["positionRows"]
        weights = attention.attention_weights(X[-1:] @ layer["W_q"], X @ layer["W_k"])[0]
        probabilities = attention.softmax(weights @ layer["valueLogits"][rows])
        target = answers.index(names[rows[places[1]]])
        read_orders.append((weights, probabilities, -np.log(probabilities[target])))
    (weights, probabilities, loss), (_, _, other) = read_orders
    return weights, probabilities, float(loss + other) / 2


def _words(
    names: list[str],
    weights: Array,
    answers: list[str],
    probabilities: Array,
    places: tuple[int, int],
    share: float,
    loss: float,
) -> tuple[str, str]:
    """What is seen, in a sentence, and the numbers."""
    colours = " and ".join(f"{names[at]} {weights[at]:.2f}" for at in places)
    says = ", ".join(f"{a} {p:.2f}" for a, p in zip(answers, probabilities, strict=True))
    alt = (
        f"Bars of the weights of the last token on {len(names)} tokens, {colours}, and bars of the "
        f"probabilities of the next token: {says}."
    )
    rows = [[f"{at} {name}", f"{w:.3f}"] for at, (name, w) in enumerate(zip(names, weights, strict=True), 1)]
    text = (
        f"share of the positions {share:.2f}\n{table(rows, ['token', 'weight'])}\n"
        f"probabilities: {says}\nmean loss of the two orders {loss:.3f}"
    )
    return alt, text


def _draw(names: list[str], weights: Array, answers: list[str], probabilities: Array) -> Axes:
    left, right = new_axes(8.6, 3.2, columns=2)
    grid = left.get_subplotspec().get_gridspec()
    grid.set_width_ratios([3, 1])
    left.bar(range(len(names)), weights, color="#d55e00")
    left.set_xticks(range(len(names)), names, rotation=60)
    left.set(xlabel="key", ylabel="weight", ylim=(0, 1.05), title="weights of the last token")
    right.bar(range(len(answers)), probabilities)
    right.set_xticks(range(len(answers)), answers, rotation=60)
    right.set(ylabel="probability", ylim=(0, 1.05), title="next token")
    return left
