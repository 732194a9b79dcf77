"""The two-colours task: its texts, and an ensemble against one model computed by the chapter's formulas."""

from __future__ import annotations

import math

import pytest
import torch

from course_lib import heads, two_colours

MODELS, D_MODEL = 5, 6


def drawn(seed=0):
    return two_colours.draw_models(MODELS, 0.7, torch.Generator().manual_seed(seed), d_model=D_MODEL)


def one_text(models, model, ids, num_heads):
    """Logits (2, C) and weights (H, L) of one model and one text, through `multi_head_attention`."""
    one = two_colours.Models(*(tensor[model] for tensor in models))
    X = (one.embedding[ids] + one.place)[None]
    output, weights = heads.multi_head_attention(X, one.W_q, one.W_k, one.W_v, one.W_o, num_heads)
    asked = output[0, -1]
    return torch.stack([asked @ one.first, asked @ one.second]), weights[0, :, -1]


@pytest.mark.parametrize("equal", [False, True])
def test_texts_name_their_colours_at_the_two_places(equal):
    task = two_colours.make_task(equal=equal)
    assert torch.equal(task.ids[:, list(two_colours.PLACES)], task.targets)
    pairs = [tuple(pair) for pair in task.targets.tolist()]
    assert len(set(pairs)) == len(pairs) == (9 if equal else 6)
    assert any(a == b for a, b in pairs) is equal


def test_texts_differ_in_nothing_but_the_colours():
    others = two_colours.make_task(equal=True).ids.clone()
    others[:, list(two_colours.PLACES)] = -1
    assert len(others.unique(dim=0)) == 1


@pytest.mark.parametrize("num_heads", [1, 2, 3])
@pytest.mark.parametrize("equal", [False, True])
def test_every_model_on_every_text_agrees_with_multi_head_attention(num_heads, equal):
    models, task = drawn(), two_colours.make_task(equal=equal)
    logits = two_colours.forward(models, task, num_heads)
    _, weights = two_colours.attend(models, task, num_heads)
    for model in range(MODELS):
        for row, ids in enumerate(task.ids):
            expected_logits, expected_weights = one_text(models, model, ids, num_heads)
            torch.testing.assert_close(logits[model, row], expected_logits)
            torch.testing.assert_close(weights[model, :, row], expected_weights)


def test_a_silenced_head_says_the_same_about_every_text_and_the_others_stay():
    models, task = drawn(), two_colours.make_task()
    only_one = two_colours.forward(models, task, 1, silenced=0)
    assert only_one.std(dim=1).max() < 1e-12
    usual = two_colours.forward(models, task, 3)
    torch.testing.assert_close(
        two_colours.forward(models, task, 3, silenced=1).mean(dim=1), usual.mean(dim=1)
    )
    quiet = models._replace(W_v=models.W_v.clone())
    quiet.W_v[:, :, 2:4] = 0  # head 1 of three hands over nothing
    changes = two_colours.forward(models, task, 3, silenced=1) - two_colours.forward(quiet, task, 3)
    torch.testing.assert_close(changes, changes[:, :1].expand_as(changes))


def test_loss_adds_the_two_colours_and_averages_over_texts():
    task = two_colours.make_task()
    logits = torch.zeros(1, 6, 2, 3)
    logits[0, :, 0] = -1000.0 * (1 - torch.nn.functional.one_hot(task.targets[:, 0], 3))
    assert two_colours.losses(logits, task).tolist() == pytest.approx([math.log(3)])


def test_training_one_model_alone_gives_what_it_gets_among_others():
    models, task = drawn(), two_colours.make_task()
    alone = two_colours.Models(*(tensor[3:4] for tensor in models))
    together, losses = two_colours.train(models, task, 2, updates=4, lr=0.05)
    single, single_losses = two_colours.train(alone, task, 2, updates=4, lr=0.05)
    torch.testing.assert_close(losses[:, 3:4], single_losses)
    for many, one in zip(together, single, strict=True):
        torch.testing.assert_close(many[3:4], one)


def test_training_does_not_change_the_models_it_is_given():
    models = drawn()
    before = [tensor.clone() for tensor in models]
    two_colours.train(models, two_colours.make_task(), 2, updates=2, lr=0.05)
    assert all(torch.equal(a, b) for a, b in zip(before, models, strict=True))


def test_starts_are_drawn_field_by_field_from_the_generator():
    generator = torch.Generator().manual_seed(4)
    expected = torch.randn(MODELS, 11, D_MODEL, generator=generator) * 0.7
    assert torch.equal(drawn(seed=4).embedding, expected.double())


def with_fixed_weights(first, second):
    """One model of two heads, width 6, whose weights depend on places alone: queries ask for place marks."""
    models = two_colours.Models(*(torch.zeros_like(t[:1]) for t in drawn()))
    models.embedding[0, :3, :3] = torch.eye(3, dtype=torch.float64)
    models.place[0, -1, 5] = 1
    for head, place in enumerate((first, second)):
        models.place[0, place, 3 + head] += 1
        models.W_q[0, 5, 3 * head] = 100
        models.W_k[0, 3 + head, 3 * head] = 1
        models.W_v[0, :3, 3 * head : 3 * head + 3] = torch.eye(3)
    models.W_o[0] = torch.eye(6)
    models.first[0, :3] = models.second[0, 3:] = torch.eye(3)
    return models


@pytest.mark.parametrize("equal", [False, True])
def test_two_heads_with_weights_fixed_by_place_solve_it_and_each_can_be_silenced(equal):
    models, task = with_fixed_weights(*two_colours.PLACES), two_colours.make_task(equal=equal)
    assert two_colours.solved(models, task, 2).item()
    _, weights = two_colours.attend(models, task, 2)
    assert weights[0, 0, :, 3].min() > 0.99
    assert weights[0, 1, :, 8].min() > 0.99
    named = two_colours.right(models, task, 2, silenced=0).double().mean(dim=1)[0]
    assert named[1] == 1
    assert named[0] <= 1 / 2


def test_a_model_with_one_wrong_text_is_not_solved():
    models, task = with_fixed_weights(*two_colours.PLACES), two_colours.make_task()
    wrong = two_colours.Task(task.ids, task.targets.clone())
    wrong.targets[4, 1] = (wrong.targets[4, 1] + 1) % 3
    assert two_colours.right(models, wrong, 2).sum() == 11
    assert not two_colours.solved(models, wrong, 2).item()


@pytest.mark.parametrize("num_heads", [0, 4])
def test_a_number_of_heads_that_does_not_divide_the_width_is_refused(num_heads):
    with pytest.raises(ValueError, match="num_heads: expected a number that divides the width 6"):
        two_colours.forward(drawn(), two_colours.make_task(), num_heads)


def test_no_models_are_refused():
    with pytest.raises(ValueError, match="models, d_model: expected 1 or more"):
        two_colours.draw_models(0, 0.4, torch.Generator())
