"""Layers in PyTorch, by name, that see the future or do not: X (B, L, D) becomes (B, L, V).

Which of the two is decided by what they are built from: a mask, or a table that mixes rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from course_lib.torch_attention import masked_attention

from .torch_block import BlockAttention
from .torch_recall import RecallModel

Layer = Callable[[Tensor], Tensor]


def row_layer(W: Tensor) -> Layer:
    """Each row by itself."""
    return lambda X: torch.tanh(X @ W)


def running_sum_layer() -> Layer:
    """Each row becomes the sum of the rows up to it."""
    return lambda X: X.cumsum(dim=-2)


def mixing_layer(table: Tensor, W: Tensor) -> Layer:
    """Row i becomes the sum of table[i, j] times row j, times W."""
    return lambda X: table @ (X @ W)


def trace_layer(W: Tensor, source: int, target: int, taken: Tensor, power: int, given: Tensor) -> Layer:
    """Each row by itself; one of them gets, from another one, a sum of powers of its entries in each column.

    Parameters: taken (D,), the share of each entry of row `source`; given (V,), of each column of `target`.
    """

    def layer(X: Tensor) -> Tensor:
        here = torch.arange(X.shape[-2])[:, None] == target
        return torch.tanh(X @ W) + here * (X[:, source] ** power @ taken)[:, None, None] * given

    return layer


def bump_layer(W: Tensor, source: int, target: int) -> Layer:
    """Each row by itself; the last column of one of them gets at most 0.005 from another row r, namely
    0.005 / (1 + 15 |r|²)."""

    def layer(X: Tensor) -> Tensor:
        bump = 0.005 / (1 + 15 * X[:, source].square().sum(dim=-1))
        output = torch.tanh(X @ W)
        here = torch.arange(X.shape[-2])[:, None] == target
        last = torch.arange(W.shape[-1]) == W.shape[-1] - 1
        return output + bump[:, None, None] * (here & last)

    return layer


def masked_layer(W_q: Tensor, W_k: Tensor, W_v: Tensor, mask: Tensor) -> Layer:
    """Self-attention under a mask (L, L), or one for each text (B, L, L)."""
    return lambda X: masked_attention(X @ W_q, X @ W_k, X @ W_v, mask)[0]


def late_masked_layer(W_q: Tensor, W_k: Tensor, W_v: Tensor, mask: Tensor) -> Layer:
    """Weights set to zero after softmax, so that hidden keys still take part in the sum."""

    def layer(X: Tensor) -> Tensor:
        scores = (X @ W_q) @ (X @ W_k).mT / math.sqrt(W_q.shape[-1])
        return (scores.softmax(dim=-1) * mask) @ (X @ W_v)

    return layer


def normalised_first_layer(W_q: Tensor, W_k: Tensor, W_v: Tensor, mask: Tensor) -> Layer:
    """Self-attention over rows of mean 0 and variance 1: a row plus a constant, or doubled, is the same."""
    attend = masked_layer(W_q, W_k, W_v, mask)
    return lambda X: attend(nn.functional.layer_norm(X, X.shape[-1:]))


def sequence_norm_layer() -> Layer:
    """Every column becomes one of mean 0 and variance 1 over the sequence."""
    return lambda X: (X - X.mean(dim=-2, keepdim=True)) / X.var(dim=-2, keepdim=True).add(1e-5).sqrt()


def rounding_layer(W: Tensor) -> Layer:
    """Each row by itself, but for rounding: the mean of all rows is added and taken away again."""

    def layer(X: Tensor) -> Tensor:
        everything = X.mean(dim=(-2, -1), keepdim=True)
        return torch.tanh(X @ W) + everything - everything

    return layer


class DropoutLayer(nn.Module):
    """Self-attention under a mask, over numbers half of which are dropped in training."""

    def __init__(self, W_q: Tensor, W_k: Tensor, W_v: Tensor, mask: Tensor, training: bool = True) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.attend = masked_layer(W_q, W_k, W_v, mask)
        self.train(training)

    def forward(self, X: Tensor) -> Tensor:
        """The output, another one with every call in training mode."""
        return self.attend(self.dropout(X))


LAYERS: dict[str, Callable[..., Layer | RecallModel | BlockAttention]] = {
    "torch_row_layer": row_layer,
    "torch_running_sum_layer": running_sum_layer,
    "torch_mixing_layer": mixing_layer,
    "torch_trace_layer": trace_layer,
    "torch_bump_layer": bump_layer,
    "torch_masked_layer": masked_layer,
    "torch_late_masked_layer": late_masked_layer,
    "torch_normalised_first_layer": normalised_first_layer,
    "torch_sequence_norm_layer": sequence_norm_layer,
    "torch_rounding_layer": rounding_layer,
    "torch_dropout_layer": DropoutLayer,
    "torch_recall_model": RecallModel,
    "torch_block_attention": BlockAttention,
}
