from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from course_lib import attention, next_token
from course_lib.recall import TOKENS, VOCABULARY
from course_lib.torch_attention import causal_mask

MODELS, D_MODEL, D_K = 3, 7, 5


@pytest.fixture(scope="module")
def texts():
    return next_token.make_texts(next_token.colour_texts())


@pytest.fixture
def models():
    generator = torch.Generator().manual_seed(4)
    drawn = next_token.draw_models(MODELS, 0.7, generator, d_model=D_MODEL, d_k=D_K)
    return drawn._replace(bias=torch.randn(drawn.bias.shape, generator=generator, dtype=torch.float64))


@pytest.fixture(scope="module")
def trained(texts):
    """Five models that know the nine texts, colour recall included in most of them."""
    start = next_token.draw_models(5, 0.4, torch.Generator().manual_seed(0))
    return next_token.train(start, texts, causal_mask(17), updates=150, lr=0.02)


def logits_in_numpy(models, model, tokens, mask, residual):
    """The same layer by the course's own NumPy formulas, for one model and one text."""
    embedding, positions, W_q, W_k, W_v, W_o, W_out, bias = (tensor[model].numpy() for tensor in models)
    X = embedding[tokens] + positions[: len(tokens)]
    Z, weights = attention.self_attention(X, W_q, W_k, W_v, mask)
    return ((X + Z @ W_o) if residual else Z) @ W_out + bias, weights


def test_texts_are_the_recall_texts_with_answer_and_full_stop():
    texts = next_token.colour_texts()
    assert len(set(texts)) == 9
    assert {text.split()[-1] for text in texts} == {"."}
    assert all(text.split()[4] == text.split()[-2] for text in texts)


def test_there_are_132_targets_and_each_is_the_token_after_its_input(texts):
    assert int(texts.real.sum()) == 132
    for row, text in enumerate(next_token.colour_texts()):
        ids = [VOCABULARY[token] for token in text.split()]
        length = len(ids) - 1
        assert texts.inputs[row, :length].tolist() == ids[:-1]
        assert texts.targets[row, :length].tolist() == ids[1:]
        assert texts.real[row].tolist() == [True] * length + [False] * (17 - length)


@pytest.mark.parametrize("bad", [[], ["So"], ["So the", "wear"]])
def test_texts_without_a_next_token_are_refused(bad):
    with pytest.raises(ValueError, match="texts: expected"):
        next_token.make_texts(bad)


def test_the_floor_of_nine_equally_likely_texts_is_9_ln_9_over_132(texts):
    assert math.isclose(next_token.entropy_floor(texts), 9 * math.log(9) / 132)


def test_the_floor_counts_each_prefix_as_often_as_it_occurs():
    texts = next_token.make_texts(["The team is", "The team is", "The game is"])
    expected = -(2 * math.log(2 / 3) + math.log(1 / 3)) / 6
    assert math.isclose(next_token.entropy_floor(texts), expected)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("diagonal", [-1, 0, 1])
def test_every_model_agrees_with_the_course_formulas_on_every_text(models, texts, diagonal, residual):
    mask = torch.ones(17, 17, dtype=torch.bool).tril(diagonal)
    logits, weights = next_token.forward(
        models, texts.inputs, mask & texts.real[:, None, :], residual=residual
    )
    for model in range(MODELS):
        for row, length in enumerate(texts.real.sum(dim=1).tolist()):
            tokens = texts.inputs[row, :length].numpy()
            expected, expected_weights = logits_in_numpy(
                models, model, tokens, mask[:length, :length].numpy(), residual
            )
            np.testing.assert_allclose(logits[model, row, :length].numpy(), expected, atol=1e-10)
            found = weights[model, row, :length]
            np.testing.assert_allclose(found[:, :length].numpy(), expected_weights, atol=1e-10)
            assert not found[:, length:].any()


def test_losses_average_over_real_targets_only(models, texts):
    losses = next_token.text_losses(models, texts, causal_mask(17))
    for model in range(MODELS):
        total = 0.0
        for row, length in enumerate(texts.real.sum(dim=1).tolist()):
            tokens = texts.inputs[row, :length].numpy()
            logits, _ = logits_in_numpy(models, model, tokens, np.tri(length, dtype=bool), True)
            probabilities = attention.softmax(logits)
            targets = texts.targets[row, :length].numpy()
            total -= np.log(probabilities[np.arange(length), targets]).sum()
        assert math.isclose(losses[model], total / 132, rel_tol=1e-10)


def test_models_may_read_texts_of_their_own(models, texts):
    own = torch.stack([texts.inputs[:2], texts.inputs[2:4], texts.inputs[4:6]])
    logits, _ = next_token.forward(models, own, causal_mask(17))
    for model in range(MODELS):
        shared, _ = next_token.forward(models, own[model], causal_mask(17))
        torch.testing.assert_close(logits[model], shared[model])


def test_a_text_longer_than_the_positions_is_refused(models):
    with pytest.raises(ValueError, match="ids: expected at most 20 tokens"):
        next_token.forward(models, torch.zeros(1, 21, dtype=torch.long), causal_mask(21))


def test_drawing_needs_a_model():
    with pytest.raises(ValueError, match="models, d_model, d_k: expected 1 or more"):
        next_token.draw_models(0, 0.4, torch.Generator())


def test_training_together_is_training_alone(models, texts):
    together, losses = next_token.train(models, texts, causal_mask(17), updates=3, lr=0.02)
    for model in range(MODELS):
        one = next_token.Models(*(tensor[model : model + 1] for tensor in models))
        alone, own_losses = next_token.train(one, texts, causal_mask(17), updates=3, lr=0.02)
        torch.testing.assert_close(losses[:, model : model + 1], own_losses)
        for tensor, expected in zip(together, alone, strict=True):
            torch.testing.assert_close(tensor[model : model + 1], expected)


def test_losses_are_those_before_each_update_and_the_start_is_not_changed(models, texts):
    copies = [tensor.clone() for tensor in models]
    _, losses = next_token.train(models, texts, causal_mask(17), updates=2, lr=0.02)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(models, copies, strict=True))
    torch.testing.assert_close(losses[0], next_token.text_losses(models, texts, causal_mask(17)))


def test_under_the_right_mask_no_loss_falls_below_the_floor(trained, texts):
    _, losses = trained
    floor = next_token.entropy_floor(texts)
    assert (losses > floor).all()
    assert losses[-1].median() < floor + 0.02


def test_without_a_mask_the_loss_falls_below_the_floor(texts):
    start = next_token.draw_models(3, 0.4, torch.Generator().manual_seed(0))
    _, losses = next_token.train(start, texts, torch.ones(17, 17, dtype=torch.bool), updates=60, lr=0.02)
    assert (losses[-1] < next_token.entropy_floor(texts) / 2).all()


def test_each_written_token_is_the_one_that_the_draw_picks(models):
    start = torch.tensor([[VOCABULARY["The"]], [VOCABULARY["So"]]])
    draws = torch.rand(MODELS, 2, 4, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    ids = next_token.write(models, start, causal_mask(17), 5, draws)
    assert ids.shape == (MODELS, 2, 5)
    for model, row, step in np.ndindex(MODELS, 2, 4):
        read = ids[model, row, : step + 1].numpy()
        logits, _ = logits_in_numpy(models, model, read, np.tri(step + 1, dtype=bool), True)
        summed = attention.softmax(logits)[-1].cumsum()
        draw, token = float(draws[model, row, step]), int(ids[model, row, step + 1])
        assert (summed[token - 1] if token else 0.0) <= draw < summed[token]


def test_a_model_with_the_right_mask_writes_the_texts_it_was_trained_on(trained):
    models, _ = trained
    draws = torch.rand(5, 11, 17, generator=torch.Generator().manual_seed(6))
    ids = next_token.write(
        models, torch.zeros(1, 1, dtype=torch.long).expand(11, 1), causal_mask(17), 18, draws
    )
    written = [" ".join(TOKENS[token] for token in text) for text in ids.flatten(0, 1).tolist()]
    known = [any(text.startswith(each) for each in next_token.colour_texts()) for text in written]
    assert np.mean(known) > 0.5
