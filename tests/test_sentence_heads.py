"""The wide hand-built sentence: what each slice finds, and what the full width shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course_lib import sentence, sentence_heads
from course_lib.heads import split_heads


def slices(num_heads, same_word=sentence_heads.SAME_WORD):
    """Weights (H, L, L) of the sentence cut into slices."""
    Q, K = (
        torch.tensor(sentence_heads.EMBEDDINGS @ matrix)[None]
        for matrix in sentence_heads.matrices(same_word)
    )
    Q_HLW, K_HLW = split_heads(Q, num_heads)[0], split_heads(K, num_heads)[0]
    return (Q_HLW @ K_HLW.mT / Q_HLW.shape[-1] ** 0.5).softmax(dim=-1).numpy()


def test_embeddings_hold_the_name_and_the_features_of_chapter_2():
    assert sentence_heads.EMBEDDINGS.shape == (8, 14) == (8, len(sentence_heads.FEATURES))
    assert np.array_equal(sentence_heads.EMBEDDINGS[:, 7:], sentence.EMBEDDINGS)
    assert np.array_equal(sentence_heads.EMBEDDINGS[:, :7].sum(axis=1), np.ones(8))


def test_first_of_four_slices_finds_identical_words():
    weights = slices(4)[0]
    for i, query in enumerate(sentence.TOKENS):
        same = [token == query for token in sentence.TOKENS]
        assert weights[i, same].sum() > 0.99
        assert np.ptp(weights[i, same]) < 1e-12


@pytest.mark.parametrize(
    ("head", "query", "found"),
    [(1, 7, [1]), (1, 6, [2]), (2, 2, [1, 5]), (2, 3, [1, 5]), (3, 0, [1, 5]), (3, 4, [1, 5]), (3, 1, [2])],
)
def test_other_slices_find_what_their_reason_says(head, query, found):
    assert slices(4)[head, query, found].sum() > 0.85


def test_a_slice_with_nothing_to_ask_is_uniform():
    assert np.allclose(slices(4)[1, :6], 1 / 8)


def test_it_finds_cat_in_its_slice_and_not_in_the_full_width():
    assert slices(4)[1, 7, 1].round(2) == 0.94
    assert slices(1)[0, 7, 1].round(2) == 0.04
    assert slices(1)[0, 7].argmax() == 7


@pytest.mark.parametrize("num_heads", [1, 2, 4, 8])
def test_rows_sum_to_one_and_slices_differ(num_heads):
    weights = slices(num_heads)
    assert np.allclose(weights.sum(axis=-1), 1)
    assert len({table.round(6).tobytes() for table in weights}) == num_heads


def test_without_the_first_reason_the_full_width_finds_cat():
    assert slices(1, same_word=0)[0, 7].argmax() == 1


def test_shared_arrays_are_protected():
    for shared in (sentence_heads.EMBEDDINGS, sentence_heads.W_Q, sentence_heads.W_K):
        with pytest.raises(ValueError, match="read-only"):
            shared[0, 0] = 1


def test_a_negative_strength_is_refused():
    with pytest.raises(ValueError, match="same_word: expected a number of 0 or more, got -1"):
        sentence_heads.matrices(-1)
