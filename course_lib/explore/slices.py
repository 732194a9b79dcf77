"""Chapter 5: the same columns cut into 1, 2, 4 or 8 heads, beside one head of full width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention
from course_lib.figures import Grid, describe, new_axes, table

from .base import Explorable, explorable, numbers
from .rows import distinct

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
COUNTS = (1, 2, 4, 8)


def heads(
    tokens: Sequence[str],
    queries: ArrayLike,
    keys: ArrayLike,
    row: int,
    *,
    num_heads: int = 4,
    reasons: Sequence[str] = (),
) -> Explorable:
    """Weights of each slice, softmax(Q_h K_hᵀ / √W), beside those of the full width, softmax(Q Kᵀ / √D).

    The reader chooses the number of heads H = 1, 2, 4 or 8, so slices of W = D/H columns, and a query row.
    For that row the dot products of the slices are listed with their sum, which is the full width's dot
    product. If the columns hold reasons in equal parts, a slider for each makes its queries louder.

    Parameters: tokens, L of them (2 to 12); queries and keys (L, D), D a multiple of 8; row, the index of the
    query shown first; num_heads at the start; reasons, names of equal parts of the D columns, or none.
    Returns: the display object. Raises: ValueError.

    >>> queries, keys = np.eye(8)[:2] * 8**0.5, np.eye(8)[:2]
    >>> print(heads(["it", "cat"], queries, keys, row=0, num_heads=2).text)
    2 heads of width 4, row of it: dot products
    slice  it    cat
    0      2.83  0.00
    1      0.00  0.00
    sum    2.83  0.00
    full   2.83  0.00
    weights
    slice  it    cat
    0      0.80  0.20
    1      0.50  0.50
    full   0.73  0.27
    """
    names = distinct(tokens)
    if not 2 <= len(names) <= 12:
        raise ValueError(f"tokens: expected 2 to 12, got {len(names)}")
    queries = numbers("queries", queries, (len(names), None))
    keys = numbers("keys", keys, queries.shape)
    if queries.shape[1] % COUNTS[-1]:
        raise ValueError(f"queries: expected a multiple of 8 columns, got {queries.shape[1]}")
    if not 0 <= row < len(names):
        raise ValueError(f"row: expected an index from 0 to {len(names) - 1}, got {row}")
    if num_heads not in COUNTS:
        raise ValueError(f"num_heads: expected one of {COUNTS}, got {num_heads}")
    if len(reasons) > 4 or (reasons and queries.shape[1] % len(reasons)):
        raise ValueError(
            f"reasons: expected at most 4, for equal parts of {queries.shape[1]} columns, got {len(reasons)}"
        )
    products = {count: slice_products(queries, keys, count) for count in (num_heads, 1)}
    ax = _draw(products[num_heads], names, row, queries.shape[1], reasons)
    describe(ax, *_words(products[num_heads], products[1][0], names, row, queries.shape[1]))
    data = {
        "tokens": names,
        "queries": queries,
        "keys": keys,
        "row": row,
        "counts": COUNTS,
        "heads": num_heads,
        "reasons": list(reasons),
    }
    caption = "Choose the number of heads and a query, by the list or by a click on a row of any map"
    return explorable(ax, "heads", data, caption + ("; make a reason louder." if reasons else "."))


def slice_products(queries: Array, keys: Array, num_heads: int) -> Array:
    """Q_h K_hᵀ of each slice of D/H neighbouring columns: (H, L, L). Their sum over the heads is Q Kᵀ.

    >>> slice_products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), num_heads=2).tolist()
    [[[3.0]], [[8.0]]]
    """
    pairs = zip(np.split(queries, num_heads, axis=1), np.split(keys, num_heads, axis=1), strict=True)
    return np.stack([Q @ K.T for Q, K in pairs])


def slice_weights(products: Array, width: int) -> Array:
    """Weights of each slice from its dot products (H, L, L), divided by the root of D/H; width is D."""
    return attention.softmax(products / np.sqrt(width / len(products)))


def _words(
    products: Array, full: Array, names: list[str], row: int, width: int
) -> tuple[str, str, list[Grid]]:
    """What is seen, in sentences, the chosen row of each slice as two tables, and each map as a grid."""
    count = len(products)
    weights, wide = slice_weights(products, width), slice_weights(full[None], width)[0]
    two = lambda label, values: [label, *(f"{value + 0.0:.2f}" for value in values)]  # noqa: E731
    dots = [two(str(h), products[h, row]) for h in range(count)]
    dots += [two("sum", products[:, row].sum(axis=0)), two("full", full[row])]
    shares = [two(str(h), weights[h, row]) for h in range(count)] + [two("full", wide[row])]
    header = ["slice", *names]
    told = [h for h in range(count) if np.ptp(weights[h, row]) > 1e-9]
    best = "".join(f", slice {h} {names[int(weights[h, row].argmax())]}" for h in told)
    rest = "" if len(told) == count else " In the other slices the weights of this row are equal."
    alt = (
        f"Heat maps of weights: one of full width, {count} of slices of {width // count} columns. Largest "
        f"weight in the row of {names[row]}: full width {names[int(wide[row].argmax())]}{best}.{rest}"
    )
    text = (
        f"{count} heads of width {width // count}, row of {names[row]}: dot products\n{table(dots, header)}\n"
        f"weights\n{table(shares, header)}"
    )
    maps = {"full width": wide} | {f"slice {h}": weights[h] for h in range(count)}
    lines = {title: [two(*pair) for pair in zip(names, each, strict=True)] for title, each in maps.items()}
    return alt, text, [Grid(f"weights, {each}", ["query", *names], lines[each]) for each in maps]


def _draw(products: Array, names: list[str], row: int, width: int, reasons: Sequence[str]) -> Axes:
    count = len(products)
    columns = min(count + 1, 3)  # more in a row are too small to read
    rows = -(-(count + 1) // columns)
    axes = new_axes(2.2 * columns, 2.4 * rows, columns=columns, rows=rows)
    maps = [slice_weights(products.sum(axis=0)[None], width)[0], *slice_weights(products, width)]
    titles = ["full width", *(f"slice {h}" for h in range(count))]
    if count == len(reasons):
        titles = ["full width", *(f"{h}: {reason}" for h, reason in enumerate(reasons))]
    for at, (ax, title, weights) in enumerate(zip(axes, titles, maps, strict=False)):
        ax.imshow(weights, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        ax.axhspan(row - 0.5, row + 0.5, fill=False, edgecolor="#d55e00", lw=2)
        ax.set_title(title, fontsize=9)
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
        ax.set_yticks(range(len(names)), names if at % columns == 0 else [""] * len(names), fontsize=7)
    for ax in axes[count + 1 :]:
        ax.set_axis_off()
    axes[0].set_xlabel("key")
    for ax in axes[::columns]:
        ax.set_ylabel("query")
    return axes[0]
