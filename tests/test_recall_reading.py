from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from course_lib import attention, recall, recall_ensemble, recall_reading

COLOUR = 4


@pytest.fixture
def models():
    return recall_ensemble.seeded_starts([3, 8], scale=0.8)


@pytest.fixture
def batch():
    """Two texts of different lengths, so that one is padded."""
    texts = [recall.recall_text("blue"), recall.recall_text("black", game=True)]
    return recall.make_batch(texts, ["blue", "black"])


def test_contributions_are_weight_times_value_times_w_out_as_numpy_finds_them(models, batch):
    parts = recall_reading.contributions(models, batch)
    embedding, W_q, W_k, W_v, W_out, _ = (tensor[1].numpy() for tensor in models)
    X = embedding[recall.encode(recall.recall_text("blue"))]
    weights = attention.attention_weights(X[-1:] @ W_q, X @ W_k)[0]
    for position in range(10):
        expected = weights[position] * (X[position] @ W_v @ W_out)
        np.testing.assert_allclose(parts[1, 0, position].numpy(), expected, rtol=1e-9, atol=1e-12)


def test_contributions_and_bias_add_up_to_the_logits(models, batch):
    models = models._replace(bias=torch.randn(2, 17, generator=torch.Generator().manual_seed(0)).double())
    total = recall_reading.contributions(models, batch).sum(dim=2) + models.bias[:, None]
    torch.testing.assert_close(total, recall.forward(models, batch)[0])


def test_padding_contributes_nothing(models, batch):
    assert not recall_reading.contributions(models, batch)[:, 0, 10:].any()


def test_the_models_own_weights_give_the_models_own_logits(models, batch):
    logits, weights = recall.forward(models, batch)
    torch.testing.assert_close(recall_reading.logits_with(models, batch, weights), logits)


def test_all_weight_on_one_position_gives_its_value_alone(models, batch):
    weights = torch.zeros(2, 2, 15, dtype=torch.float64)
    weights[..., 2] = 1
    expected = models.embedding[0, recall.VOCABULARY["colour"]] @ models.W_v[0] @ models.W_out[0]
    torch.testing.assert_close(recall_reading.logits_with(models, batch, weights)[0, 1], expected)


def test_weight_is_taken_away_as_by_a_score_of_minus_infinity(models, batch):
    scores, (_, weights) = recall.recall_scores(models, batch), recall.forward(models, batch)
    before = weights.clone()
    scores[..., COLOUR] = -math.inf
    taken = recall_reading.without_position(weights, COLOUR)
    torch.testing.assert_close(taken, scores.softmax(dim=-1))
    assert torch.equal(weights, before)


def test_a_weight_of_exactly_one_cannot_be_shared_out():
    with pytest.raises(ValueError, match="position"):
        recall_reading.without_position(torch.tensor([[0.5, 0.5], [1.0, 0.0]]), 0)


def test_uniform_weights_are_one_over_the_length_and_zero_on_padding(models, batch):
    uniform = recall_reading.uniform_weights(models, batch)
    assert uniform[1, 0].tolist() == pytest.approx([1 / 10] * 10 + [0] * 5)
    assert uniform[0, 1].tolist() == pytest.approx([1 / 15] * 15)


def test_right_counts_the_texts_whose_likeliest_token_is_the_target(batch):
    logits = torch.zeros(3, 2, 17)
    logits[0, 0, 5] = logits[0, 1, 6] = 1  # both
    logits[1, 0, 5] = logits[1, 1, 5] = 1  # the first only
    logits[2, :, 16] = 1  # none
    assert recall_reading.right(logits, batch).tolist() == [2, 1, 0]


def test_weights_of_another_shape_are_refused(models, batch):
    with pytest.raises(ValueError, match="weights: expected shape"):
        recall_reading.logits_with(models, batch, torch.zeros(2, 2, 14))


def test_a_blank_model_spreads_its_weight_and_knows_nothing():
    training = recall.make_batch(*recall.training_examples())
    validation = recall.make_batch(*recall.validation_examples())
    blank = recall.Ensemble(*(0 * tensor for tensor in recall_ensemble.seeded_starts([0], scale=1.0)))
    found = recall_reading.moment(blank, training, validation)
    assert found[:3] == pytest.approx((0.1, 0.1, 1 / 17))
    assert found[4:6] == pytest.approx((math.log(17), math.log(17)))
    assert found.prediction == recall.TOKENS[0]
    assert found.validation_right == 0


def test_a_story_begins_at_the_start_and_ends_with_the_trained_model():
    training = recall.make_batch(*recall.training_examples())
    validation = recall.make_batch(*recall.validation_examples())
    start = recall_ensemble.seeded_starts([131], scale=0.2)
    moments = recall_reading.story(start, training, validation, lr=0.03, updates=4)
    trained, losses = recall.train(start, training, updates=4, lr=0.03)
    assert [each.training_loss for each in moments[:4]] == pytest.approx(losses[:, 0].tolist())
    assert moments[4] == pytest.approx(recall_reading.moment(trained, training, validation))


def test_only_one_model_has_a_moment(models, batch):
    with pytest.raises(ValueError, match="model"):
        recall_reading.moment(models, batch, batch)
