"""The hand-built sentence: what its projections claim, and that nobody can change it by accident."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import sentence
from course_lib.attention import scores, self_attention


@pytest.fixture
def weights() -> np.ndarray:
    return self_attention(sentence.EMBEDDINGS, sentence.W_Q, sentence.W_K, sentence.W_V)[1]


def test_the_sentence_has_eight_tokens_at_positions_0_to_7() -> None:
    assert " ".join(sentence.TOKENS) == "the cat sat on the mat because it"
    assert sentence.LABELS[0] == "the 0"
    assert sentence.LABELS[7] == "it 7"


def test_length_and_widths_are_all_different() -> None:
    sizes = [*sentence.EMBEDDINGS.shape, sentence.W_Q.shape[1], sentence.W_V.shape[1]]
    assert len(set(sizes)) == len(sizes) == 4
    assert sentence.W_K.shape == sentence.W_Q.shape


def test_weights_agree_with_exponentials_written_out_by_hand(weights: np.ndarray) -> None:
    thing_and_living, one_match = np.exp(8 / np.sqrt(3)), np.exp(4 / np.sqrt(3))
    expected = np.array([1, thing_and_living, 1, 1, 1, one_match, 1, 1])
    np.testing.assert_allclose(weights[7], expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("query", "key"), [("it", "cat"), ("cat", "sat"), ("mat", "sat"), ("sat", "cat"), ("because", "sat")]
)
def test_each_word_finds_what_it_looks_for(query: str, key: str, weights: np.ndarray) -> None:
    row = weights[sentence.TOKENS.index(query)]
    assert np.flatnonzero(row == row.max()).tolist() == [sentence.TOKENS.index(key)]


@pytest.mark.parametrize("query", [0, 3, 4])
def test_articles_and_prepositions_share_their_weight_among_nouns(query: int, weights: np.ndarray) -> None:
    assert weights[query, 1] == weights[query, 5] > 0.3


def test_it_finds_cat_without_cat_finding_it(weights: np.ndarray) -> None:
    assert weights[7, 1] > 0.8
    assert weights[1, 7] < 0.1
    table = scores(sentence.EMBEDDINGS @ sentence.W_Q, sentence.EMBEDDINGS @ sentence.W_K)
    assert table[7, 1] > 4
    assert table[1, 7] == 0


def test_no_weight_is_saturated(weights: np.ndarray) -> None:
    assert weights.max() < 0.9


def test_cat_hands_over_an_animal_and_mat_an_object() -> None:
    values = sentence.embed(["cat", "mat"]) @ sentence.W_V
    assert values.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize("name", ["EMBEDDINGS", "W_Q", "W_K", "W_V"])
def test_shared_arrays_refuse_to_be_changed(name: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        getattr(sentence, name)[0, 0] = 9.0


def test_an_unknown_word_is_named_with_its_position() -> None:
    with pytest.raises(ValueError, match="'dog' at position 1"):
        sentence.embed(["the", "dog"])


@pytest.mark.parametrize("rules", [{"colour": {"thing": 1}}, {"noun": {"colour": 1}}])
def test_an_unknown_feature_or_column_is_refused(rules: dict) -> None:
    with pytest.raises(ValueError, match="colour"):
        sentence.projection(rules, sentence.MATCHES)


def test_no_words_give_a_table_without_rows() -> None:
    assert sentence.embed([]).shape == (0, 7)
