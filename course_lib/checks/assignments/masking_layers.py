"""Assignment 04: layers for `sees_future`, and inputs for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.entries import build
from course_lib.checks.later import torch
from course_lib.checks.spec import Arguments
from course_lib.checks.values import Entry

if TYPE_CHECKING:
    from torch import Tensor


def float32(array: Any) -> Tensor:
    """An array as a tensor of float32."""
    return torch.from_numpy(np.asarray(array, dtype=np.float32))


def normal(draw: Draw, axes: str, scale: float = 1.0) -> Tensor:
    """Independent normal numbers with mean 0."""
    return float32(draw.normal(axes, scale))


def causal(length: int, beyond: int = 0) -> Tensor:
    """The causal mask, with a few keys more or less in each row."""
    return torch.from_numpy(np.tri(length, k=beyond, dtype=bool))


def rows_of(draw: Draw) -> int:
    """Rows enough that a later one need be neither the next nor the last."""
    return draw.sizes["L"] + 3


def layer_and_rows(
    draw: Draw, name: str, *, rows: int | None = None, texts: str = "B", **given: Any
) -> Arguments:
    """A named layer, with matrices or tables of its own, and an input for it."""
    rows = rows_of(draw) if rows is None else rows
    if name in ("mixing", "row", "rounding"):
        given["W"] = normal(draw, "D V")
    elif name == "bump":
        given["W"] = normal(draw, "12 V")
    elif name == "trace":
        given["W"] = normal(draw, f"D {len(given['given'])}")
    elif "mask" in given:
        given |= {
            "W_q": normal(draw, "D K", 0.6),
            "W_k": normal(draw, "D K", 0.6),
            "W_v": normal(draw, "D V"),
        }
    return {"layer": Entry(f"torch_{name}_layer", given), "X": normal(draw, f"{texts} {rows} D")}


def leaking(draw: Draw, name: str, least: float = 0.3, **given: Any) -> Arguments:
    """The same, drawn again until other later rows move some earlier output by as much as that at least."""
    while True:
        drawn = layer_and_rows(draw, name, **given)
        X, layer = drawn["X"], build(drawn["layer"].name, drawn["layer"].arguments)
        other = normal(draw, " ".join(map(str, X.shape)))
        moved = []
        for row in range(1, X.shape[1]):
            later = torch.arange(X.shape[1])[:, None] >= row
            moved.append((layer(torch.where(later, other, X)) - layer(X))[:, :row].abs().max())
        if max(moved) > least:
            return drawn


def far(draw: Draw) -> Arguments:
    """Only the first row sees a later one, the last."""
    table = torch.eye(rows_of(draw))
    table[0, -1] = 1.0
    return leaking(draw, "mixing", table=table)


def _one_pair(draw: Draw) -> tuple[int, int]:
    """A row and a later one; not the first, and not the last."""
    row = int(draw.rng.integers(1, rows_of(draw) - 2))
    return row, int(draw.rng.integers(row + 1, rows_of(draw) - 1))


def one_wrong_place(draw: Draw) -> Arguments:
    """Causal attention but for one place in the mask."""
    mask = causal(rows_of(draw))
    mask[_one_pair(draw)] = True
    return leaking(draw, "masked", mask=mask)


def one_text(draw: Draw) -> Arguments:
    """The mask is missing for one text of the batch, which is not the first."""
    mask = causal(rows_of(draw)).repeat(draw.sizes["B"], 1, 1)
    mask[int(draw.rng.integers(1, draw.sizes["B"]))] = True
    return leaking(draw, "masked", mask=mask)


def later_mean(draw: Draw) -> Arguments:
    """Each row plus the mean of the rows behind it."""
    length = rows_of(draw)
    later = torch.ones(length, length).triu(1)
    return leaking(draw, "mixing", table=torch.eye(length) + later / later.sum(-1, keepdim=True).clamp(min=1))


def faint(draw: Draw) -> Arguments:
    """Only one row of many is seen, by the one before it, and only the last of its entries: a little of it
    is added to one column and taken from another, not the first, so that their sum does not move."""
    rows, taken = 20, torch.zeros(draw.sizes["D"])
    taken[-1] = 0.002
    given = torch.tensor([0.0, 0.0, 1.0, 0.0, -1.0])
    places = {"source": rows - 2, "target": rows - 3}
    return leaking(draw, "trace", 0.003, rows=rows, texts="9", taken=taken, power=1, given=given, **places)


def faint_bump(draw: Draw) -> Arguments:
    """One output of one text falls by about 0.003 when a short later row becomes a longer one; by less than
    0.001 for one in 1,000 million rows of normal numbers, as they have twelve."""
    rows = rows_of(draw)
    drawn = layer_and_rows(draw, "bump", rows=rows, texts="1", source=rows - 2, target=rows - 3)
    X = normal(draw, f"1 {rows} 12")
    X[:, rows - 2] *= 0.2 / X[:, rows - 2].norm()
    return drawn | {"X": X}


def squares(draw: Draw, *, later: bool) -> Arguments:
    """The sum of squares of a row is taken from the one before it, or from the one behind it. What is
    squared is short, so that other normal numbers have a larger sum: outputs can only become smaller."""
    rows, width = rows_of(draw), draw.sizes["D"]
    source, target = (rows - 2, rows - 3) if later else (rows - 3, rows - 2)
    given = {"taken": torch.ones(width), "power": 2, "given": torch.full((5,), -0.3)}
    drawn = layer_and_rows(draw, "trace", texts="1", source=source, target=target, **given)
    drawn["X"][:, source] *= 0.15 * width**0.5 / drawn["X"][:, source].norm()
    return drawn


def last_two(draw: Draw) -> Arguments:
    """The last row is seen by the one before it and by no other; there are more rows than columns."""
    length = draw.sizes["D"] + 2
    table = torch.eye(length)
    table[-2, -1] = 1.0
    return leaking(draw, "mixing", table=table, rows=length)


def first_two(draw: Draw) -> Arguments:
    """The first row sees the second one and no other."""
    table = torch.eye(rows_of(draw))
    table[0, 1] = 1.0
    return leaking(draw, "mixing", table=table)


def padded_texts(draw: Draw) -> Arguments:
    """Causal attention over texts of different lengths."""
    length = rows_of(draw)
    lengths = torch.from_numpy(draw.rng.integers(1, length + 1, draw.sizes["B"]))
    real = torch.arange(length) < lengths[:, None]
    return layer_and_rows(draw, "masked", mask=causal(length) & real[:, None, :])


def past(draw: Draw, kind: str) -> Arguments:
    """Rows mixed from the row before, or from all rows so far, or from three with different shares."""
    length = rows_of(draw)
    so_far = torch.ones(length, length).tril()
    tables = {
        "before": torch.ones(length, length).tril(-1).triu(-1),
        "mean": so_far / so_far.sum(dim=-1, keepdim=True),
        "filter": (normal(draw, f"{length} {length}") + 2.0).tril().triu(-2),
    }
    return layer_and_rows(draw, "mixing", table=tables[kind])
