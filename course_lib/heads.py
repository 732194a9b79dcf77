"""Attention with several heads in PyTorch: slices of one width, each with its own softmax, joined and mixed.

Head h works with the columns h·W to (h+1)·W of queries, keys and values, where W = D/H. Dimension letters:
B batch, H heads, L queries (and keys, in self-attention), D model width, W width of one head.

>>> import torch
>>> layer = MultiHeadAttention(d_model=6, num_heads=2)
>>> output, weights = layer(torch.zeros(1, 5, 6))
>>> tuple(output.shape), tuple(weights.shape)
((1, 5, 6), (1, 2, 5, 5))
"""

from __future__ import annotations

from torch import Tensor, nn

from course_lib.torch_attention import masked_attention


def split_heads(X: Tensor, num_heads: int) -> Tensor:
    """Cut the columns of every row into one slice per head, and give the heads an axis of their own.

    The axis of columns becomes two (heads, columns of a head); then heads and tokens change places.

    Parameters: X (B, L, D); num_heads, which must divide D. Returns: (B, H, L, D/H).
    Raises: ValueError for an X of other than three axes, and for heads that do not divide D.
    Source: Vaswani et al. 2017, section 3.2.2.

    >>> import torch
    >>> split_heads(torch.tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]]), num_heads=2).tolist()
    [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]
    """
    if X.ndim != 3:
        raise ValueError(f"X: expected three axes (batch, tokens, columns), got shape {tuple(X.shape)}")
    _check_heads(num_heads, X.shape[-1])
    X_BLHW = X.unflatten(-1, (num_heads, X.shape[-1] // num_heads))
    return X_BLHW.transpose(1, 2)


def join_heads(X: Tensor) -> Tensor:
    """Put the slices of all heads side by side again: undoes `split_heads`.

    Parameters: X (B, H, L, W). Returns: (B, L, H·W). Raises: ValueError for an X of other than four axes.

    >>> import torch
    >>> join_heads(torch.tensor([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])).tolist()
    [[[1, 2, 3, 4], [5, 6, 7, 8]]]
    """
    if X.ndim != 4:
        raise ValueError(f"X: expected four axes (batch, heads, tokens, columns), got shape {tuple(X.shape)}")
    X_BLHW = X.transpose(1, 2)
    return X_BLHW.flatten(start_dim=2)


def multi_head_attention(
    X: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    num_heads: int,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Self-attention with several heads: concat(head_1, ..., head_H) W_o, head_h = softmax(Q_h K_hᵀ/√W) V_h.

    Parameters: X (B, L, D); W_q, W_k, W_v, W_o (D, D), used as X @ W; num_heads, which must divide D; mask
    bool, broadcastable to (B, L, L), True = may attend, the same for all heads.
    Returns: output (B, L, D), weights (B, H, L, L), each row summing to 1 (to 0 where nothing is allowed).
    Raises: ValueError for an X of other than three axes, for heads that do not divide D, and for a mask that
    is not boolean or does not broadcast.
    Source: Vaswani et al. 2017, section 3.2.2.

    >>> import torch
    >>> X, eye = torch.tensor([[[1.0, 2.0], [3.0, 6.0]]]), torch.eye(2)
    >>> output, weights = multi_head_attention(X, 0 * eye, eye, eye, eye, num_heads=2)
    >>> output.tolist(), weights[0, 1].tolist()
    ([[[2.0, 4.0], [2.0, 4.0]]], [[0.5, 0.5], [0.5, 0.5]])
    """
    Q_BHLW, K_BHLW, V_BHLW = (split_heads(X @ W, num_heads) for W in (W_q, W_k, W_v))
    per_head = None if mask is None else _for_every_head(mask, X)
    heads_BHLW, weights_BHLL = masked_attention(Q_BHLW, K_BHLW, V_BHLW, per_head)
    return join_heads(heads_BHLW) @ W_o, weights_BHLL


class MultiHeadAttention(nn.Module):
    """`multi_head_attention` with four learned matrices and no biases.

    Parameters: d_model, the width of the input and of the output; num_heads, which must divide it.
    Raises: ValueError for heads that do not divide the width.

    >>> sum(matrix.numel() for matrix in MultiHeadAttention(6, num_heads=3).parameters())
    144
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        _check_heads(num_heads, d_model)
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Output (B, L, D) and weights (B, H, L, L) of X (B, L, D), with a mask as in the function.

        Raises: ValueError as the function does.
        """
        matrices = (linear.weight.T for linear in (self.W_q, self.W_k, self.W_v, self.W_o))
        return multi_head_attention(X, *matrices, self.num_heads, mask)


def count_parameters(d_model: int, num_heads: int) -> int:
    """Numbers learned by one layer without biases: 4·D², three projections and W_o, for any number of heads.

    Raises: ValueError for heads that do not divide the width.

    >>> count_parameters(512, 8) == count_parameters(512, 1) == 1_048_576
    True
    """
    _check_heads(num_heads, d_model)
    return 4 * d_model**2


def multiply_adds(n: int, m: int, d_model: int) -> tuple[int, int]:
    """Multiply-adds of one layer with n queries and m keys, summed over the heads.

    Returns: (pairs, projections): 2·n·m·D for scores and weighted sums, 2·n·D² + 2·m·D² for the four matrices
    (W_q and W_o meet the queries' rows, W_k and W_v the keys'). Raises: ValueError for a size below 1.

    >>> multiply_adds(196, 196, 768)
    (59006976, 462422016)
    """
    for name, size in (("n", n), ("m", m), ("d_model", d_model)):
        if size < 1:
            raise ValueError(f"{name}: expected 1 or more, got {size}")
    return 2 * n * m * d_model, 2 * (n + m) * d_model**2


def weight_bytes(n: int, num_heads: int, itemsize: int = 4) -> int:
    """Bytes of the tables of weights of n tokens: H·n²·itemsize; a float32 number takes 4 bytes.

    Raises: ValueError for a size below 1.

    >>> weight_bytes(196, num_heads=12)
    1843968
    """
    for name, size in (("n", n), ("num_heads", num_heads), ("itemsize", itemsize)):
        if size < 1:
            raise ValueError(f"{name}: expected 1 or more, got {size}")
    return num_heads * n**2 * itemsize


def _check_heads(num_heads: int, d_model: int) -> None:
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(f"num_heads: expected a number that divides the width {d_model}, got {num_heads}")


def _for_every_head(mask: Tensor, X: Tensor) -> Tensor:
    """A mask for (B, L, L) with an axis for the heads, all of which share it."""
    batch, length = X.shape[:2]
    try:
        return mask.expand(batch, length, length)[:, None]
    except RuntimeError:
        raise ValueError(
            f"mask: expected a shape that broadcasts to {(batch, length, length)}, got {tuple(mask.shape)}"
        ) from None
