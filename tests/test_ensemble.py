"""The loop that trains every ensemble, and what is computed from the answers of many models."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from course_lib import ensemble

STARTS = [torch.tensor([[1.0, 2], [3, 4], [5, 6]]), torch.tensor([0.5, 0.25, 0.125])]  # three models
SGD = partial(torch.optim.SGD, lr=0.1)


def bowls(numbers):
    """A loss per model, 0 where all its numbers are 0."""
    return (numbers[0] ** 2).sum(dim=1) + numbers[1] ** 4


def test_each_model_takes_the_step_of_its_own_gradient():
    (first, second), _ = ensemble.train(STARTS, bowls, SGD, updates=1)
    torch.testing.assert_close(first, STARTS[0] - 0.1 * 2 * STARTS[0])
    torch.testing.assert_close(second, STARTS[1] - 0.1 * 4 * STARTS[1] ** 3)


@pytest.mark.parametrize("optimiser", [SGD, ensemble.adam(0.1)])
def test_a_model_among_others_is_trained_as_if_it_were_alone(optimiser):
    together, losses = ensemble.train(STARTS, bowls, optimiser, updates=5)
    alone, own_losses = ensemble.train([each[1:2] for each in STARTS], bowls, optimiser, updates=5)
    assert torch.equal(losses[:, 1:2], own_losses)
    assert all(torch.equal(many[1:2], one) for many, one in zip(together, alone, strict=True))


def test_losses_are_kept_from_before_each_update_and_starts_stay_as_they_were():
    given = [tensor.clone() for tensor in STARTS]
    trained, losses = ensemble.train(given, bowls, SGD, updates=2)
    assert torch.equal(losses[0], bowls(STARTS))
    assert (bowls(trained) < losses[1]).all()
    assert all(torch.equal(tensor, start) for tensor, start in zip(given, STARTS, strict=True))
    assert not any(tensor.requires_grad for tensor in (*given, *trained, losses))


def test_no_updates_give_the_starts_and_no_losses():
    trained, losses = ensemble.train(STARTS, bowls, SGD, updates=0)
    assert losses.shape == (0, 3)
    assert all(torch.equal(tensor, start) for tensor, start in zip(trained, STARTS, strict=True))


def test_the_models_are_seen_before_the_first_update_and_after_each():
    seen = {}
    trained, losses = ensemble.train(
        *(STARTS, bowls, SGD, 3), watch=lambda update, now: seen.update({update: bowls(now)})
    )
    assert list(seen) == [0, 1, 2, 3]
    assert torch.equal(torch.stack([seen[update] for update in range(3)]), losses)
    assert torch.equal(seen[3], bowls(trained))


def test_a_bar_goes_round_the_updates():
    steps = []

    def bar(updates):
        for update in updates:
            steps.append(update)
            yield update

    ensemble.train(STARTS, bowls, SGD, updates=4, progress=bar)
    assert steps == [0, 1, 2, 3]


def test_loss_of_a_model_that_knows_nothing_is_ln_17():
    losses = ensemble.answer_losses(torch.zeros(2, 3, 17), torch.tensor([4, 5, 6]))
    assert losses.tolist() == pytest.approx([math.log(17)] * 2)


def test_losses_and_right_answers_of_a_case_done_by_hand():
    logits = torch.tensor([[[0.0, math.log(3)], [5, 5]], [[9, 0], [0, 9]]])
    targets = torch.tensor([1, 0])
    expected = (math.log(4 / 3) + math.log(2)) / 2
    assert ensemble.answer_losses(logits, targets)[0].item() == pytest.approx(expected)
    assert ensemble.right(logits, targets).tolist() == [2, 0]
