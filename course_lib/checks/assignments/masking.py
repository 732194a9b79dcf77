"""Assignment 04: causal and padding masks, softmax and attention under a mask, and a test for leaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.checks.assignments.masking_inputs import (
    MILLION,
    behind,
    extreme,
    key_of_a_million,
    long_queries,
    many_long_texts,
    masked_scores,
    million_in_an_empty_row,
    nearly_10_000,
    nearly_all_on_one,
    nothing,
    one_empty,
    other_hidden_scores,
    padding,
    random_mask,
    self_attention,
    some_empty,
    square_batch,
    tables,
    value_of_a_million,
)
from course_lib.checks.assignments.masking_layers import (
    causal,
    faint,
    faint_bump,
    far,
    first_two,
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
from course_lib.checks.later import torch
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
OUTPUT_AND_WEIGHTS = (Returned("output", "... L V"), Returned("weights", "... L M", weights=True))
ANSWER = Returned("answer", "", holds="booleans")


def hidden_keys_weigh_nothing(arguments: Arguments, outputs: dict[str, Any]) -> str | None:
    """A weight behind the mask is 0, up to the smallest rounding."""
    mask, weights = arguments.get("mask"), outputs["weights"]
    if mask is None:
        return None
    behind = np.broadcast_to(~mask, weights.shape)
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
                Case("many long texts", many_long_texts),
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
                Case("a table", masked_scores),
                Case("as many queries as keys", masked_scores, equal_sizes=True),
                Case("a causal mask", lambda draw: masked_scores(draw, "L L", causal(draw.sizes["L"]))),
                Case(
                    "all scores negative",
                    lambda draw: behind(-3.0 - normal(draw, "L M").abs(), random_mask(draw, "L M"), 1.0),
                ),
                Case(
                    "nothing hidden", lambda draw: masked_scores(draw, mask=torch.ones(draw.shape("L M")) > 0)
                ),
                Case("other scores behind the mask", other_hidden_scores, across=hidden_scores_do_not_matter),
            ),
        ),
        Behaviour(
            "any input",
            "scores of any size, batches, masks that broadcast, and inputs left as they are",
            2,
            properties=(hidden_keys_weigh_nothing,),
            unchanged=True,
            cases=(
                Case("a million behind the mask", lambda draw: masked_scores(draw, added=MILLION)),
                Case("very large", lambda draw: extreme(draw, 1e4, 900.0)),
                Case("very negative", lambda draw: extreme(draw, -1e4, 900.0)),
                Case("zero behind the mask of very negative", lambda draw: extreme(draw, -1e4, 1e4)),
                Case("a mask for each table", lambda draw: masked_scores(draw, "B L M")),
                Case(
                    "one mask for a batch",
                    lambda draw: masked_scores(draw, "B L M", random_mask(draw, "L M")),
                ),
                Case("padding", lambda draw: masked_scores(draw, "B L M", padding(draw, "B 1 M"))),
                Case(
                    "padding, all sizes equal",
                    lambda draw: masked_scores(draw, "B L M", padding(draw, "B 1 M")),
                    equal_sizes=True,
                ),
                Case(
                    "one row of keys for all", lambda draw: masked_scores(draw, "B L M", padding(draw, "M"))
                ),
                Case("masks that broadcast, all sizes equal", square_batch, equal_sizes=True),
                Case(
                    "two axes in front",
                    lambda draw: masked_scores(draw, "2 B L M", random_mask(draw, "B 1 M")),
                ),
                Case("one query", lambda draw: masked_scores(draw, "1 M")),
                Case("one key", lambda draw: masked_scores(draw, "L 1", torch.tensor([[True]]))),
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
                Case("no empty row", masked_scores),
                Case("an empty row", lambda draw: masked_scores(draw, mask=one_empty(draw, "L M"))),
                Case("several empty rows", lambda draw: masked_scores(draw, mask=some_empty(draw, "L M"))),
                Case(
                    "only earlier keys", lambda draw: masked_scores(draw, "L L", causal(draw.sizes["L"], -1))
                ),
                Case("nothing allowed at all", lambda draw: masked_scores(draw, mask=nothing(draw, "L M"))),
                Case("a million in an empty row", million_in_an_empty_row),
                Case("nearly all weight on one key", nearly_all_on_one),
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
                Case("no mask", tables),
                Case("a mask", lambda draw: tables(draw) | {"mask": random_mask(draw, "L M")}),
                Case(
                    "as many queries as keys",
                    lambda draw: tables(draw) | {"mask": random_mask(draw, "L M")},
                    equal_sizes=True,
                ),
                Case(
                    "a causal mask",
                    lambda draw: tables(draw, keys="L") | {"mask": causal(draw.sizes["L"])},
                ),
                Case("a million in padding", value_of_a_million),
                Case("None for a mask", lambda draw: tables(draw) | {"mask": None}),
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
                    "a mask for each table",
                    lambda draw: tables(draw, "B") | {"mask": random_mask(draw, "B L M")},
                ),
                Case(
                    "one mask for a batch",
                    lambda draw: tables(draw, "B") | {"mask": random_mask(draw, "L M")},
                ),
                Case("padding", lambda draw: tables(draw, "B") | {"mask": padding(draw, "B 1 M")}),
                Case(
                    "padding, all sizes equal",
                    lambda draw: tables(draw, "B") | {"mask": padding(draw, "B 1 M")},
                    equal_sizes=True,
                ),
                Case("a batch without a mask", lambda draw: tables(draw, "B")),
                Case(
                    "two axes in front",
                    lambda draw: tables(draw, "2 B") | {"mask": random_mask(draw, "B 1 M")},
                ),
                Case(
                    "one query", lambda draw: tables(draw, queries="1") | {"mask": random_mask(draw, "1 M")}
                ),
                Case("one key", lambda draw: tables(draw, keys="1") | {"mask": torch.tensor([[True]])}),
                Case(
                    "one row of keys for all, all sizes equal",
                    lambda draw: tables(draw, "B") | {"mask": padding(draw, "M")},
                    equal_sizes=True,
                ),
                Case("very long queries", long_queries),
                Case("very long queries without a mask", lambda draw: long_queries(draw, masked=False)),
                Case("a million in a hidden key", key_of_a_million),
                Case("queries that are the keys", self_attention),
                Case("scores of nearly 10,000", nearly_10_000),
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
                Case("no empty row", lambda draw: tables(draw) | {"mask": random_mask(draw, "L M")}),
                Case("an empty row", lambda draw: tables(draw) | {"mask": one_empty(draw, "L M")}),
                Case("several empty rows", lambda draw: tables(draw) | {"mask": some_empty(draw, "L M")}),
                Case(
                    "only earlier keys",
                    lambda draw: tables(draw, keys="L") | {"mask": causal(draw.sizes["L"], -1)},
                ),
                Case("no mask", tables),
                Case("nothing allowed at all", lambda draw: tables(draw) | {"mask": nothing(draw, "L M")}),
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
                Case("a faint trace in one text", faint_bump),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "04_masking",
    "Masking",
    (CAUSAL_MASK, PADDING_MASK, MASKED_SOFTMAX, MASKED_ATTENTION, SEES_FUTURE),
)
