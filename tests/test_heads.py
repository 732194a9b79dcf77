"""Several heads: hand values, a slow loop, PyTorch's own module, and what must hold for all sizes."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_lib import heads
from course_lib.torch_attention import causal_mask

B, H, L, W = 2, 3, 7, 5
D = H * W
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def drawn(dtype=torch.float64, seed=0):
    """X (B, L, D) and the four matrices (D, D)."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(B, L, D, generator=generator, dtype=dtype)
    return X, [torch.randn(D, D, generator=generator, dtype=dtype) / math.sqrt(D) for _ in range(4)]


def by_loop(X, W_q, W_k, W_v, W_o, num_heads, allowed=None):
    """The definition, one text, one head, one query at a time."""
    width = X.shape[-1] // num_heads
    outputs, tables = torch.zeros_like(X), X.new_zeros(len(X), num_heads, X.shape[1], X.shape[1])
    for b, rows in enumerate(X):
        for h in range(num_heads):
            columns = slice(h * width, (h + 1) * width)
            for i, row in enumerate(rows):
                keys = [j for j in range(len(rows)) if allowed is None or allowed[b][i][j]]
                query = row @ W_q[:, columns]
                powers = [math.exp(query @ (rows[j] @ W_k[:, columns]) / math.sqrt(width)) for j in keys]
                for j, power in zip(keys, powers, strict=True):
                    tables[b, h, i, j] = power / sum(powers)
                    outputs[b, i, columns] += tables[b, h, i, j] * (rows[j] @ W_v[:, columns])
    return outputs @ W_o, tables


def test_split_gives_head_h_the_columns_of_its_slice():
    X = torch.arange(B * L * D).reshape(B, L, D)
    split = heads.split_heads(X, H)
    assert split.shape == (B, H, L, W)
    for h in range(H):
        assert torch.equal(split[:, h], X[:, :, h * W : (h + 1) * W])


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
def test_join_undoes_split(batch, num_heads, length, width):
    X = torch.arange(batch * length * num_heads * width).reshape(batch, length, num_heads * width)
    assert torch.equal(heads.join_heads(heads.split_heads(X, num_heads)), X)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("num_heads", [1, H, W])
def test_all_heads_at_once_are_what_the_loop_gives(dtype, num_heads):
    X, matrices = drawn(dtype)
    output, weights = heads.multi_head_attention(X, *matrices, num_heads)
    expected_output, expected_weights = by_loop(X, *matrices, num_heads)
    assert output.dtype == weights.dtype == dtype
    torch.testing.assert_close(output, expected_output, rtol=0, atol=10 * TOLERANCE[dtype])
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("masked", [False, True])
def test_pytorchs_module_with_the_same_weights_gives_the_same(dtype, masked):
    X, matrices = drawn(dtype)
    theirs = nn.MultiheadAttention(D, H, bias=False, batch_first=True, dtype=dtype)
    ours = heads.MultiHeadAttention(D, H).to(dtype)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([matrix.T for matrix in matrices[:3]]))
        theirs.out_proj.weight.copy_(matrices[3].T)
        for linear, matrix in zip((ours.W_q, ours.W_k, ours.W_v, ours.W_o), matrices, strict=True):
            linear.weight.copy_(matrix.T)
        allowed = causal_mask(L) if masked else None
        forbidden = ~allowed if masked else None  # in their masks, True means "may not attend"
        expected, tables = theirs(X, X, X, attn_mask=forbidden, average_attn_weights=False)
        output, weights = ours(X, allowed)
    torch.testing.assert_close(output, expected, rtol=0, atol=10 * TOLERANCE[dtype])
    torch.testing.assert_close(weights, tables, rtol=0, atol=TOLERANCE[dtype])


def test_two_heads_by_hand():
    X = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    eye = torch.eye(2)
    output, weights = heads.multi_head_attention(
        X, math.log(3) * eye, eye, eye, torch.tensor([[0, 1], [5, 0.0]]), 2
    )
    assert weights[0, 0].tolist() == [pytest.approx([3 / 4, 1 / 4]), pytest.approx([1 / 2, 1 / 2])]
    assert weights[0, 1].tolist() == [pytest.approx([1 / 2, 1 / 2]), pytest.approx([1 / 82, 81 / 82])]
    assert output[0, 0].tolist() == pytest.approx([5 * 1.0, 3 / 4])


@pytest.mark.parametrize(
    "shape", [(L, L), (1, L, L), (B, L, L), (B, 1, L), (1, 1, L), (L,)], ids=lambda shape: str(shape)
)
def test_a_mask_of_any_allowed_shape_is_shared_by_all_heads(shape):
    X, matrices = drawn()
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[..., 0] = True
    output, weights = heads.multi_head_attention(X, *matrices, H, mask)
    expected_output, expected_weights = by_loop(X, *matrices, H, mask.expand(B, L, L))
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(output, expected_output)


def test_a_query_that_may_see_nothing_gets_zeros_and_no_gradient():
    X, matrices = drawn()
    X.requires_grad_()
    mask = torch.ones(L, L, dtype=torch.bool)
    mask[4] = False
    output, weights = heads.multi_head_attention(X, *matrices, H, mask)
    assert not weights[:, :, 4].any()
    assert not output[:, 4].any()
    (gradient,) = torch.autograd.grad(output[:, 4].sum(), X)
    assert not gradient.any()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(L)))
def test_moving_the_rows_moves_output_rows_and_weights_along(seed, order):
    X, matrices = drawn(seed=seed)
    output, weights = heads.multi_head_attention(X, *matrices, H)
    moved_output, moved_weights = heads.multi_head_attention(X[:, order], *matrices, H)
    torch.testing.assert_close(moved_output, output[:, order])
    torch.testing.assert_close(moved_weights, weights[:, :, order][..., order])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, H, W, D]))
def test_each_row_of_each_head_sums_to_one_and_slices_add_up_to_the_full_product(seed, num_heads):
    X, (W_q, W_k, W_v, W_o) = drawn(seed=seed)
    _, weights = heads.multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(B, num_heads, L, dtype=X.dtype))
    Q, K = X @ W_q, X @ W_k
    products_BHLL = heads.split_heads(Q, num_heads) @ heads.split_heads(K, num_heads).mT
    torch.testing.assert_close(products_BHLL.sum(dim=1), Q @ K.mT)


def test_permuting_the_heads_and_the_rows_of_W_o_together_changes_nothing_but_the_order_of_weights():
    X, (W_q, W_k, W_v, W_o) = drawn()
    columns = torch.tensor([2, 0, 1])[:, None] * W + torch.arange(W)
    columns = columns.flatten()
    output, weights = heads.multi_head_attention(X, W_q, W_k, W_v, W_o, H)
    other_output, other_weights = heads.multi_head_attention(
        X, W_q[:, columns], W_k[:, columns], W_v[:, columns], W_o[columns], H
    )
    torch.testing.assert_close(other_output, output)
    torch.testing.assert_close(other_weights, weights[:, [2, 0, 1]])


def test_arguments_are_not_changed():
    X, matrices = drawn()
    mask = causal_mask(L)
    before = [each.clone() for each in (X, *matrices, mask)]
    heads.multi_head_attention(X, *matrices, H, mask)
    assert all(torch.equal(a, b) for a, b in zip(before, (X, *matrices, mask), strict=True))


@pytest.mark.parametrize("num_heads", [0, 2, -3, 4, 30])
def test_a_number_of_heads_that_does_not_divide_the_width_is_refused(num_heads):
    X, matrices = drawn()
    for call in (
        lambda: heads.split_heads(X, num_heads),
        lambda: heads.multi_head_attention(X, *matrices, num_heads),
        lambda: heads.MultiHeadAttention(D, num_heads),
        lambda: heads.count_parameters(D, num_heads),
    ):
        with pytest.raises(ValueError, match=f"num_heads: expected a number that divides the width {D}"):
            call()


def test_wrong_axes_and_masks_are_refused_by_name():
    X, matrices = drawn()
    with pytest.raises(ValueError, match="X: expected three axes"):
        heads.split_heads(X[0], H)
    with pytest.raises(ValueError, match="X: expected four axes"):
        heads.join_heads(X)
    with pytest.raises(ValueError, match="mask: expected a shape that broadcasts to"):
        heads.multi_head_attention(X, *matrices, H, torch.ones(B, L + 1, L, dtype=torch.bool))
    with pytest.raises(ValueError, match="mask: expected booleans"):
        heads.multi_head_attention(X, *matrices, H, torch.ones(L, L))


@pytest.mark.parametrize("num_heads", [1, H, W])
def test_the_module_has_as_many_parameters_as_counted_for_any_number_of_heads(num_heads):
    layer = heads.MultiHeadAttention(D, num_heads)
    assert sorted(name for name, _ in layer.named_parameters()) == [f"W_{x}.weight" for x in "koqv"]
    assert (
        sum(each.numel() for each in layer.parameters()) == heads.count_parameters(D, num_heads) == 4 * D**2
    )


def test_gradients_reach_all_four_matrices():
    X, _ = drawn(torch.float32)
    layer = heads.MultiHeadAttention(D, H)
    layer(X)[0].square().sum().backward()
    assert all(each.grad.abs().max() > 0 for each in layer.parameters())


def test_counts_by_hand():
    assert heads.multiply_adds(n=2, m=5, d_model=3) == (60, 126)
    assert heads.weight_bytes(5, num_heads=3, itemsize=8) == 600
    assert heads.weight_bytes(5, num_heads=3) == 300


@pytest.mark.parametrize("arguments", [(0, 5, 3), (2, 0, 3), (2, 5, 0)])
def test_counts_refuse_sizes_below_one(arguments):
    with pytest.raises(ValueError, match="expected 1 or more"):
        heads.multiply_adds(*arguments)
    with pytest.raises(ValueError, match="expected 1 or more"):
        heads.weight_bytes(*arguments)
