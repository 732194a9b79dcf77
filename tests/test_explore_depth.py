"""The figure in which a second layer is switched on: its numbers against the readers, and what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from course_lib import explore, readers, together, two_subjects
from course_lib.explore import depth

IDS = [[two_subjects.VOCABULARY[t] for t in text.split()] for text in two_subjects.four_cases("red", "blue")]


def model(layers, places=14):
    shapes = readers.stack_shapes(len(two_subjects.TOKENS), layers, places, d_model=5)
    return together.pick(together.draw(shapes, 1, scale=0.5, seed=layers, dtype=torch.float64), 0)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("positions", [True, False])
def test_probabilities_are_those_of_the_readers_layers(layers, positions):
    numbers = model(layers)
    arrays = {name: tensor.numpy() for name, tensor in numbers.items()}
    if not positions:
        del numbers["place"]
    expected = readers.stack(IDS, layers)(numbers).softmax(dim=-1).numpy()
    for ids, row in zip(IDS, expected, strict=True):
        found = depth.read(arrays, layers, ids, positions)
        np.testing.assert_allclose(found.probabilities, row, rtol=0, atol=1e-12)
        assert len(found.weights) == layers


def test_the_page_gets_every_bit_of_both_models_and_the_words_say_the_loss():
    made = explore.two_layers(model(1), model(2), colours=("black", "green"), asked="players")
    data = json.loads(made.data)
    assert data["models"][1]["W_q2"] == model(2)["W_q2"].tolist()
    assert [text["answerName"] for text in data["texts"]] == ["black", "green", "green", "black"]
    assert float(made.text.split()[-1]) > math.log(2) / 2
    assert len(made.html()) < 120_000


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"one": model(2)}, "one: expected arrays named"),
        ({"two": model(2) | {"W_q2": torch.ones(4, 5)}}, "W_q2"),
        ({"asked": "teams"}, "asked: expected one of"),
        ({"colours": ("red", "red")}, "colours: expected two of"),
    ],
)
def test_wrong_arguments_are_named(changes, said):
    with pytest.raises(ValueError, match=said):
        explore.two_layers(**{"one": model(1), "two": model(2)} | changes)
