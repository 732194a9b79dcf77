"""Masked attention in PyTorch, with leading batch dimensions, gradients, and rows that see nothing.

In a mask, True means "may attend": the meaning in `scaled_dot_product_attention`, and the opposite of the one
in `nn.MultiheadAttention`. A row that may attend to nothing has weights of zero, so an output of zero, and a
gradient of zero. Dimension letters: B batch, L queries, M keys, K key width, V value width; ``...`` are
leading batch dimensions.

>>> masked_softmax(torch.tensor([[0.0, 0.0, 2.0]]), torch.tensor([[True, True, False]])).tolist()
[[0.5, 0.5, 0.0]]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def causal_mask(length: int) -> Tensor:
    """The mask of a text written from left to right: query i may attend to keys 0 to i.

    Parameters: length ≥ 1. Returns: bool (L, L), True on and below the diagonal.
    Raises: ValueError for a length below 1.

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    if length < 1:
        raise ValueError(f"length: expected 1 or more, got {length}")
    return torch.ones(length, length, dtype=torch.bool).tril()


def padding_mask(lengths: Sequence[int] | Tensor, max_length: int) -> Tensor:
    """Which places of a batch padded on the right hold a token.

    Parameters: lengths (B,), each from 0 to max_length; max_length the number of places. Returns: bool
    (B, M), True where a token stands. As a mask for attention it needs an axis for the queries: [:, None, :].
    Raises: ValueError for lengths that are not whole numbers in one row, or not from 0 to max_length.

    >>> padding_mask([2, 3], max_length=3).int().tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    counts = torch.as_tensor(lengths)
    if counts.ndim != 1 or counts.is_floating_point() or counts.dtype == torch.bool:
        raise ValueError(f"lengths: expected a list of whole numbers, got {lengths}")
    if len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= max_length:
        raise ValueError(f"lengths: expected numbers from 0 to {max_length}, got {counts.tolist()}")
    return torch.arange(max_length, device=counts.device) < counts[:, None]


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Turn the scores that the mask allows into weights: exp(s_j) / sum over allowed keys of exp(s_k).

    A hidden score takes no part, whatever it holds. An empty row is computed from zeros and then hidden like
    any other score, so that neither its weights nor its gradient pass through a softmax of nothing (NaN).

    Parameters: scores (..., L, M), floating point; mask bool, broadcastable to scores, True = may attend.
    Returns: weights (..., L, M), 0 where hidden; each row sums to 1, or to 0 where nothing is allowed.
    Raises: ValueError for scores that are no floating point numbers, and for a mask that is not boolean or
    does not broadcast.
    Source: Vaswani et al. 2017, section 3.2.3, for -inf before softmax.

    >>> masked_softmax(torch.zeros(2, 3), torch.tensor([[True, False, True], [False, False, False]])).tolist()
    [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]
    """
    if not scores.is_floating_point():
        raise ValueError(f"scores: expected floating point numbers, got {scores.dtype}")
    allowed = _allowed(mask, scores.shape)
    empty = ~allowed.any(dim=-1, keepdim=True)
    finite_row = scores.masked_fill(~allowed, -torch.inf).masked_fill(empty, 0.0)
    return finite_row.softmax(dim=-1).masked_fill(~allowed, 0.0)


def masked_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention over the keys that the mask allows: softmax(Q Kᵀ / √K) V.

    Parameters: Q (..., L, K), K (..., M, K), V (..., M, V); mask bool, broadcastable to (..., L, M),
    True = may attend; None allows every pair. Returns: output (..., L, V), weights (..., L, M).
    Raises: ValueError for a K of another width than Q, a V without one row per key, and as `masked_softmax`.
    Source: Vaswani et al. 2017, equation 1 and section 3.2.3.

    >>> keys, values = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[2.0], [4.0]])
    >>> masked_attention(torch.zeros(1, 2), keys, values, torch.tensor([[True, False]]))[0].tolist()
    [[2.0]]
    """
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"K: expected keys of width {Q.shape[-1]} as in Q, got width {K.shape[-1]}")
    if V.shape[-2] != K.shape[-2]:
        raise ValueError(f"V: expected {K.shape[-2]} rows, one per key, got {V.shape[-2]}")
    scores_LM = Q @ K.mT / math.sqrt(Q.shape[-1])
    weights_LM = scores_LM.softmax(dim=-1) if mask is None else masked_softmax(scores_LM, mask)
    return weights_LM @ V, weights_LM


def _allowed(mask: Tensor, shape: torch.Size) -> Tensor:
    if mask.dtype != torch.bool:
        raise ValueError(f"mask: expected booleans (True = may attend), got {mask.dtype}")
    try:
        return mask.expand(shape)
    except RuntimeError:
        raise ValueError(
            f"mask: expected a shape that broadcasts to {tuple(shape)}, got {tuple(mask.shape)}"
        ) from None
