"""Predict every next token of a text with one masked attention layer. Texts, model, many models at once.

Row t of the layer reads a text up to its token t and predicts token t + 1. The model is one attention layer
with an embedding for each token and one for each position, an output matrix and, on request, a residual path:
the token's own row is added to what attention returns. `Models` holds S of them, trained at once on the same
texts; S is the first axis of every tensor, and no number is shared between two models.

Dimension letters: S models, B texts, L tokens of the longest text (queries and keys), N tokens in the
vocabulary, D model width, K key width.

>>> texts = make_texts(colour_texts())
>>> models = draw_models(3, scale=0.4, generator=torch.Generator().manual_seed(0))
>>> causal = torch.ones(17, 17, dtype=torch.bool).tril()
>>> trained, losses = train(models, texts, causal, updates=2, lr=0.01)
>>> losses.shape, bool((losses[1] < losses[0]).all())
(torch.Size([2, 3]), True)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from course_lib import ensemble
from course_lib.recall import VOCABULARY, encode, training_examples
from course_lib.torch_attention import masked_attention


class Texts(NamedTuple):
    """Texts cut into inputs and targets, padded on the right with token 0.

    inputs (B, L) every token but the last; targets (B, L) every token but the first; real (B, L), True where
    a token stands.
    """

    inputs: Tensor
    targets: Tensor
    real: Tensor


class Models(NamedTuple):
    """The numbers of S models.

    embedding (S, N, D); positions (S, P, D); W_q and W_k (S, D, K); W_v and W_o (S, D, D); W_out (S, D, N);
    bias (S, N). W_o is used on the residual path only.
    """

    embedding: Tensor
    positions: Tensor
    W_q: Tensor
    W_k: Tensor
    W_v: Tensor
    W_o: Tensor
    W_out: Tensor
    bias: Tensor


def colour_texts() -> list[str]:
    """The nine training texts of colour recall, each with its answer and a full stop.

    >>> colour_texts()[0]
    'The team colour is red . So the players wear red .'
    """
    return [f"{text} {target} ." for text, target in zip(*training_examples(), strict=True)]


def make_texts(texts: Sequence[str], vocabulary: Mapping[str, int] = VOCABULARY) -> Texts:
    """Inputs and targets of a few texts of two tokens or more: the target of each token is the next one.

    >>> make_texts(["So the players", "So the"]).targets.tolist()
    [[15, 10], [15, 0]]
    """
    rows = [torch.tensor(encode(text, vocabulary)) for text in texts]
    if not rows or min(map(len, rows)) < 2:
        raise ValueError("texts: expected one or more, each of two tokens or more")
    inputs, targets, real = (
        torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
        for parts in (
            [row[:-1] for row in rows],
            [row[1:] for row in rows],
            [torch.ones(len(row) - 1, dtype=torch.bool) for row in rows],
        )
    )
    return Texts(inputs, targets, real)


def entropy_floor(texts: Texts) -> float:
    """The smallest mean loss, in nats, of any model that knows nothing but the tokens before each target.

    Such a model gives one answer per prefix. The best answer gives each next token the share of cases in
    which it follows that prefix: floor = -mean of ln(share). With positions this is the entropy of the next
    token given the prefix.

    >>> round(entropy_floor(make_texts(["The team", "The game"])), 3) == round(math.log(2), 3)
    True
    """
    pairs = Counter()
    for inputs, targets, real in zip(*(tensor.tolist() for tensor in texts), strict=True):
        pairs.update((tuple(inputs[: t + 1]), targets[t]) for t in range(sum(real)))
    prefixes = Counter()
    for (prefix, _), count in pairs.items():
        prefixes[prefix] += count
    total = -sum(count * math.log(count / prefixes[prefix]) for (prefix, _), count in pairs.items())
    return total / pairs.total()


def draw_models(
    models: int,
    scale: float,
    generator: torch.Generator,
    *,
    d_model: int = 16,
    d_k: int = 8,
    max_length: int = 20,
    vocabulary_size: int = len(VOCABULARY),
) -> Models:
    """Random starts: normal numbers times `scale`, biases 0, in double precision.

    `max_length` is the number of position rows P, so the longest text that the model can read.
    """
    if models < 1 or d_model < 1 or d_k < 1:
        raise ValueError(f"models, d_model, d_k: expected 1 or more, got {models}, {d_model} and {d_k}")

    def normal(rows: int, columns: int) -> Tensor:
        return torch.randn(models, rows, columns, generator=generator, dtype=torch.float64) * scale

    return Models(
        normal(vocabulary_size, d_model),
        normal(max_length, d_model),
        normal(d_model, d_k),
        normal(d_model, d_k),
        normal(d_model, d_model),
        normal(d_model, d_model),
        normal(d_model, vocabulary_size),
        torch.zeros(models, vocabulary_size, dtype=torch.float64),
    )


def forward(models: Models, ids: Tensor, mask: Tensor, *, residual: bool = True) -> tuple[Tensor, Tensor]:
    """What every model predicts after every token: logits (S, B, L, N), and its weights (S, B, L, L).

    X = embedding + position; Z = attention(X W_q, X W_k, X W_v) under the mask;
    logits = (X + Z W_o) W_out + bias, or Z W_out + bias without the residual path.

    Parameters: ids (B, L), or (S, B, L) when each model reads texts of its own; mask broadcastable to
    (B, L, L), True = may attend.
    """
    length, known = ids.shape[-1], models.positions.shape[1]
    if length > known:
        raise ValueError(f"ids: expected at most {known} tokens, one per position row, got {length}")
    one_hot = functional.one_hot(ids, models.embedding.shape[1]).to(models.embedding.dtype)
    X = _times(one_hot, models.embedding) + models.positions[:, None, :length]  # (S, B, L, D)
    Q, K, V = (_times(X, W) for W in (models.W_q, models.W_k, models.W_v))
    Z, weights = masked_attention(Q, K, V, mask)
    if residual:
        Z = X + _times(Z, models.W_o)
    return _times(Z, models.W_out) + models.bias[:, None, None], weights


def text_losses(models: Models, texts: Texts, mask: Tensor, *, residual: bool = True) -> Tensor:
    """Mean negative log-likelihood of every real target, one per model: (S,).

    Parameters: mask (L, L), or any that broadcasts to (B, L, L); padded keys are hidden as well.
    """
    logits, _ = forward(models, texts.inputs, mask & texts.real[:, None, :], residual=residual)
    targets_SBL = texts.targets.expand(len(logits), -1, -1)
    flat_losses = functional.cross_entropy(logits.flatten(0, 2), targets_SBL.flatten(), reduction="none")
    losses_SBL = flat_losses.view(targets_SBL.shape)
    return (losses_SBL * texts.real).sum(dim=(1, 2)) / texts.real.sum()


def train(
    models: Models,
    texts: Texts,
    mask: Tensor,
    updates: int,
    lr: float,
    *,
    residual: bool = True,
    progress: ensemble.Progress = iter,
) -> tuple[Models, Tensor]:
    """Train every model on the same texts under the same mask with Adam, each as if it were alone.

    Parameters: progress may wrap the loop over the updates, to show a bar.
    Returns: the trained models (those given are not changed), and each loss before each update, (updates, S).
    """

    def losses(numbers: list[Tensor]) -> Tensor:
        return text_losses(Models(*numbers), texts, mask, residual=residual)

    adam = partial(torch.optim.Adam, lr=lr)
    trained, history = ensemble.train(models, losses, adam, updates, progress=progress)
    return Models(*trained), history


def write(
    models: Models, start: Tensor, mask: Tensor, length: int, draws: Tensor, *, residual: bool = True
) -> Tensor:
    """Let every model write on: each next token is drawn from the model's own probabilities.

    Only the tokens written so far exist; of the mask their rows and columns are used.

    Parameters: start (B, T) tokens to begin with; mask (at least length - 1 on each axis), one for all texts;
    length ≥ T; draws (S, B, length - T) numbers in [0, 1) that decide: the token is the first whose summed
    probability exceeds the draw. Returns: ids (S, B, length).
    """
    ids = start.expand(len(models.bias), -1, -1)
    with torch.no_grad():
        for step in range(length - start.shape[-1]):
            read = ids.shape[-1]
            logits, _ = forward(models, ids, mask[:read, :read], residual=residual)
            summed = logits[:, :, -1].softmax(dim=-1).cumsum(dim=-1)  # (S, B, N)
            token = (summed <= draws[..., step, None]).sum(dim=-1).clamp(max=summed.shape[-1] - 1)
            ids = torch.cat([ids, token[..., None]], dim=-1)
    return ids


def _times(rows: Tensor, matrices: Tensor) -> Tensor:
    """Every row of every text times its model's matrix: (S or 1, B, L, D), (S, D, W) -> (S, B, L, W).

    All rows of a model form one table, which makes S large products instead of S · B small ones.
    """
    shape = rows.shape[-3:-1]
    return (rows.flatten(-3, -2) @ matrices).unflatten(-2, shape)
