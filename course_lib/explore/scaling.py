"""Chapter 3: what the width of queries and keys does to softmax, with and without dividing by its root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention
from course_lib.figures import describe, new_axes, table

from .base import Explorable, explorable, steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
WIDTHS = [2**power for power in range(11)]
MOST_KEYS = 32


def width_sweep(
    rng: np.random.Generator,
    *,
    width: int = 64,
    keys: int = 10,
    temperature: float = 1.0,
    draws: int = 200,
) -> Explorable:
    """Weights of random scores at widths d_k = 1, 2, 4, ... 1024, with and without dividing by √d_k.

    The reader moves the number of keys (2 to 32), the marked width, the temperature τ (which divides all
    scores) and the draw. Left the weights of one draw at the marked width; right, against the width, the
    largest weight and the entropy, each the mean over all draws.

    Every entry of every query q and key k is an independent standard normal. Given q, its dot products with
    the keys are independent normals of standard deviation |q|: so q·k is drawn as |q| z, z standard normal,
    and only |q| and z are kept. For any one width the distribution is exactly the same.

    Parameters: rng; width, one of the eleven, keys and temperature > 0, where the reader starts; draws, from
    20 to 400.
    Returns: the display object. Raises: ValueError.

    >>> print(width_sweep(np.random.default_rng(0), draws=100).text.splitlines()[0])
    10 keys, temperature 1, means of 100 draws
    """
    for name, value, least, most in (("keys", keys, 2, MOST_KEYS), ("draws", draws, 20, 400)):
        if not least <= value <= most:
            raise ValueError(f"{name}: expected {least} to {most}, got {value}")
    if width not in WIDTHS:
        raise ValueError(f"width: expected a power of two from 1 to {WIDTHS[-1]}, got {width}")
    if not temperature > 0:
        raise ValueError(f"temperature: expected a number above 0, got {temperature}")
    squares = rng.standard_normal((draws, WIDTHS[-1])) ** 2
    lengths = np.sqrt(squares.cumsum(axis=1)[:, np.array(WIDTHS) - 1]).round(4)
    normals = rng.standard_normal((draws, MOST_KEYS)).round(4)
    shown = normals[:, :keys]
    means = {scaled: sweep(lengths, shown, temperature, scaled=scaled) for scaled in (False, True)}
    ax = _draw(means, width)
    heading = f"{keys} keys, temperature {temperature:.3g}, means of {draws} draws"
    describe(ax, *_words(means, width, heading))
    data = {
        "widths": WIDTHS,
        "lengths": lengths,
        "normals": normals,
        "width": width,
        "keys": keys,
        "temperature": float(temperature),
        "temperatures": steps(0.1, 100.0, temperature, count=61),
    }
    caption = "Move the number of keys, the marked width (the dashed line) and the temperature."
    return explorable(ax, "width_sweep", data, caption)


def _words(means: dict[bool, Array], width: int, heading: str) -> tuple[str, str]:
    """What is seen, in sentences, and the means at each width as a table."""
    unscaled, scaled = means[False], means[True]
    columns = np.stack([unscaled[:, 0], scaled[:, 0], unscaled[:, 1], scaled[:, 1]], axis=1)
    rows = [[str(d_k), *(f"{mean:.2f}" for mean in row)] for d_k, row in zip(WIDTHS, columns, strict=True)]
    at = WIDTHS.index(width)
    alt = (
        f"Two curves in each of two panels against the width from 1 to {WIDTHS[-1]}. Unscaled, the mean "
        f"largest weight climbs to {unscaled[-1, 0]:.2f} and the mean entropy falls to {unscaled[-1, 1]:.2f} "
        f"nats; scaled, both stay nearly flat. Marked: width {width}, with largest weight "
        f"{unscaled[at, 0]:.2f} unscaled, {scaled[at, 0]:.2f} scaled."
    )
    header = ["d_k", "largest weight", "scaled", "entropy (nats)", "scaled"]
    return alt, f"{heading}\n{table(rows, header)}"


def sweep(lengths: ArrayLike, normals: ArrayLike, temperature: float, *, scaled: bool) -> Array:
    """Mean largest weight and mean entropy of softmax(|q| z / (τ √d_k)) (or without √d_k) at each width.

    Parameters: lengths (draws, widths), the |q|; normals (draws, M), the z; temperature τ > 0.
    Returns: (widths, 2). Draws and widths as in `width_sweep`.

    >>> sweep(np.zeros((2, 11)), np.zeros((2, 4)), 1.0, scaled=True).round(3)[0].tolist()
    [0.25, 1.386]
    """
    scores = np.asarray(lengths)[:, :, None] * np.asarray(normals)[:, None, :]
    if scaled:
        scores = scores / np.sqrt(WIDTHS)[:, None]
    weights = attention.softmax(scores / temperature)
    return np.stack([weights.max(axis=-1).mean(axis=0), attention.entropy(weights).mean(axis=0)], axis=1)


def _draw(means: dict[bool, Array], width: int) -> Axes:
    axes = new_axes(7.4, 3.2, columns=2)
    for column, (ax, name) in enumerate(zip(axes, ("largest weight", "entropy (nats)"), strict=True)):
        ax.plot(WIDTHS, means[False][:, column], "o-", color="#d55e00", label="unscaled")
        ax.plot(WIDTHS, means[True][:, column], "s-", color="#0072b2", label="divided by √d_k")
        ax.axvline(width, color="0.4", lw=1, ls="--")
        ax.set_xscale("log", base=2)
        ax.set(xlabel="width d_k", ylabel=f"mean {name}", ylim=(0, None))
    axes[0].legend()
    return axes[0]
