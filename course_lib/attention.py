"""The formulas of attention in NumPy, with leading batch dimensions and boolean masks.

Tokens are rows. Tables of scores and weights have queries as rows and keys as columns. A score is what
comes before softmax, a weight what comes after it. In a mask, True means "may attend". Dimension letters:
L queries, M keys, D model width, K key width, V value width; ``...`` are leading batch dimensions.

>>> output, weights = soft_lookup([1, 0], keys=[[1, 0], [-1, 0]], values=[[2, 0], [0, 4]])
>>> weights.round(3).tolist(), output.round(3).tolist()
([0.881, 0.119], [1.762, 0.477])
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.floating]


def softmax(scores: ArrayLike, mask: ArrayLike | None = None) -> Array:
    """Turn scores into weights along the last axis: exp(s_i) / sum_j exp(s_j).

    The largest allowed score is subtracted first, which changes nothing but the size of the numbers, so that
    scores of any finite size are safe. A row in which the mask allows nothing has weights of zero.

    Parameters: scores (..., M), finite; mask broadcastable to (..., M), True = may attend.
    Returns: weights (..., M), each in [0, 1]; the last axis sums to 1 (to 0 where nothing is allowed).
    Raises: ValueError for scores that are no real numbers or none at all, and for a mask that is not boolean
    or does not broadcast. Source: Vaswani et al. 2017, section 3.2.1, for the use in attention.

    >>> softmax([1.0, 0.0, -1.0]).round(3).tolist()
    [0.665, 0.245, 0.09]
    >>> softmax([0.0, 0.0, 2.0], mask=[True, True, False]).tolist()
    [0.5, 0.5, 0.0]
    """
    scores = _floating("scores", scores)
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ValueError(f"scores: expected at least one score on the last axis, got shape {scores.shape}")
    allowed = _allowed(mask, scores.shape)
    if allowed is None:
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)
    hidden = np.where(allowed, scores, -np.inf)
    largest = hidden.max(axis=-1, keepdims=True)
    exponentials = np.exp(hidden - np.where(np.isfinite(largest), largest, 0.0))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1.0, total)


def scores(Q: ArrayLike, K: ArrayLike, *, scaled: bool = True) -> Array:
    """Dot products of every query with every key: Q Kᵀ, divided by √K when scaled.

    Parameters: Q (..., L, K), K (..., M, K) with the same key width K.
    Returns: scores (..., L, M).
    Raises: ValueError for tables without rows of numbers, and for two different widths.
    Source: Vaswani et al. 2017, equation 1.

    >>> scores([[1, 2]], [[1, 1], [2, -1]], scaled=False).tolist()
    [[3.0, 0.0]]
    """
    Q, K = _floating("Q", Q), _floating("K", K)
    for name, table in (("Q", Q), ("K", K)):
        if table.ndim < 2:
            raise ValueError(
                f"{name}: expected one row per token (two axes or more), got shape {table.shape}"
            )
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"K: expected keys of width {Q.shape[-1]} as in Q, got width {K.shape[-1]}")
    products_LM = Q @ np.swapaxes(K, -1, -2)
    return products_LM / math.sqrt(Q.shape[-1]) if scaled else products_LM


def attention_weights(
    Q: ArrayLike, K: ArrayLike, mask: ArrayLike | None = None, *, temperature: float = 1.0
) -> Array:
    """Weights of every query on every key: softmax(Q Kᵀ / (temperature · √K)), row by row.

    Parameters: Q (..., L, K), K (..., M, K), mask broadcastable to (..., L, M), temperature > 0.
    Returns: weights (..., L, M); every row sums to 1, or to 0 where nothing is allowed.
    Raises: ValueError for a temperature that is not above 0, and as `scores` and `softmax` do.

    >>> attention_weights([[1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """
    if not temperature > 0:
        raise ValueError(f"temperature: expected a number above 0, got {temperature}")
    return softmax(scores(Q, K) / temperature, mask)


def attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, mask: ArrayLike | None = None) -> tuple[Array, Array]:
    """Scaled dot-product attention: softmax(Q Kᵀ / √K) V, and the weights it used.

    Parameters: Q (..., L, K), K (..., M, K), V (..., M, V), mask broadcastable to (..., L, M).
    Returns: output (..., L, V), weights (..., L, M).
    Raises: ValueError for a V without one row per key, and as `attention_weights` does.
    Source: Vaswani et al. 2017, equation 1.

    >>> output, weights = attention([[0.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]], [[2.0], [4.0]])
    >>> output.tolist(), weights.tolist()
    ([[3.0]], [[0.5, 0.5]])
    """
    weights_LM = attention_weights(Q, K, mask)
    V = _floating("V", V)
    if V.ndim < 2 or V.shape[-2] != weights_LM.shape[-1]:
        raise ValueError(f"V: expected {weights_LM.shape[-1]} rows, one per key, got shape {V.shape}")
    return weights_LM @ V, weights_LM


def soft_lookup(query: ArrayLike, keys: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    """Look a query up in a table whose every key matches a little: dot product, softmax, weighted sum.

    Parameters: query (..., K), keys (M, K), values (M, V). The scores are not scaled.
    Returns: output (..., V), weights (..., M). Raises: ValueError for arguments that do not fit together.

    >>> soft_lookup([0, 0], [[1, 0], [-1, 0]], [[2, 0], [0, 4]])[0].tolist()
    [1.0, 2.0]
    """
    query, keys, values = lookup_arguments(query, keys, values)
    weights = softmax(scores(np.atleast_2d(query), keys, scaled=False))
    weights = weights.reshape(*query.shape[:-1], len(keys))
    return weights @ values, weights


def gaussian_lookup(
    query: ArrayLike, keys: ArrayLike, values: ArrayLike, width: float
) -> tuple[Array, Array]:
    """Average of the values weighted by a Gaussian of the distance: exp(-|q - k|² / (2 width²)), normalised.

    Parameters: query (..., K), keys (M, K), values (M, V), width > 0 in the unit of the keys.
    Returns: output (..., V), weights (..., M).
    Raises: ValueError for a width that is not above 0, and for arguments that do not fit together.
    Source: Nadaraya 1964, Watson 1964.

    >>> gaussian_lookup([0.0], [[-1.0], [1.0]], [[0.0], [10.0]], width=1.0)[0].tolist()
    [5.0]
    """
    if not width > 0:
        raise ValueError(f"width: expected a number above 0, got {width}")
    query, keys, values = lookup_arguments(query, keys, values)
    distances = ((query[..., None, :] - keys) ** 2).sum(axis=-1)
    weights = softmax(-distances / (2 * width**2))
    return weights @ values, weights


def lookup_arguments(query: ArrayLike, keys: ArrayLike, values: ArrayLike) -> tuple[Array, Array, Array]:
    """The arguments of a lookup as arrays of floats that fit together; NumPy would stretch some that do not.

    Parameters: query (..., K), keys (M, K), values (M, V). Returns: the three, in the same shapes.
    Raises: ValueError for a query that is a single number, keys or values that are no table of at least one
    row, two different widths of query and keys, and values without one row per key.

    >>> [array.shape for array in lookup_arguments([0], [[1], [2]], [[3, 4], [5, 6]])]
    [(1,), (2, 1), (2, 2)]
    """
    query, keys, values = _floating("query", query), _floating("keys", keys), _floating("values", values)
    if query.ndim == 0:
        raise ValueError("query: expected one axis or more, the last of the keys' width, got a single number")
    if keys.ndim != 2 or len(keys) == 0:
        raise ValueError(f"keys: expected a table (M, K) of one row or more, got shape {keys.shape}")
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(f"query: expected width {keys.shape[-1]} as in keys, got width {query.shape[-1]}")
    if values.ndim != 2 or len(values) != len(keys):
        raise ValueError(f"values: expected {len(keys)} rows, one per key, got shape {values.shape}")
    return query, keys, values


def project(X: ArrayLike, W_q: ArrayLike, W_k: ArrayLike, W_v: ArrayLike) -> tuple[Array, Array, Array]:
    """Queries, keys and values of every token: X W_q, X W_k, X W_v.

    Parameters: X (..., L, D), W_q (D, K), W_k (D, K), W_v (D, V).
    Returns: Q (..., L, K), K (..., L, K), V (..., L, V).
    Raises: ValueError for an X without rows, and for a matrix that has not one row per column of X.

    >>> Q, K, V = project([[1, 2]], [[1], [0]], [[0], [1]], [[1], [1]])
    >>> Q.item(), K.item(), V.item()
    (1.0, 2.0, 3.0)
    """
    return _projected(X, W_q, "X", "W_q"), _projected(X, W_k, "X", "W_k"), _projected(X, W_v, "X", "W_v")


def self_attention(
    X: ArrayLike, W_q: ArrayLike, W_k: ArrayLike, W_v: ArrayLike, mask: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Attention of a sequence to itself: queries, keys and values all come from X.

    Parameters: X (..., L, D), W_q (D, K), W_k (D, K), W_v (D, V), mask broadcastable to (..., L, L).
    Returns: output (..., L, V), weights (..., L, L). Raises: ValueError as `project` and `attention` do.

    >>> self_attention([[1.0], [1.0]], [[1.0]], [[1.0]], [[2.0]])[0].tolist()
    [[2.0], [2.0]]
    """
    return attention(*project(X, W_q, W_k, W_v), mask)


def cross_attention(
    X: ArrayLike, Y: ArrayLike, W_q: ArrayLike, W_k: ArrayLike, W_v: ArrayLike, mask: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Attention of one sequence to another: queries from X, keys and values from Y.

    Parameters: X (..., L, D), Y (..., M, D), W_q (D, K), W_k (D, K), W_v (D, V), mask broadcastable to
    (..., L, M). Returns: output (..., L, V), weights (..., L, M).
    Raises: ValueError as `project` and `attention` do, with Y named where it does not fit.

    >>> cross_attention([[1.0]], [[0.0], [0.0]], [[1.0]], [[1.0]], [[2.0]])[1].tolist()
    [[0.5, 0.5]]
    """
    Q, K, V = _projected(X, W_q, "X", "W_q"), _projected(Y, W_k, "Y", "W_k"), _projected(Y, W_v, "Y", "W_v")
    return attention(Q, K, V, mask)


def softmax_jacobian(weights: ArrayLike) -> Array:
    """How each weight moves with each score: ∂p_i/∂s_j = p_i (δ_ij - p_j), that is diag(p) - p pᵀ.

    Parameters: weights (..., M). Returns: (..., M, M), row i weight, column j score; rows sum to 0.
    Raises: ValueError for weights without an axis.

    >>> softmax_jacobian([0.5, 0.5]).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    p = _row_of_weights(weights)
    return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])


def entropy(weights: ArrayLike) -> Array:
    """How spread out weights are: -sum_i p_i ln p_i in nats, with 0 ln 0 = 0.

    Parameters: weights (..., M). Returns: (...), from 0 (one weight is 1) to ln M (all equal).
    Raises: ValueError for weights without an axis.

    >>> float(entropy([0.25, 0.25, 0.25, 0.25]).round(3))
    1.386
    """
    p = _row_of_weights(weights)
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1) + 0.0


def causal_mask(length: int) -> NDArray[np.bool_]:
    """The mask of a text written from left to right: query i may attend to keys 0 to i.

    Parameters: length ≥ 1. Returns: bool (L, L), True on and below the diagonal.
    Raises: ValueError for a length below 1.

    >>> causal_mask(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    if length < 1:
        raise ValueError(f"length: expected 1 or more, got {length}")
    return np.tril(np.ones((length, length), dtype=bool))


def _floating(name: str, values: ArrayLike) -> Array:
    """A float array of the argument (float32 stays float32), or an error that names the argument."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: expected real numbers, got an array of type {array.dtype}")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _projected(X: ArrayLike, W: ArrayLike, name: str, matrix: str) -> Array:
    """X W, or an error that calls the two by the names the caller gave them."""
    X, W = _floating(name, X), _floating(matrix, W)
    if X.ndim < 2:
        raise ValueError(f"{name}: expected one row per token (two axes or more), got shape {X.shape}")
    if W.ndim != 2 or len(W) != X.shape[-1]:
        raise ValueError(
            f"{matrix}: expected {X.shape[-1]} rows, one per column of {name}, got shape {W.shape}"
        )
    return X @ W


def _row_of_weights(weights: ArrayLike) -> Array:
    p = _floating("weights", weights)
    if p.ndim == 0:
        raise ValueError("weights: expected one axis or more, got a single number")
    return p


def _allowed(mask: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    allowed = np.asarray(mask)
    if allowed.dtype != bool:
        raise ValueError(f"mask: expected booleans (True = may attend), got an array of type {allowed.dtype}")
    try:
        return np.broadcast_to(allowed, shape)
    except ValueError:
        raise ValueError(f"mask: expected a shape that broadcasts to {shape}, got {allowed.shape}") from None
