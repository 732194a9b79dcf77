from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from course_lib import attention, recall

MODELS, D_K, D_MODEL, SCALE = 3, 5, 8, 0.7


@pytest.fixture
def batch():
    return recall.make_batch(*recall.training_examples())


@pytest.fixture
def ensemble():
    generator = torch.Generator().manual_seed(11)
    return recall.in_double_precision(recall.draw_ensemble(MODELS, D_K, SCALE, generator, d_model=D_MODEL))


def one_model_one_text(ensemble, model, text, scaled=True):
    """The same layer in NumPy, by the course's own formulas, for one model and one unpadded text."""
    embedding, W_q, W_k, W_v, W_out, bias = (tensor[model].numpy() for tensor in ensemble)
    X = embedding[recall.encode(text)]
    weights = attention.softmax(attention.scores(X[-1:] @ W_q, X @ W_k, scaled=scaled))
    return (weights @ (X @ W_v) @ W_out + bias)[0], weights[0]


def test_vocabulary_has_17_tokens_and_tells_The_from_the():
    assert len(recall.VOCABULARY) == 17
    assert recall.VOCABULARY["The"] != recall.VOCABULARY["the"]


def test_colour_stands_at_position_5_and_wear_at_10_15_16_or_21():
    places = set()
    for texts, targets in (recall.training_examples(), recall.validation_examples()):
        for text, target in zip(texts, targets, strict=True):
            tokens = text.split()
            assert [tokens[4], tokens[-1], tokens.count(target)] == [target, "wear", 1]
            places.add(len(tokens))
    assert places == {10, 15, 16, 21}


def test_validation_texts_are_longer_than_every_training_text():
    longest = max(len(text.split()) for text in recall.training_examples()[0])
    assert all(len(text.split()) > longest for text in recall.validation_examples()[0])


def test_encode_names_an_unknown_token_and_its_position_from_0():
    with pytest.raises(ValueError, match=r"'green' at position 4"):
        recall.encode("The team colour is green .")


def test_encode_uses_the_vocabulary_it_is_given():
    assert recall.encode("b a b", {"a": 7, "b": 2}) == [2, 7, 2]


def test_batch_pads_on_the_right_and_marks_the_token_that_asks():
    batch = recall.make_batch(["So the wear", "wear"], ["red", "blue"])
    assert batch.ids.tolist() == [[14, 15, 16], [16, 0, 0]]
    assert batch.mask.tolist() == [[True, True, True], [True, False, False]]
    assert batch.last.tolist() == [2, 0]
    assert batch.targets.tolist() == [recall.VOCABULARY["red"], recall.VOCABULARY["blue"]]


@pytest.mark.parametrize(("texts", "targets"), [([], []), (["So"], []), (["So", ""], ["red", "red"])])
def test_batch_refuses_missing_texts_and_targets(texts, targets):
    with pytest.raises(ValueError, match="expected"):
        recall.make_batch(texts, targets)


@pytest.mark.parametrize("scaled", [True, False])
def test_every_model_agrees_with_the_course_formulas_on_every_text(ensemble, batch, scaled):
    logits, weights = recall.forward(ensemble, batch, None if scaled else 1.0)
    texts, _ = recall.training_examples()
    for model in range(MODELS):
        for row, text in enumerate(texts):
            expected_logits, expected_weights = one_model_one_text(ensemble, model, text, scaled)
            length = len(expected_weights)
            np.testing.assert_allclose(logits[model, row].numpy(), expected_logits, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(weights[model, row, :length].numpy(), expected_weights, rtol=1e-10)
            assert not weights[model, row, length:].any()


def test_starts_are_drawn_in_the_order_of_one_model_under_the_same_seed():
    ensemble = recall.draw_ensemble(1, 4, 0.2, torch.Generator().manual_seed(802))
    torch.manual_seed(802)
    for tensor, shape in zip(ensemble, [(17, 8), (8, 4), (8, 4), (8, 8), (8, 17)], strict=False):
        assert torch.equal(tensor[0], torch.randn(shape) * 0.2)
    assert not ensemble.bias.any()


def test_embedding_scale_changes_the_embeddings_only():
    plain = recall.draw_ensemble(2, 3, 0.5, torch.Generator().manual_seed(1))
    wide = recall.draw_ensemble(2, 3, 0.5, torch.Generator().manual_seed(1), embedding_scale=1.0)
    assert torch.equal(wide.embedding, plain.embedding * 2)
    assert all(torch.equal(a, b) for a, b in zip(plain[1:], wide[1:], strict=True))


@pytest.mark.parametrize("optimiser", [torch.optim.SGD, torch.optim.Adam])
def test_a_model_trains_among_others_as_it_does_alone(ensemble, batch, optimiser):
    together, losses = recall.train(ensemble, batch, 7, 0.1, optimiser=optimiser)
    alone, alone_losses = recall.train(
        recall.Ensemble(*(tensor[1:2] for tensor in ensemble)), batch, 7, 0.1, optimiser=optimiser
    )
    torch.testing.assert_close(losses[:, 1:2], alone_losses)
    for a, b in zip(together, alone, strict=True):
        torch.testing.assert_close(a[1:2], b)


def test_training_leaves_the_ensemble_it_was_given_unchanged(ensemble, batch):
    before = [tensor.clone() for tensor in ensemble]
    trained, _ = recall.train(ensemble, batch, 3, 0.3, optimiser=torch.optim.SGD)
    assert all(torch.equal(a, b) for a, b in zip(before, ensemble, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(before, trained, strict=True))


def test_one_step_of_gradient_descent_moves_against_a_numerical_gradient(ensemble, batch):
    trained, losses = recall.train(ensemble, batch, 1, 0.3, optimiser=torch.optim.SGD)
    tiny = 1e-6
    bumped = ensemble._replace(W_q=ensemble.W_q.clone())
    bumped.W_q[1, 2, 3] += tiny
    slope = (recall.recall_losses(recall.forward(bumped, batch)[0], batch.targets)[1] - losses[0, 1]) / tiny
    moved = trained.W_q[1, 2, 3] - ensemble.W_q[1, 2, 3]
    assert moved.item() == pytest.approx(-0.3 * slope.item(), rel=1e-3)


def test_leaving_the_scale_out_is_a_larger_start_and_a_larger_step(ensemble, batch):
    settings = {"updates": 5, "lr": 0.1, "optimiser": torch.optim.SGD}
    _, unscaled = recall.train(ensemble, batch, score_scale=1.0, **settings)
    larger = ensemble._replace(W_q=ensemble.W_q * D_K**0.25, W_k=ensemble.W_k * D_K**0.25)
    _, scaled = recall.train(larger, batch, query_key_lr=0.1 * math.sqrt(D_K), **settings)
    torch.testing.assert_close(unscaled, scaled)


def test_a_hand_built_model_is_solved_and_a_blank_one_is_not():
    validation = recall.make_batch(*recall.validation_examples())
    blank = recall.Ensemble(*(tensor * 0 for tensor in recall.draw_ensemble(1, 2, 1.0, torch.Generator())))
    built = recall.Ensemble(*(tensor.clone() for tensor in blank))
    for flag, colour in enumerate(recall.COLOURS):
        built.embedding[0, recall.VOCABULARY[colour], flag] = 1
        built.W_k[0, flag, 0] = 1
        built.W_v[0, flag, flag] = 1
        built.W_out[0, flag, recall.VOCABULARY[colour]] = 1
    built.embedding[0, recall.VOCABULARY["wear"], 3] = 1
    built.W_q[0, 3, 0] = 20
    assert recall.solved(built, validation).tolist() == [True]
    assert recall.solved(blank, validation).tolist() == [False]


def test_an_ensemble_without_models_is_refused():
    with pytest.raises(ValueError, match="models"):
        recall.draw_ensemble(0, 4, 0.2, torch.Generator())
