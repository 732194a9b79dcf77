from __future__ import annotations

import math

import pytest
import torch

from course_lib import recall, recall_ensemble


@pytest.fixture
def training():
    return recall.make_batch(*recall.training_examples())


def plain_loop(seed, scale, updates, lr):
    """One model, one text, one token at a time: a loop that uses no code of the course but the texts."""
    torch.manual_seed(seed)
    shapes = [(17, 8), (8, 4), (8, 4), (8, 8), (8, 17)]
    numbers = [(torch.randn(shape) * scale).double() for shape in shapes] + [torch.zeros(17).double()]
    E, W_q, W_k, W_v, W_out, bias = numbers = [each.requires_grad_() for each in numbers]
    optimiser, losses = torch.optim.Adam(numbers, lr=lr), []
    for _ in range(updates):
        total = 0.0
        for text, target in zip(*recall.training_examples(), strict=True):
            X = E[[recall.TOKENS.index(token) for token in text.split()]]
            scores = [(X[-1] @ W_q) @ (row @ W_k) / 2 for row in X]
            exponentials = [score.exp() for score in scores]
            output = sum(e * (row @ W_v) for e, row in zip(exponentials, X, strict=True)) / sum(exponentials)
            logits = output @ W_out + bias
            total = total + logits.exp().sum().log() - logits[recall.TOKENS.index(target)]
        optimiser.zero_grad()
        (total / 9).backward()
        optimiser.step()
        losses.append(total.item() / 9)
    return numbers, losses


def test_a_model_of_an_ensemble_learns_what_a_plain_loop_learns(training):
    numbers, losses = plain_loop(seed=647, scale=0.2, updates=6, lr=0.03)
    starts = recall_ensemble.seeded_starts([5, 647], scale=0.2)
    trained, history = recall.train(starts, training, updates=6, lr=0.03)
    assert history[:, 1].tolist() == pytest.approx(losses, abs=1e-6)
    for ours, plain in zip(trained, numbers, strict=True):
        torch.testing.assert_close(ours[1], plain.detach(), atol=1e-6, rtol=0)


def test_a_seed_gives_the_same_directions_at_every_scale():
    small, large = (recall_ensemble.seeded_starts([9, 2], scale=scale) for scale in (0.25, 1.0))
    for a, b in zip(small, large, strict=True):
        assert torch.equal(4 * a, b)
        assert a.dtype == torch.float64


def test_each_seed_has_its_own_start_wherever_it_stands():
    together = recall_ensemble.seeded_starts([9, 2, 5], scale=0.3)
    alone = recall_ensemble.seeded_starts([5], scale=0.3)
    assert torch.equal(together.W_k[2], alone.W_k[0])
    assert not torch.equal(together.W_k[0], together.W_k[1])


def test_stages_are_the_models_after_as_many_updates(training):
    starts = recall_ensemble.seeded_starts(range(3), scale=0.4)
    stages = recall_ensemble.train_stages(starts, training, lr=0.05, stops=[0, 2, 5])
    for stop, models in stages.items():
        expected, _ = recall.train(starts, training, updates=stop, lr=0.05)
        for ours, theirs in zip(models, expected, strict=True):
            torch.testing.assert_close(ours, theirs)


def test_parts_change_nothing_and_progress_sees_each_of_them(training):
    starts, seen = recall_ensemble.seeded_starts(range(5), scale=0.4), []

    def count(parts):
        for models in parts:
            seen.append(len(models.bias))
            yield models

    whole = recall_ensemble.train_stages(starts, training, lr=0.05, stops=[3])
    parts = recall_ensemble.train_stages(starts, training, lr=0.05, stops=[3], part=2, progress=count)
    assert seen == [2, 2, 1]
    for ours, theirs in zip(parts[3], whole[3], strict=True):
        torch.testing.assert_close(ours, theirs)


def test_watch_is_called_before_the_first_update_and_after_each(training):
    start, calls = recall_ensemble.seeded_starts([1], scale=0.2), []
    trained, _ = recall.train(
        *(start, training, 3, 0.03), watch=lambda update, models: calls.append((update, models.bias.clone()))
    )
    assert [update for update, _ in calls] == [0, 1, 2, 3]
    assert torch.equal(calls[0][1], start.bias)
    assert torch.equal(calls[3][1], trained.bias)
    assert not torch.equal(calls[2][1], trained.bias)


@pytest.mark.parametrize("seed", [131, 647, 802])
def test_the_chosen_seeds_end_with_their_weight_on_the_colour(seed, training):
    trained, losses = recall.train(recall_ensemble.seeded_starts([seed], 0.2), training, updates=50, lr=0.03)
    found = recall_ensemble.kinds(trained, recall.make_batch(*recall.validation_examples()))
    assert [bool(each) for each in found] == [True, True, False]
    assert losses[0, 0].item() == pytest.approx(math.log(17), abs=0.05)


def looking_at(found, default):
    """A hand-built model that finds some colours; without one of them it names the default."""
    model = recall.Ensemble(*(0 * each for each in recall_ensemble.seeded_starts([0], scale=1.0)))
    for feature, colour in enumerate(recall.COLOURS):
        token = recall.VOCABULARY[colour]
        model.embedding[0, token, feature] = 1
        model.W_k[0, feature, 0] = 1 if colour in found else -1
        model.W_v[0, feature, feature] = 1
        model.W_out[0, feature, token] = 5
    model.embedding[0, recall.VOCABULARY["wear"], 3] = 1
    model.W_q[0, 3, 0] = 20
    model.bias[0, recall.VOCABULARY[default]] = 1
    return model


@pytest.mark.parametrize(
    ("found", "default", "expected"),
    [
        (("red", "blue", "black"), "red", [True, True, False]),
        (("red", "black"), "blue", [True, False, True]),
        (("red", "black"), "red", [False, False, False]),
        (("red",), "blue", [False, False, False]),
    ],
)
def test_kinds_tell_looking_from_answering_by_default(found, default, expected):
    validation = recall.make_batch(*recall.validation_examples())
    kinds = recall_ensemble.kinds(looking_at(found, default), validation)
    assert [bool(each) for each in kinds] == expected


def test_chosen_models_keep_their_order_and_join_undoes_the_choice():
    models = recall_ensemble.seeded_starts(range(4), scale=0.2)
    turned = recall_ensemble.select(models, [3, 1])
    assert torch.equal(turned.W_out[0], models.W_out[3])
    halves = [recall_ensemble.select(models, slice(0, 1)), recall_ensemble.select(models, slice(1, 4))]
    assert torch.equal(recall_ensemble.join(halves).embedding, models.embedding)


def test_missing_seeds_and_stops_are_refused(training):
    with pytest.raises(ValueError, match="seeds"):
        recall_ensemble.seeded_starts([], scale=0.2)
    starts = recall_ensemble.seeded_starts([0], scale=0.2)
    for stops in ([], [-1, 3]):
        with pytest.raises(ValueError, match="stops"):
            recall_ensemble.train_stages(starts, training, lr=0.1, stops=stops)
