"""Small models as functions of their numbers: one layer with positions, and layers on top of each other.

Each function here returns a `read` for `course_lib.together`: given the numbers of one model, it returns the
logits for the token after each text. Only the last token of a text asks for the answer; a causal mask hides
later tokens from every row. Dimension letters: B texts, R rows, P places, D model width, K key width, N
tokens in the vocabulary.

>>> import torch
>>> read = one_layer([[0, 1, 2], [2, 1]])
>>> numbers = {name: torch.ones(shape) for name, shape in one_layer_shapes(3, d_model=2, d_k=5).items()}
>>> read(numbers).shape
torch.Size([2, 3])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch import Tensor

from course_lib.beginnings import distances, make_plan
from course_lib.together import Numbers, Reader
from course_lib.torch_attention import masked_attention, masked_softmax

Texts = Sequence[Sequence[int]]
Shapes = dict[str, tuple[int, ...]]


def one_layer_shapes(tokens: int, d_model: int = 8, d_k: int = 4) -> Shapes:
    """The tensors of one layer: embedding (N, D), W_q and W_k (D, K), W_v (D, D), W_out (D, N), bias (N,)."""
    return {
        "embedding": (tokens, d_model),
        "W_q": (d_model, d_k),
        "W_k": (d_model, d_k),
        "W_v": (d_model, d_model),
        "W_out": (d_model, tokens),
        "bias": (tokens,),
    }


def one_layer(
    texts: Texts,
    rows: Callable[[Numbers], Tensor] | None = None,
    bias: Callable[[Numbers, Tensor], Tensor] | None = None,
) -> Reader:
    """One layer of attention without a residual path, with two places where positions may come in.

    x = embedding of the token (+ rows of its place); score = q · k / √K (+ bias of the distance);
    logits = (weights · values) W_out + bias.

    Parameters: texts, lists of token ids; rows gives from a model's numbers a table (P, D), a row per place;
    bias gives from them, and from whole distances (B, R), what is added to each score.
    """
    plan = make_plan(texts, layers=1)
    ((own, mask),) = plan.looks
    distance = distances(plan)

    def read(model: Numbers) -> Tensor:
        X = model["embedding"][plan.token]
        if rows is not None:
            X = X + rows(model)[plan.place]
        scores_BR = (X[own] @ model["W_q"]) @ (X @ model["W_k"]).mT / math.sqrt(model["W_q"].shape[-1])
        if bias is not None:
            scores_BR = scores_BR + bias(model, distance)
        return masked_softmax(scores_BR, mask) @ (X @ model["W_v"]) @ model["W_out"] + model["bias"]

    return read


def stack_shapes(tokens: int, layers: int, places: int = 0, d_model: int = 16) -> Shapes:
    """The tensors of layers with residual paths: those of layer 1 are W_q1, W_k1, W_v1, W_o1, all (D, D).

    With `places` above 0 there is also a table of learned position rows, place (P, D).
    """
    shapes: Shapes = {"embedding": (tokens, d_model)}
    if places:
        shapes["place"] = (places, d_model)
    for layer in range(1, layers + 1):
        shapes |= {f"{name}{layer}": (d_model, d_model) for name in ("W_q", "W_k", "W_v", "W_o")}
    return shapes | {"W_out": (d_model, tokens), "bias": (tokens,)}


def stack(texts: Texts, layers: int) -> Reader:
    """Layers on top of each other: each adds what it gathers to the row that asked, X + attention(X) W_o.

    Position rows are added to the embeddings if the model has a tensor called place.
    """
    plan = make_plan(texts, layers)

    def read(model: Numbers) -> Tensor:
        X = first_rows(model, plan.token, plan.place)
        for layer, (own, mask) in enumerate(plan.looks, start=1):
            Q, K, V = (x @ model[f"{name}{layer}"] for x, name in ((X[own], "W_q"), (X, "W_k"), (X, "W_v")))
            X = X[own] + masked_attention(Q, K, V, mask)[0] @ model[f"W_o{layer}"]
        return X @ model["W_out"] + model["bias"]

    return read


def first_rows(model: Numbers, token: Tensor, place: Tensor) -> Tensor:
    """What the first layer reads: embeddings, plus rows of their places if the model has such rows."""
    X = model["embedding"][token]
    return X + model["place"][place] if "place" in model else X
