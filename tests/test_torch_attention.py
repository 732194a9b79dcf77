from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from course_lib import attention
from course_lib.torch_attention import causal_mask, masked_attention, masked_softmax, padding_mask

B, H, L, M, K, V = 2, 3, 5, 7, 11, 13
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}  # rounding of sums over at most 11 products
each_dtype = pytest.mark.parametrize("dtype", TOLERANCES)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def random_mask(*shape, seed=1):
    """A mask in which every row allows something."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., 0] |= ~mask.any(dim=-1)
    return mask


def tables(dtype):
    return tuple(
        normal(B, H, *shape, dtype=dtype, seed=seed)
        for seed, shape in enumerate([(L, K), (M, K), (M, V)], start=2)
    )


@st.composite
def scores_and_masks(draw):
    """Scores of any size with any mask, empty rows and all-hidden tables included."""
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(1, 7)))
    seed = draw(st.integers(0, 2**31))
    size = draw(st.sampled_from([0.0, 1.0, 100.0, 1e4]))
    share = draw(st.sampled_from([0.0, 0.3, 0.8, 1.0]))
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(shape, generator=generator, dtype=torch.float64) * size
    return scores, torch.rand(shape, generator=generator) < share


# masks


def test_a_causal_mask_is_the_lower_triangle_with_its_diagonal():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_causal_mask_agrees_with_the_one_in_numpy():
    np.testing.assert_array_equal(causal_mask(L).numpy(), attention.causal_mask(L))


def test_the_last_row_of_a_causal_mask_allows_every_key():
    assert causal_mask(L)[-1].all()


@pytest.mark.parametrize(
    "lengths", [[2, 0, 3], torch.tensor([2, 0, 3]), torch.tensor([2, 0, 3], dtype=torch.int32)]
)
def test_a_padding_mask_marks_the_places_that_hold_a_token(lengths):
    expected = [[True, True, False], [False, False, False], [True, True, True]]
    assert padding_mask(lengths, 3).tolist() == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(9, 12))
def test_rows_of_a_padding_mask_count_the_lengths(lengths, max_length):
    mask = padding_mask(lengths, max_length)
    assert mask.shape == (len(lengths), max_length)
    assert mask.sum(dim=1).tolist() == lengths
    assert (mask[:, :-1] >= mask[:, 1:]).all()  # padded on the right


@pytest.mark.parametrize("lengths", [[4], [-1], [1.5], [[1]], [True]])
def test_impossible_lengths_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths: expected"):
        padding_mask(lengths, 3)


def test_a_length_of_zero_is_refused():
    with pytest.raises(ValueError, match="length: expected 1 or more, got 0"):
        causal_mask(0)


# softmax


@each_dtype
def test_the_answer_at_wear_is_hidden(dtype):
    scores = torch.tensor([[0.0, 0.0, 2.0]], dtype=dtype)
    weights = masked_softmax(scores, torch.tensor([True, True, False]))
    assert weights.tolist() == [[0.5, 0.5, 0.0]]
    assert weights.dtype == dtype


@each_dtype
def test_weights_are_those_of_softmax_over_the_allowed_scores_alone(dtype):
    scores, mask = normal(B, L, M, dtype=dtype), random_mask(B, L, M)
    weights = masked_softmax(scores, mask)
    for index in np.ndindex(B, L):
        allowed = mask[index]
        expected = torch.softmax(scores[index][allowed], dim=0)
        torch.testing.assert_close(weights[index][allowed], expected)
        assert not weights[index][~allowed].any()


@given(scores_and_masks())
def test_rows_sum_to_one_or_to_zero_where_nothing_is_allowed(case):
    weights = masked_softmax(*case)
    expected = case[1].any(dim=-1).double()
    torch.testing.assert_close(weights.sum(dim=-1), expected, atol=1e-12, rtol=0)
    assert (weights >= 0).all()
    assert not weights[~case[1]].any()


@given(scores_and_masks())
def test_weights_agree_with_the_formula_in_numpy(case):
    expected = attention.softmax(case[0].numpy(), case[1].numpy())
    np.testing.assert_allclose(masked_softmax(*case).numpy(), expected, atol=1e-12)


@given(scores_and_masks(), st.sampled_from([1e9, -1e9, math.inf, math.nan]))
def test_what_a_hidden_score_holds_changes_nothing(case, anything):
    scores, mask = case
    replaced = torch.where(mask, scores, anything)
    assert torch.equal(masked_softmax(replaced, mask), masked_softmax(scores, mask))


@given(scores_and_masks())
def test_gradients_are_finite_and_zero_where_hidden(case):
    scores, mask = case[0].clone().requires_grad_(), case[1]
    (masked_softmax(scores, mask) ** 2).sum().backward()
    assert scores.grad.isfinite().all()
    assert not scores.grad[~mask].any()


@each_dtype
def test_an_empty_row_has_weights_and_gradient_of_zero(dtype):
    scores = normal(L, M, dtype=dtype).requires_grad_()
    mask = random_mask(L, M)
    mask[3] = False
    weights = masked_softmax(scores, mask)
    (weights * normal(L, M, dtype=dtype, seed=5)).sum().backward()
    assert not weights[3].any()
    assert not scores.grad[3].any()
    assert scores.grad[2].any()


def test_plain_softmax_would_give_nan_on_an_empty_row():
    assert torch.full((1, M), -torch.inf).softmax(dim=-1).isnan().all()


def test_gradients_agree_with_finite_differences():
    mask = random_mask(L, M)
    mask[1] = False
    scores = normal(L, M).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: masked_softmax(s, mask), scores)


def test_a_mask_broadcasts_over_batch_heads_and_queries():
    scores, mask = normal(B, H, L, M), padding_mask([3, 6], M)
    weights = masked_softmax(scores, mask[:, None, None, :])
    full = mask[:, None, None, :].expand(B, H, L, M)
    assert torch.equal(weights, masked_softmax(scores, full))


@pytest.mark.parametrize(
    ("scores", "mask", "name"),
    [
        (torch.zeros(L, M), torch.ones(L, M), "mask"),
        (torch.zeros(L, M), torch.ones(M, L, dtype=torch.bool), "mask"),
        (torch.zeros(L, M), torch.ones(B, L, M, dtype=torch.bool), "mask"),
        (torch.zeros(L, M, dtype=torch.long), torch.ones(L, M, dtype=torch.bool), "scores"),
    ],
)
def test_masks_that_are_not_boolean_or_do_not_fit_are_refused(scores, mask, name):
    with pytest.raises(ValueError, match=f"{name}: expected"):
        masked_softmax(scores, mask)


# attention


@each_dtype
@pytest.mark.parametrize("masked", [False, True])
def test_attention_agrees_with_pytorch(dtype, masked):
    Q, K_, V_ = tables(dtype)
    mask = random_mask(B, 1, L, M) if masked else None
    output, weights = masked_attention(Q, K_, V_, mask)
    expected = functional.scaled_dot_product_attention(Q, K_, V_, attn_mask=mask)
    torch.testing.assert_close(output, expected, atol=TOLERANCES[dtype], rtol=TOLERANCES[dtype])
    assert output.shape == (B, H, L, V)
    assert weights.shape == (B, H, L, M)


@each_dtype
def test_causal_attention_agrees_with_pytorch(dtype):
    Q, _, _ = tables(dtype)
    V_ = normal(B, H, L, V, dtype=dtype, seed=9)
    output, _ = masked_attention(Q, Q, V_, causal_mask(L))
    expected = functional.scaled_dot_product_attention(Q, Q, V_, is_causal=True)
    torch.testing.assert_close(output, expected, atol=TOLERANCES[dtype], rtol=TOLERANCES[dtype])


def test_attention_agrees_with_the_formula_in_numpy():
    Q, K_, V_ = tables(torch.float64)
    mask = random_mask(L, M)
    mask[2] = False
    found = masked_attention(Q, K_, V_, mask)
    expected = attention.attention(Q.numpy(), K_.numpy(), V_.numpy(), mask.numpy())
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, atol=1e-12)


def test_causal_outputs_ignore_later_tokens():
    X = normal(B, L, K)
    before, _ = masked_attention(X, X, X, causal_mask(L))
    for token in range(L):
        changed = X.clone()
        changed[:, token] += 3.0
        after, _ = masked_attention(changed, changed, changed, causal_mask(L))
        assert torch.equal(after[:, :token], before[:, :token])
        assert not torch.equal(after[:, token:], before[:, token:])


def test_the_last_row_is_the_same_with_and_without_the_causal_mask():
    X = normal(B, L, K)
    masked, plain = (masked_attention(X, X, X, mask)[0] for mask in (causal_mask(L), None))
    torch.testing.assert_close(masked[:, -1], plain[:, -1])


def test_what_stands_in_the_padding_changes_nothing():
    Q, K_, V_ = tables(torch.float64)
    real = padding_mask([3, 6], M)
    output, _ = masked_attention(Q, K_, V_, real[:, None, None, :])
    padding = ~real[:, None, :, None]
    other = masked_attention(
        Q, K_.masked_fill(padding, 1e3), V_.masked_fill(padding, -1e3), real[:, None, None, :]
    )
    assert torch.equal(other[0], output)


def test_an_empty_row_has_an_output_of_zero_and_sends_no_gradient():
    Q, K_, V_ = (table.requires_grad_() for table in tables(torch.float64))
    mask = torch.ones(L, M, dtype=torch.bool)
    mask[4] = False
    output, _ = masked_attention(Q, K_, V_, mask)
    output.square().sum().backward()
    assert not output[..., 4, :].any()
    assert not Q.grad[..., 4, :].any()
    for table in (Q, K_, V_):
        assert table.grad.isfinite().all()


def test_inputs_are_not_changed():
    originals = tables(torch.float32)
    copies = [table.clone() for table in originals]
    mask = random_mask(L, M)
    masked_attention(*originals, mask)
    assert all(torch.equal(table, copy) for table, copy in zip(originals, copies, strict=True))
    assert torch.equal(mask, random_mask(L, M))


@pytest.mark.parametrize(
    ("shapes", "name"), [([(L, K), (M, K + 1), (M, V)], "K"), ([(L, K), (M, K), (L, V)], "V")]
)
def test_tables_that_do_not_fit_are_refused(shapes, name):
    with pytest.raises(ValueError, match=f"{name}: expected"):
        masked_attention(*(torch.zeros(shape) for shape in shapes))
