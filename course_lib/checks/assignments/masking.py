"""Assignment 04: causal and padding masks, softmax and attention under a mask, and a test for leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.checks.assignments.masking_layers import (
    causal,
    faint,
    far,
    first_two,
    float32,
    last_two,
    later_mean,
    layer_and_rows,
    leaking,
    normal,
    one_text,
    one_wrong_place,
    padded_texts,
    past,
    rows_of,
    squares,
)
from course_lib.checks.draw import Draw
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned

# The point is to write these oneself. Plain softmax is allowed.
COURSE_MASKS = ("course_lib.torch_attention.causal_mask", "course_lib.torch_attention.padding_mask")
COURSE_ATTENTION = (
    "course_lib.torch_attention.masked_softmax",
    "course_lib.torch_attention.masked_attention",
    "course_lib.heads.multi_head_attention",
    "torch.masked.softmax",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention.forward",
)
MILLION = 1e6
OUTPUT_AND_WEIGHTS = (Returned("output", "... L V"), Returned("weights", "... L M", weights=True))
ANSWER = Returned("answer", "", holds="booleans")


def hidden_keys_weigh_nothing(arguments: Arguments, outputs: dict[str, Any]) -> str | None:
    """A weight behind the mask is 0, up to the smallest rounding."""
    mask, weights = arguments.get("mask"), outputs["weights"]
    if mask is None:
        return None
    behind = np.broadcast_to(~mask.numpy(), weights.shape)
    largest = np.abs(weights[behind]).max(initial=0.0)
    if largest <= 1e-7:
        return None
    return f"The weight of a hidden key must be 0; one of yours is {largest:.3g}."


def hidden_scores_do_not_matter(outputs: list[dict[str, Any]]) -> str | None:
    """The weights of scores, and of others that differ behind the mask only, agree."""
    first, second = (each["weights"] for each in outputs)
    if first.shape == second.shape and np.allclose(first, second, rtol=1e-5, atol=1e-5):
        return None
    return "Other scores behind the mask must not change the weights; yours change."


def _mask(draw: Draw, axes: str) -> Tensor:
    """A mask in which every row, of two keys or more, allows a key and hides one; no symmetry, no order."""
    shape = draw.shape(axes)
    places = draw.rng.random(shape).argsort(axis=-1).argsort(axis=-1)
    allowed = draw.rng.integers(1, shape[-1], (*shape[:-1], 1))
    return torch.from_numpy(places < allowed)


def _padding(draw: Draw, axes: str) -> Tensor:
    """A mask that hides keys from some place on, as behind a short text; the last row hides one or more."""
    *before, M = draw.shape(axes)
    lengths = draw.rng.integers(1, M + 1, before)
    lengths.reshape(-1)[-1] = draw.rng.integers(1, M)
    return torch.from_numpy(np.arange(M) < lengths[..., None])


def _empty(draw: Draw, axes: str) -> Tensor:
    """A mask with one row, not the last, that allows nothing."""
    mask = _mask(draw, axes)
    mask[..., int(draw.rng.integers(mask.shape[-2] - 1)), :] = False
    return mask


def _some_empty(draw: Draw, axes: str) -> Tensor:
    """A mask with several rows that allow nothing, and others that allow everything."""
    queries = draw.shape(axes)[0]
    allowed = draw.rng.permutation(queries) % 2 == 0
    return torch.from_numpy(np.repeat(allowed[:, None], draw.shape(axes)[1], axis=1))


def _nothing(draw: Draw, axes: str) -> Tensor:
    """A mask that allows nothing in any row."""
    return torch.zeros(draw.shape(axes), dtype=torch.bool)


def _behind(scores: Tensor, mask: Tensor, added: float) -> Arguments:
    """Scores with something added behind the mask."""
    return {"scores": torch.where(mask, scores, scores + added), "mask": mask}


def _scores(draw: Draw, axes: str = "L M", mask: Tensor | None = None, added: float = 5.0) -> Arguments:
    """Scores of which the hidden ones would win."""
    return _behind(normal(draw, axes, 1.5), _mask(draw, axes) if mask is None else mask, added)


def _million_in_an_empty_row(draw: Draw) -> Arguments:
    mask = _empty(draw, "L M")
    scores = normal(draw, "L M", 1.5)
    scores[~mask.any(dim=-1)] = MILLION
    return {"scores": scores, "mask": mask}


def _extreme(draw: Draw, around: float, added: float) -> Arguments:
    """Scores from a number downwards in steps of 64. One key wins each row, so that no rounding shows: next
    to 10,000 float32 has steps of 0.001."""
    steps = draw.rng.random(draw.shape("L M")).argsort(axis=-1)
    return _behind(float32(around - 64.0 * steps), _mask(draw, "L M"), added)


def _square_batch(draw: Draw) -> list[Arguments]:
    """One mask for all tables, or one row of keys for all queries, where every axis has the same length."""
    return [_scores(draw, "B L M", mask) for mask in (_mask(draw, "L M"), _padding(draw, "M"))]


def _other_hidden_scores(draw: Draw) -> list[Arguments]:
    drawn = _scores(draw)
    return [drawn, _behind(drawn["scores"], drawn["mask"], -8.0)]


def _tables(draw: Draw, before: str = "", queries: str = "L", keys: str = "M") -> Arguments:
    return {
        "Q": normal(draw, f"{before} {queries} K", 1.5),
        "K": normal(draw, f"{before} {keys} K"),
        "V": normal(draw, f"{before} {keys} V"),
    }


def _value_of_a_million(draw: Draw) -> Arguments:
    """Padding that queries would like best, with values that drown all others."""
    drawn, mask = _tables(draw), _padding(draw, "M")
    drawn["K"][~mask] *= 10.0
    drawn["V"][~mask] = MILLION
    return drawn | {"mask": mask}


def _key_of_a_million(draw: Draw) -> Arguments:
    """Hidden keys so far from the others that a mean over all keys would drown these."""
    drawn, mask = _tables(draw), _padding(draw, "M")
    drawn["K"][~mask] *= MILLION
    return drawn | {"mask": mask}


def _long_queries(draw: Draw, *, masked: bool = True) -> Arguments:
    """Scores far beyond what `exp` can take; drawn again until float32 has no doubt which key wins."""
    while True:
        drawn = _tables(draw) | {"Q": normal(draw, "L K", 2000.0), "mask": None}
        allowed = _mask(draw, "L M") if masked else torch.ones(draw.shape("L M"), dtype=torch.bool)
        scores = (drawn["Q"].double() @ drawn["K"].double().mT / draw.sizes["K"] ** 0.5).numpy()
        best = np.sort(np.where(allowed.numpy(), scores, -1e9))
        if (best[:, -1] - best[:, -2]).min() > 60 and 1000 < np.abs(scores).max() < 1e4:
            return drawn | {"mask": allowed if masked else None}


CAUSAL_MASK = Exercise(
    function="causal_mask",
    parameters=("length",),
    returns=(Returned("mask", "L L", holds="booleans"),),
    container="tensor",
    refused=COURSE_MASKS,
    behaviours=(
        Behaviour(
            "ordinary",
            "long and short texts",
            2,
            cases=(
                Case("five tokens", lambda draw: {"length": 5}),
                Case("another length", lambda draw: {"length": draw.sizes["K"]}),
                Case("two tokens", lambda draw: {"length": 2}),
                Case("one token", lambda draw: {"length": 1}),
                Case("a long text", lambda draw: {"length": 130}),
            ),
        ),
    ),
)

PADDING_MASK = Exercise(
    function="padding_mask",
    parameters=("lengths", "max_length"),
    returns=(Returned("mask", "B M", holds="booleans"),),
    container="tensor",
    refused=COURSE_MASKS,
    behaviours=(
        Behaviour(
            "ordinary",
            "lengths in a list",
            2,
            cases=(
                Case("three texts", lambda draw: {"lengths": [4, 1, 5], "max_length": 5}),
                Case(
                    "as many texts as places",
                    lambda draw: {"lengths": draw.integers("B", 1, 4).tolist(), "max_length": 3},
                    equal_sizes=True,
                ),
                Case(
                    "room to spare",
                    lambda draw: {
                        "lengths": draw.integers("B", 1, draw.sizes["M"]).tolist(),
                        "max_length": draw.sizes["M"],
                    },
                ),
            ),
        ),
        Behaviour(
            "any input",
            "lengths in a tensor, empty and full texts, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case(
                    "a tensor",
                    lambda draw: {
                        "lengths": torch.from_numpy(draw.integers("B", 1, draw.sizes["M"] + 1)),
                        "max_length": draw.sizes["M"],
                    },
                ),
                Case("an empty text", lambda draw: {"lengths": [0, 3, 2, 0], "max_length": 3}),
                Case("one text", lambda draw: {"lengths": [2], "max_length": draw.sizes["K"]}),
                Case("one place", lambda draw: {"lengths": [1, 0, 1], "max_length": 1}),
                Case("long texts", lambda draw: {"lengths": [300, 130, 1, 257], "max_length": 300}),
            ),
        ),
    ),
)

MASKED_SOFTMAX = Exercise(
    function="masked_softmax",
    parameters=("scores", "mask"),
    returns=(Returned("weights", "... L M", weights=True),),
    container="tensor",
    refused=COURSE_ATTENTION,
    behaviours=(
        Behaviour(
            "ordinary",
            "one table of scores, one mask",
            2,
            properties=(hidden_keys_weigh_nothing,),
            cases=(
                Case(
                    "chapter 4",
                    lambda draw: {
                        "scores": torch.tensor([[0.0, 0.0, 2.0]]),
                        "mask": torch.tensor([[True, True, False]]),
                    },
                ),
                Case("a table", _scores),
                Case("as many queries as keys", _scores, equal_sizes=True),
                Case("a causal mask", lambda draw: _scores(draw, "L L", causal(draw.sizes["L"]))),
                Case(
                    "all scores negative",
                    lambda draw: _behind(-3.0 - normal(draw, "L M").abs(), _mask(draw, "L M"), 1.0),
                ),
                Case("nothing hidden", lambda draw: _scores(draw, mask=torch.ones(draw.shape("L M")) > 0)),
                Case(
                    "other scores behind the mask", _other_hidden_scores, across=hidden_scores_do_not_matter
                ),
            ),
        ),
        Behaviour(
            "any input",
            "scores of any size, batches, masks that broadcast, and inputs left as they are",
            2,
            properties=(hidden_keys_weigh_nothing,),
            unchanged=True,
            cases=(
                Case("a million behind the mask", lambda draw: _scores(draw, added=MILLION)),
                Case("very large", lambda draw: _extreme(draw, 1e4, 900.0)),
                Case("very negative", lambda draw: _extreme(draw, -1e4, 900.0)),
                Case("zero behind the mask of very negative", lambda draw: _extreme(draw, -1e4, 1e4)),
                Case("a mask for each table", lambda draw: _scores(draw, "B L M")),
                Case("one mask for a batch", lambda draw: _scores(draw, "B L M", _mask(draw, "L M"))),
                Case("padding", lambda draw: _scores(draw, "B L M", _padding(draw, "B 1 M"))),
                Case(
                    "padding, all sizes equal",
                    lambda draw: _scores(draw, "B L M", _padding(draw, "B 1 M")),
                    equal_sizes=True,
                ),
                Case("one row of keys for all", lambda draw: _scores(draw, "B L M", _padding(draw, "M"))),
                Case("masks that broadcast, all sizes equal", _square_batch, equal_sizes=True),
                Case("two axes in front", lambda draw: _scores(draw, "2 B L M", _mask(draw, "B 1 M"))),
                Case("one query", lambda draw: _scores(draw, "1 M")),
                Case("one key", lambda draw: _scores(draw, "L 1", torch.tensor([[True]]))),
            ),
        ),
        Behaviour(
            "empty rows",
            "rows with nothing allowed, gradients, and masks left as they are",
            2,
            properties=(hidden_keys_weigh_nothing,),
            unchanged=True,
            probe="with_gradients",
            returns=(Returned("weights", "... L M", weights=True), Returned("scores_gradient", "... L M")),
            cases=(
                Case("no empty row", _scores),
                Case("an empty row", lambda draw: _scores(draw, mask=_empty(draw, "L M"))),
                Case("several empty rows", lambda draw: _scores(draw, mask=_some_empty(draw, "L M"))),
                Case("only earlier keys", lambda draw: _scores(draw, "L L", causal(draw.sizes["L"], -1))),
                Case("nothing allowed at all", lambda draw: _scores(draw, mask=_nothing(draw, "L M"))),
                Case("a million in an empty row", _million_in_an_empty_row),
            ),
        ),
    ),
)

MASKED_ATTENTION = Exercise(
    function="masked_attention",
    parameters=("Q", "K", "V", "mask"),
    returns=OUTPUT_AND_WEIGHTS,
    container="tensor",
    predecessors=("masked_softmax",),
    refused=COURSE_ATTENTION,
    behaviours=(
        Behaviour(
            "ordinary",
            "one table of queries, with a mask and without",
            2,
            properties=(hidden_keys_weigh_nothing,),
            cases=(
                Case("no mask", _tables),
                Case("a mask", lambda draw: _tables(draw) | {"mask": _mask(draw, "L M")}),
                Case(
                    "as many queries as keys",
                    lambda draw: _tables(draw) | {"mask": _mask(draw, "L M")},
                    equal_sizes=True,
                ),
                Case(
                    "a causal mask",
                    lambda draw: _tables(draw, keys="L") | {"mask": causal(draw.sizes["L"])},
                ),
                Case("a million in padding", _value_of_a_million),
                Case("None for a mask", lambda draw: _tables(draw) | {"mask": None}),
            ),
        ),
        Behaviour(
            "any input",
            "batches, masks that broadcast, long queries, and inputs left as they are",
            1,
            properties=(hidden_keys_weigh_nothing,),
            unchanged=True,
            cases=(
                Case(
                    "a mask for each table", lambda draw: _tables(draw, "B") | {"mask": _mask(draw, "B L M")}
                ),
                Case("one mask for a batch", lambda draw: _tables(draw, "B") | {"mask": _mask(draw, "L M")}),
                Case("padding", lambda draw: _tables(draw, "B") | {"mask": _padding(draw, "B 1 M")}),
                Case(
                    "padding, all sizes equal",
                    lambda draw: _tables(draw, "B") | {"mask": _padding(draw, "B 1 M")},
                    equal_sizes=True,
                ),
                Case("a batch without a mask", lambda draw: _tables(draw, "B")),
                Case("two axes in front", lambda draw: _tables(draw, "2 B") | {"mask": _mask(draw, "B 1 M")}),
                Case("one query", lambda draw: _tables(draw, queries="1") | {"mask": _mask(draw, "1 M")}),
                Case("one key", lambda draw: _tables(draw, keys="1") | {"mask": torch.tensor([[True]])}),
                Case(
                    "one row of keys for all, all sizes equal",
                    lambda draw: _tables(draw, "B") | {"mask": _padding(draw, "M")},
                    equal_sizes=True,
                ),
                Case("very long queries", _long_queries),
                Case("very long queries without a mask", lambda draw: _long_queries(draw, masked=False)),
                Case("a million in a hidden key", _key_of_a_million),
            ),
        ),
        Behaviour(
            "empty rows",
            "rows with nothing allowed, gradients, and masks left as they are",
            2,
            properties=(hidden_keys_weigh_nothing,),
            unchanged=True,
            probe="with_gradients",
            returns=(
                *OUTPUT_AND_WEIGHTS,
                Returned("Q_gradient", "... L K"),
                Returned("K_gradient", "... M K"),
                Returned("V_gradient", "... M V"),
            ),
            cases=(
                Case("no empty row", lambda draw: _tables(draw) | {"mask": _mask(draw, "L M")}),
                Case("an empty row", lambda draw: _tables(draw) | {"mask": _empty(draw, "L M")}),
                Case("several empty rows", lambda draw: _tables(draw) | {"mask": _some_empty(draw, "L M")}),
                Case(
                    "only earlier keys",
                    lambda draw: _tables(draw, keys="L") | {"mask": causal(draw.sizes["L"], -1)},
                ),
                Case("no mask", _tables),
                Case("nothing allowed at all", lambda draw: _tables(draw) | {"mask": _nothing(draw, "L M")}),
            ),
        ),
    ),
)

# As many layers that see the future as that do not; on each the answer must be right.
SEES_FUTURE = Exercise(
    function="sees_future",
    parameters=("layer", "X"),
    returns=(ANSWER,),
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "eleven layers that see the future, and eleven that do not",
            3,
            cases=(
                Case("each row by itself", lambda draw: layer_and_rows(draw, "row")),
                Case("running sum", lambda draw: layer_and_rows(draw, "running_sum")),
                Case(
                    "causal attention",
                    lambda draw: layer_and_rows(draw, "masked", mask=causal(rows_of(draw))),
                ),
                Case(
                    "attention to earlier rows only",
                    lambda draw: layer_and_rows(draw, "masked", mask=causal(rows_of(draw), -1)),
                ),
                Case(
                    "causal attention, one text",
                    lambda draw: layer_and_rows(draw, "masked", texts="1", mask=causal(rows_of(draw))),
                ),
                Case("the row before", lambda draw: past(draw, "before")),
                Case("mean of the rows so far", lambda draw: past(draw, "mean")),
                Case("a filter over past rows", lambda draw: past(draw, "filter")),
                Case("causal attention, padded texts", padded_texts),
                Case(
                    "rows normalised one by one, causal attention",
                    lambda draw: layer_and_rows(draw, "normalised_first", mask=causal(rows_of(draw))),
                ),
                Case("squares of an earlier row", lambda draw: squares(draw, later=False)),
                Case(
                    "attention without a mask",
                    lambda draw: leaking(draw, "masked", mask=causal(rows_of(draw), rows_of(draw))),
                ),
                Case(
                    "one token too far",
                    lambda draw: leaking(draw, "masked", mask=causal(rows_of(draw), 1)),
                ),
                Case("the first row sees the last", far),
                Case("one wrong place in the mask", one_wrong_place),
                Case("no mask for one text of the batch", one_text),
                Case("mean of the later rows", later_mean),
                Case(
                    "rows normalised one by one, no mask",
                    lambda draw: leaking(draw, "normalised_first", mask=causal(rows_of(draw), rows_of(draw))),
                ),
                Case(
                    "zeros after softmax",
                    lambda draw: leaking(draw, "late_masked", mask=causal(rows_of(draw))),
                ),
                Case("normalised over the sequence", lambda draw: leaking(draw, "sequence_norm")),
                Case("a faint trace of one of many rows", faint),
                Case("squares of a later row", lambda draw: squares(draw, later=True)),
            ),
        ),
        Behaviour(
            "any input",
            "one row, first or last rows, dropout, either mode, rounding, layers and inputs left as they are",
            1,
            unchanged=True,
            probe="with_mode",
            returns=(ANSWER, Returned("training", "", holds="booleans")),
            cases=(
                Case("one row", lambda draw: layer_and_rows(draw, "row", rows=1)),
                Case(
                    "dropout, causal attention",
                    lambda draw: layer_and_rows(draw, "dropout", mask=causal(rows_of(draw))),
                ),
                Case(
                    "dropout, no mask",
                    lambda draw: layer_and_rows(draw, "dropout", mask=causal(rows_of(draw), rows_of(draw))),
                ),
                Case(
                    "evaluation mode, causal attention",
                    lambda draw: layer_and_rows(draw, "dropout", mask=causal(rows_of(draw)), training=False),
                ),
                Case("only rounding from later rows", lambda draw: layer_and_rows(draw, "rounding")),
                Case("two rows, no mask", lambda draw: leaking(draw, "masked", rows=2, mask=causal(2, 1))),
                Case("the first row sees the second", first_two),
                Case("the last but one of many rows sees the last", last_two),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "04_masking",
    "Masking",
    (CAUSAL_MASK, PADDING_MASK, MASKED_SOFTMAX, MASKED_ATTENTION, SEES_FUTURE),
)
