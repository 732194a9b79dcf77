"""The figure in which two colours change places: its numbers against the formulas, and what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from course_lib import attention, explore
from course_lib.explore import order

TOKENS, ANSWERS, PLACES = ["red", ".", "blue", "wear"], ["red", "blue", "black"], (0, 2)
RNG = np.random.default_rng(0)
ROWS, POSITIONS = RNG.standard_normal((4, 5)), RNG.standard_normal((4, 5))
W_Q, W_K, LOGITS = RNG.standard_normal((5, 3)), RNG.standard_normal((5, 3)), RNG.standard_normal((4, 3))


def figure(**changes):
    arguments = {"tokens": TOKENS, "token_rows": ROWS, "position_rows": POSITIONS, "W_q": W_Q, "W_k": W_K}
    arguments |= {"value_logits": LOGITS, "answers": ANSWERS, "places": PLACES}
    return explore.recent_colour(**arguments | changes)


def layer():
    return {"tokenRows": ROWS, "positionRows": POSITIONS, "W_q": W_Q, "W_k": W_K, "valueLogits": LOGITS}


def test_weights_and_probabilities_are_those_of_attention():
    X = ROWS + 0.5 * POSITIONS
    output, weights = attention.attention(X[-1:] @ W_Q, X @ W_K, LOGITS)
    found_weights, found, _ = order.read(layer(), TOKENS, ANSWERS, PLACES, 0.5)
    np.testing.assert_allclose(found_weights, weights[0])
    np.testing.assert_allclose(found, attention.softmax(output[0]))


def test_without_positions_both_orders_have_one_answer_and_a_loss_of_ln_2_or_more():
    _, here, loss = order.read(layer(), TOKENS, ANSWERS, PLACES, 0.0)
    _, there, same = order.read(layer(), TOKENS, ANSWERS, PLACES, 0.0, swapped=True)
    np.testing.assert_allclose(here, there)
    assert loss == pytest.approx(same)
    assert loss >= math.log(2)


def test_the_loss_is_the_mean_of_both_orders():
    rows = [2, 1, 0, 3]
    losses = []
    for chosen, target in (([0, 1, 2, 3], 1), (rows, 0)):
        X = ROWS[chosen] + POSITIONS
        output, _ = attention.attention(X[-1:] @ W_Q, X @ W_K, LOGITS[chosen])
        losses.append(-math.log(attention.softmax(output[0])[target]))
    assert order.read(layer(), TOKENS, ANSWERS, PLACES, 1.0)[2] == pytest.approx(sum(losses) / 2)


def test_the_page_gets_every_bit_of_the_layer_and_the_words_say_its_loss():
    made = figure(share=0.25)
    data = json.loads(made.data)
    assert data["W_q"] == W_Q.tolist()
    assert data["shares"][0] == 0
    assert data["shares"][-1] == 1
    loss = order.read(layer(), TOKENS, ANSWERS, PLACES, 0.25)[2]
    assert made.text.endswith(f"mean loss of the two orders {loss:.3f}")
    assert len(made.html()) < 120_000


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"token_rows": ROWS[:3]}, "token_rows: expected shape"),
        ({"W_k": W_K[:, :2]}, "W_k: expected shape"),
        ({"places": (2, 0)}, "places: expected two indices"),
        ({"answers": ["red", "green", "black"]}, "answers: expected them to hold"),
        ({"share": 0.33}, "share: expected a multiple of 0.05"),
    ],
)
def test_wrong_arguments_are_named(changes, said):
    with pytest.raises(ValueError, match=said):
        figure(**changes)
