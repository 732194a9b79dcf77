"""Arguments of exercises that are objects, not data, by name: both sides build them from a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib import attention

Layer = Callable[[np.ndarray], np.ndarray]


def build(name: str, arguments: dict[str, Any]) -> Any:
    """The object of that name. Raises: ValueError for a name that is not listed here."""
    known = ENTRIES
    if isinstance(name, str) and name.startswith("torch_"):
        from .torch_layers import LAYERS  # here, as importing torch takes a second that NumPy need not wait

        known = ENTRIES | LAYERS
    if name not in known:
        raise ValueError(f"name: expected one of {sorted(known)}, got {name!r}")
    return known[name](**arguments)


def generator(seed: int) -> np.random.Generator:
    """A NumPy random generator."""
    return np.random.default_rng(seed)


def per_token_layer(W: np.ndarray) -> Layer:
    """A layer that treats every token by itself, so that permuting rows permutes its output."""
    return lambda X: np.tanh(X @ W)


def attention_layer(W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray) -> Layer:
    """Self-attention without positions: permuting rows permutes its output."""
    return lambda X: attention.self_attention(X, W_q, W_k, W_v)[0]


def positional_layer(W: np.ndarray, positions: np.ndarray) -> Layer:
    """A layer that adds a vector of its own to every position: the order of rows matters."""
    return lambda X: (X + positions) @ W


def running_sum_layer() -> Layer:
    """Each row becomes the sum of the rows up to it: the order of rows matters."""
    return lambda X: np.cumsum(X, axis=-2)


def pooling_layer() -> Layer:
    """Every row becomes the mean of all rows."""
    return lambda X: np.broadcast_to(X.mean(axis=-2, keepdims=True), X.shape).copy()


def previous_row_layer() -> Layer:
    """Each row becomes the one before it, the first row the last: the order of rows matters."""
    return lambda X: np.roll(X, 1, axis=-2)


def identity_layer() -> Layer:
    """The very array that it gets: a gap of 0, unless somebody writes into it."""
    return lambda X: X


ENTRIES: dict[str, Callable[..., Any]] = {
    "generator": generator,
    "per_token_layer": per_token_layer,
    "attention_layer": attention_layer,
    "positional_layer": positional_layer,
    "running_sum_layer": running_sum_layer,
    "pooling_layer": pooling_layer,
    "previous_row_layer": previous_row_layer,
    "identity_layer": identity_layer,
}
