"""Many models at once against one model trained alone by a plain loop, and the ways to draw and count."""

from __future__ import annotations

import pytest
import torch

from course_lib import together

SHAPES = {"first": (3, 5), "second": (5, 2), "bias": (2,)}
INPUTS = torch.tensor([[1.0, 0, 2], [0, 1, 0], [3, 1, 1], [0, 0, 1]])
TARGETS = torch.tensor([0, 1, 1, 0])


def read(model):
    return torch.tanh(INPUTS @ model["first"]) @ model["second"] + model["bias"]


def starts():
    return together.draw(SHAPES, models=4, scale={"first": 0.7, "second": 0.5}, seed=3)


def test_a_model_among_others_learns_what_it_learns_alone_in_a_plain_loop():
    model = {name: tensor.requires_grad_() for name, tensor in together.pick(starts(), 2).items()}
    optimiser, losses = torch.optim.Adam(model.values(), lr=0.05), []
    for _ in range(7):
        log_probabilities = torch.log_softmax(read(model), dim=1)
        loss = -sum(row[target] for row, target in zip(log_probabilities, TARGETS, strict=True)) / 4
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    trained, history = together.train(read, starts(), TARGETS, updates=7, lr=0.05)
    assert history[:, 2].tolist() == pytest.approx(losses, abs=1e-6)
    for name, tensor in model.items():
        torch.testing.assert_close(trained[name][2], tensor.detach(), atol=1e-5, rtol=0)


def test_training_does_not_change_the_models_it_is_given():
    given = starts()
    before = {name: tensor.clone() for name, tensor in given.items()}
    together.train(read, given, TARGETS, updates=2, lr=0.1)
    assert all(torch.equal(given[name], before[name]) for name in SHAPES)
    assert not any(tensor.requires_grad for tensor in given.values())


def test_reading_all_models_is_reading_each():
    models = starts()
    each = torch.stack([read(together.pick(models, number)) for number in range(4)])
    torch.testing.assert_close(together.read_all(read, models), each)


def test_a_name_without_a_scale_starts_at_zero_and_the_seed_fixes_the_rest():
    models = starts()
    assert not models["bias"].any()
    generator = torch.Generator().manual_seed(3)
    assert torch.equal(models["first"], torch.randn(4, 3, 5, generator=generator) * 0.7)
    double = together.draw(SHAPES, 1, 1.0, seed=0, dtype=torch.float64)
    assert {tensor.dtype for tensor in double.values()} == {torch.float64}


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="models: expected 1 or more, got 0"):
        together.draw(SHAPES, 0, 1.0, seed=0)
    with pytest.raises(ValueError, match=r"scale: expected names among .*, got \['third'\]"):
        together.draw(SHAPES, 1, {"third": 1.0}, seed=0)
