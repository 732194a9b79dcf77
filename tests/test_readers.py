"""Readers that share rows between texts, against one text at a time with loops; hand-built models exact."""

from __future__ import annotations

import math

import pytest
import torch

from course_lib import readers, together
from course_lib.beginnings import distances, make_plan

TEXTS = [[0, 3, 3, 1], [0, 3, 2], [4, 0, 3, 3, 1, 2], [0, 3, 3, 2]]
TOKENS, WIDTH, KEY, PLACES = 5, 7, 3, 6


def drawn(shapes, seed=0):
    return together.pick(together.draw(shapes, 1, 0.5, seed, dtype=torch.float64), 0)


def slow_rows(X, W_q, W_k, W_v, extra=lambda distance: 0.0):
    """Attention with a causal mask, one score and one weight at a time."""
    made = []
    for t in range(len(X)):
        scores = [float((X[t] @ W_q) @ (X[s] @ W_k)) / math.sqrt(W_q.shape[1]) for s in range(t + 1)]
        exponentials = [math.exp(score + extra(t - s)) for s, score in enumerate(scores)]
        gathered = sum(e * (X[s] @ W_v) for s, e in enumerate(exponentials))
        made.append(gathered / sum(exponentials))
    return torch.stack(made)


def bias(model, distance):
    return model["table"][distance]


@pytest.mark.parametrize("with_rows", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_one_layer_agrees_with_a_loop_over_each_text(with_rows, with_bias):
    shapes = readers.one_layer_shapes(TOKENS, WIDTH, KEY) | {"place": (PLACES, WIDTH), "table": (PLACES,)}
    model = drawn(shapes)
    read = readers.one_layer(
        TEXTS, rows=(lambda m: m["place"]) if with_rows else None, bias=bias if with_bias else None
    )
    logits = read(model)
    for row, text in enumerate(TEXTS):
        X = model["embedding"][text] + (model["place"][: len(text)] if with_rows else 0)
        extra = (lambda distance: float(model["table"][distance])) if with_bias else (lambda distance: 0.0)
        output = slow_rows(X, model["W_q"], model["W_k"], model["W_v"], extra)[-1]
        torch.testing.assert_close(logits[row], output @ model["W_out"] + model["bias"])


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("places", [0, PLACES])
def test_layers_on_top_of_each_other_agree_with_a_loop_over_each_text(layers, places):
    model = drawn(readers.stack_shapes(TOKENS, layers, places, WIDTH))
    logits = readers.stack(TEXTS, layers)(model)
    for row, text in enumerate(TEXTS):
        X = model["embedding"][text] + (model["place"][: len(text)] if places else 0)
        for n in range(1, layers + 1):
            W_q, W_k, W_v, W_o = (model[f"{name}{n}"] for name in ("W_q", "W_k", "W_v", "W_o"))
            X = X + slow_rows(X, W_q, W_k, W_v) @ W_o
        torch.testing.assert_close(logits[row], X[-1] @ model["W_out"] + model["bias"])


def test_every_beginning_is_computed_once():
    plan = make_plan(TEXTS, layers=3)
    beginnings = {tuple(text[:end]) for text in TEXTS for end in range(1, len(text) + 1)}
    assert [len(look.own) for look in plan.looks] == [len(beginnings), len(beginnings), len(TEXTS)]
    assert [look.mask.shape[1] for look in plan.looks] == [len(plan.token), len(beginnings), len(beginnings)]
    assert plan.looks[-1].mask.sum(dim=1).tolist() == [len(text) for text in TEXTS]


def test_a_row_of_the_first_look_sees_the_tokens_up_to_its_own():
    plan = make_plan([[2, 9, 2]], layers=2)
    assert plan.token.tolist() == [2, 9, 2]
    assert plan.looks[0].mask.tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_distances_count_from_each_texts_last_token_back():
    plan = make_plan([[0, 1, 2], [0, 1]], layers=1)
    assert distances(plan).tolist() == [[2, 1, 0], [1, 0, 0]]


def test_a_layer_that_takes_off_a_slope_prefers_the_later_of_two_equal_keys():
    model = {name: torch.zeros(shape) for name, shape in readers.one_layer_shapes(3, 3, 2).items()}
    model["embedding"], model["W_v"], model["W_out"] = torch.eye(3), torch.eye(3), torch.eye(3)
    read = readers.one_layer([[0, 1, 2], [1, 0, 2]], bias=lambda m, d: -math.log(2) * d)
    weights = torch.tensor([1.0, 2, 4]) / 7
    torch.testing.assert_close(read(model), torch.stack([weights, weights[[1, 0, 2]]]))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="layers: expected 1 or more, got 0"):
        make_plan(TEXTS, 0)
    with pytest.raises(ValueError, match="texts: expected one or more, each with at least one token"):
        make_plan([[1], []], 1)
