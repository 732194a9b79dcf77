"""Counting what PyTorch does: hand values, and the formulas of the course against a real layer."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_lib import costs, heads


def explicit(Q, K, V):
    return (Q @ K.mT / Q.shape[-1] ** 0.5).softmax(dim=-1) @ V


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_matrix_product_costs_rows_times_inner_times_columns(device):
    a, b = torch.zeros(2, 3, 5, device=device), torch.zeros(2, 5, 7, device=device)
    assert costs.count_multiply_adds(torch.matmul, a, b) == 2 * 3 * 5 * 7


@pytest.mark.parametrize("num_heads", [1, 3, 5])
def test_a_layer_does_the_multiply_adds_of_the_formula_whatever_the_number_of_heads(num_heads):
    layer, X = heads.MultiHeadAttention(15, num_heads).to("meta"), torch.zeros(2, 7, 15, device="meta")
    assert costs.count_multiply_adds(layer, X) == 2 * sum(heads.multiply_adds(7, 7, 15))


def test_bytes_are_those_of_new_memory_alive_at_the_same_time():
    x = torch.zeros(3, 5, dtype=torch.float64)

    def chain():
        first = x + 1  # 120 bytes
        second = first.repeat(2, 1)  # 240 bytes, with the first still alive
        del first
        return second.float()  # 120 bytes

    assert costs.count_bytes(chain) == (240, 360)


def test_views_and_changes_in_place_take_no_new_memory():
    x = torch.zeros(3, 5)
    assert costs.count_bytes(lambda: x.T.unflatten(0, (1, 5)).add_(1)) == (0, 0)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("num_heads", [2, 3])
def test_explicit_attention_holds_tables_of_weight_bytes(device, num_heads):
    Q, K, V = torch.zeros(3, 1, num_heads, 50, 5, device=device)
    counted = costs.count_bytes(explicit, Q, K, V)
    assert counted.largest == heads.weight_bytes(50, num_heads)
    assert counted.peak == 2 * counted.largest


def test_fused_attention_never_holds_the_table():
    Q, K, V = torch.randn(3, 1, 2, 300, 8, generator=torch.Generator().manual_seed(0))
    counted = costs.count_bytes(scaled_dot_product_attention, Q, K, V)
    assert Q.nbytes <= counted.peak < heads.weight_bytes(300, 2) / 10


def test_a_tensor_made_inside_is_booked_once_when_it_is_only_looked_at_again():
    x = torch.zeros(6)
    assert costs.count_bytes(lambda: (x + 1).reshape(2, 3).T) == (24, 24)
