"""Assignment 04: masks, scores, and tables of queries, keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.later import torch
from course_lib.checks.spec import Arguments
from course_lib.checks.values import Same

from .masking_layers import float32, normal

if TYPE_CHECKING:
    from torch import Tensor

MILLION = 1e6


def random_mask(draw: Draw, axes: str) -> Tensor:
    """A mask in which every row, of two keys or more, allows a key and hides one; no symmetry, no order."""
    shape = draw.shape(axes)
    places = draw.rng.random(shape).argsort(axis=-1).argsort(axis=-1)
    allowed = draw.rng.integers(1, shape[-1], (*shape[:-1], 1))
    return torch.from_numpy(places < allowed)


def padding(draw: Draw, axes: str) -> Tensor:
    """A mask that hides keys from some place on, as behind a short text; the last row hides one or more."""
    *before, M = draw.shape(axes)
    lengths = draw.rng.integers(1, M + 1, before)
    lengths.reshape(-1)[-1] = draw.rng.integers(1, M)
    return torch.from_numpy(np.arange(M) < lengths[..., None])


def one_empty(draw: Draw, axes: str) -> Tensor:
    """A mask with one row, not the last, that allows nothing."""
    mask = random_mask(draw, axes)
    mask[..., int(draw.rng.integers(mask.shape[-2] - 1)), :] = False
    return mask


def some_empty(draw: Draw, axes: str) -> Tensor:
    """A mask with several rows that allow nothing, and others that allow everything."""
    queries = draw.shape(axes)[0]
    allowed = draw.rng.permutation(queries) % 2 == 0
    return torch.from_numpy(np.repeat(allowed[:, None], draw.shape(axes)[1], axis=1))


def nothing(draw: Draw, axes: str) -> Tensor:
    """A mask that allows nothing in any row."""
    return torch.zeros(draw.shape(axes), dtype=torch.bool)


def behind(scores: Tensor, mask: Tensor, added: float) -> Arguments:
    """Scores with something added behind the mask."""
    return {"scores": torch.where(mask, scores, scores + added), "mask": mask}


def masked_scores(draw: Draw, axes: str = "L M", mask: Tensor | None = None, added: float = 5.0) -> Arguments:
    """Scores of which the hidden ones would win."""
    return behind(normal(draw, axes, 1.5), random_mask(draw, axes) if mask is None else mask, added)


def million_in_an_empty_row(draw: Draw) -> Arguments:
    mask = one_empty(draw, "L M")
    scores = normal(draw, "L M", 1.5)
    scores[~mask.any(dim=-1)] = MILLION
    return {"scores": scores, "mask": mask}


def extreme(draw: Draw, around: float, added: float) -> Arguments:
    """Scores from a number downwards in steps of 64. One key wins each row, so that no rounding shows: next
    to 10,000 float32 has steps of 0.001."""
    steps = draw.rng.random(draw.shape("L M")).argsort(axis=-1)
    return behind(float32(around - 64.0 * steps), random_mask(draw, "L M"), added)


def square_batch(draw: Draw) -> list[Arguments]:
    """One mask for all tables, or one row of keys for all queries, where every axis has the same length."""
    return [masked_scores(draw, "B L M", mask) for mask in (random_mask(draw, "L M"), padding(draw, "M"))]


def other_hidden_scores(draw: Draw) -> list[Arguments]:
    drawn = masked_scores(draw)
    return [drawn, behind(drawn["scores"], drawn["mask"], -8.0)]


def tables(draw: Draw, before: str = "", queries: str = "L", keys: str = "M") -> Arguments:
    return {
        "Q": normal(draw, f"{before} {queries} K", 1.5),
        "K": normal(draw, f"{before} {keys} K"),
        "V": normal(draw, f"{before} {keys} V"),
    }


def value_of_a_million(draw: Draw) -> Arguments:
    """Padding that queries would like best, with values that drown all others."""
    drawn, mask = tables(draw), padding(draw, "M")
    drawn["K"][~mask] *= 10.0
    drawn["V"][~mask] = MILLION
    return drawn | {"mask": mask}


def key_of_a_million(draw: Draw) -> Arguments:
    """Hidden keys so far from the others that a mean over all keys would drown these."""
    drawn, mask = tables(draw), padding(draw, "M")
    drawn["K"][~mask] *= MILLION
    return drawn | {"mask": mask}


def long_queries(draw: Draw, *, masked: bool = True) -> Arguments:
    """Scores far beyond what `exp` can take; drawn again until float32 has no doubt which key wins."""
    while True:
        drawn = tables(draw) | {"Q": normal(draw, "L K", 2000.0), "mask": None}
        allowed = random_mask(draw, "L M") if masked else torch.ones(draw.shape("L M"), dtype=torch.bool)
        scores = (drawn["Q"].double() @ drawn["K"].double().mT / draw.sizes["K"] ** 0.5).numpy()
        best = np.sort(np.where(allowed.numpy(), scores, -1e9))
        if (best[:, -1] - best[:, -2]).min() > 60 and 1000 < np.abs(scores).max() < 1e4:
            return drawn | {"mask": allowed if masked else None}


def self_attention(draw: Draw) -> Arguments:
    """Queries and keys are the very same tensor, and no mask is given."""
    return {"Q": normal(draw, "M K"), "K": Same("Q"), "V": normal(draw, "M V")}


def nearly_10_000(draw: Draw) -> Arguments:
    """Scores from 9,500 and -9,500 on, 95 apart; before the division products are three times that."""
    L, M, width = draw.sizes["L"], draw.sizes["M"], 11
    signs = np.where(np.arange(L) % 2 == 0, 1.0, -1.0)
    steps = draw.rng.permutation(M)
    Q = 9500.0 / width**0.5 * signs[:, None] * np.ones(width)
    return {"Q": float32(Q), "K": float32((1 - 0.01 * steps)[:, None] * np.ones(width))} | {
        "V": normal(draw, "M V")
    }


def nearly_all_on_one(draw: Draw) -> Arguments:
    """Of six keys one is hidden, and one leads so far that it has a weight of about 0.9995."""
    places = draw.rng.random((draw.sizes["L"], 6)).argsort(axis=-1)
    scores = np.where(places == 1, 9.0, draw.normal("L 6", 0.2))
    return behind(float32(scores), torch.from_numpy(places > 0), 15.0)


def many_long_texts(draw: Draw) -> Arguments:
    others = draw.integers("16", 0, 301).tolist()
    return {"lengths": [300, 130, 1, 257, *others], "max_length": 300}
