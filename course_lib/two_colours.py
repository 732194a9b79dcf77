"""The two-colours task: name both colours of a text, in their order. Its texts, its model, many at once.

A text is "The team wears red and the referee wears blue . So". A model is one attention layer with H heads:
an embedding for each token and one for each place, the four matrices of `course_lib.heads`, and two readouts,
one per colour to be named. Only the last token asks. `Models` holds S models that are trained at once; every
tensor has S on its first axis, and no number is shared between two models.

Dimension letters: S models, B texts, L tokens of a text, R different pairs of token and place, N tokens in
the vocabulary, H heads, D model width, W = D/H width of one head, C colours.

>>> task, models = make_task(), draw_models(5, scale=0.4, generator=torch.Generator().manual_seed(0))
>>> trained, losses = train(models, task, num_heads=2, updates=3, lr=0.02)
>>> losses.shape, bool((losses[2] < losses[0]).all())
(torch.Size([3, 5]), True)
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from course_lib import ensemble
from course_lib.torch_attention import masked_attention

COLOURS = ("red", "blue", "black")
TOKENS = (*COLOURS, "The", "team", "wears", "and", "the", "referee", ".", "So")
PLACES = (3, 8)  # indices of the two colours in a text


class Task(NamedTuple):
    """Texts as tokens (B, L), and the colours to be named (B, 2) as indices into COLOURS."""

    ids: Tensor
    targets: Tensor


class Models(NamedTuple):
    """The numbers of S models.

    embedding (S, N, D); place (S, L, D); W_q, W_k, W_v, W_o (S, D, D); readouts first, second (S, D, C).
    """

    embedding: Tensor
    place: Tensor
    W_q: Tensor
    W_k: Tensor
    W_v: Tensor
    W_o: Tensor
    first: Tensor
    second: Tensor


def text(first: str, second: str) -> str:
    """The text with these two colours.

    >>> text("red", "blue")
    'The team wears red and the referee wears blue . So'
    """
    return f"The team wears {first} and the referee wears {second} . So"


def make_task(*, equal: bool = False) -> Task:
    """All texts with two different colours, or with `equal` also those that name one colour twice.

    >>> [len(make_task(equal=equal).ids) for equal in (False, True)]
    [6, 9]
    """
    pairs = [(a, b) for a, b in itertools.product(COLOURS, repeat=2) if equal or a != b]
    ids = [[TOKENS.index(token) for token in text(*pair).split()] for pair in pairs]
    targets = [[COLOURS.index(colour) for colour in pair] for pair in pairs]
    return Task(torch.tensor(ids), torch.tensor(targets))


def draw_models(models: int, scale: float, generator: torch.Generator, d_model: int = 8) -> Models:
    """Random starts: normal numbers times `scale`, drawn in the order of the fields, in single precision.

    They are given in double precision, whose rounding seldom decides which start succeeds.
    """
    if models < 1 or d_model < 1:
        raise ValueError(f"models, d_model: expected 1 or more, got {models} and {d_model}")
    tokens, length, colours = len(TOKENS), len(text(*COLOURS[:2]).split()), len(COLOURS)
    shapes = [(tokens, d_model), (length, d_model), *[(d_model, d_model)] * 4, *[(d_model, colours)] * 2]
    return Models(*((torch.randn(models, *shape, generator=generator) * scale).double() for shape in shapes))


def attend(models: Models, task: Task, num_heads: int) -> tuple[Tensor, Tensor]:
    """What every head of every model gathers for the last token: outputs (S, H, B, W), weights (S, H, B, L).

    A row of the layer's input depends on token and place alone. There are few such pairs, so each is
    projected once; a mask says which of them stand in which text. The last token is the same in all texts,
    so that every model asks with one query.
    """
    d_model = models.W_q.shape[-1]
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(f"num_heads: expected a number that divides the width {d_model}, got {num_heads}")
    token_R, place_R, row_BL = _pairs(task.ids)
    stands_BR = torch.zeros(len(task.ids), len(token_R), dtype=torch.bool).scatter(1, row_BL, True)
    X_SRD = models.embedding[:, token_R] + models.place[:, place_R]
    Q_SH1W, K_SHRW, V_SHRW = (
        rows.unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for rows in (X_SRD[:, row_BL[0, -1:]] @ models.W_q, X_SRD @ models.W_k, X_SRD @ models.W_v)
    )
    Q_SHBW = Q_SH1W.expand(-1, -1, len(task.ids), -1)
    outputs_SHBW, weights_SHBR = masked_attention(Q_SHBW, K_SHRW, V_SHRW, stands_BR)
    return outputs_SHBW, weights_SHBR.gather(-1, row_BL.expand(*weights_SHBR.shape[:2], -1, -1))


def forward(models: Models, task: Task, num_heads: int, silenced: int | None = None) -> Tensor:
    """What every model says about every text: logits (S, B, 2, C) for the first and the second colour.

    Parameters: silenced, a head whose output is replaced by its mean over the texts, so that it still adds
    what is common to all of them and says nothing about the colours.
    """
    outputs_SHBW, _ = attend(models, task, num_heads)
    if silenced is not None:
        common_SHBW = outputs_SHBW.mean(dim=2, keepdim=True).expand_as(outputs_SHBW)
        head_H11 = torch.arange(num_heads)[:, None, None]
        outputs_SHBW = torch.where(head_H11 == silenced, common_SHBW, outputs_SHBW)
    joined_SBD = outputs_SHBW.transpose(1, 2).flatten(start_dim=2) @ models.W_o
    return torch.stack([joined_SBD @ models.first, joined_SBD @ models.second], dim=2)


def losses(logits: Tensor, task: Task) -> Tensor:
    """Negative log-likelihood of the two colours, added up, and averaged over texts: (S,), one per model.

    >>> nothing_known = losses(torch.zeros(2, 6, 2, 3), make_task())  # ln 3 for each of the two colours
    >>> [round(loss, 3) for loss in nothing_known.tolist()]
    [2.197, 2.197]
    """
    targets_SB2 = task.targets.expand(len(logits), -1, -1)
    losses_SB2 = functional.cross_entropy(logits.movedim(-1, 1), targets_SB2, reduction="none")
    return losses_SB2.sum(dim=-1).mean(dim=-1)


def right(models: Models, task: Task, num_heads: int, silenced: int | None = None) -> Tensor:
    """Which colours every model names rightly: bool (S, B, 2); arguments as in `forward`."""
    with torch.no_grad():
        logits = forward(models, task, num_heads, silenced)
    return logits.argmax(dim=-1) == task.targets


def solved(models: Models, task: Task, num_heads: int) -> Tensor:
    """Whether each model names both colours of every text rightly: bool (S,)."""
    return right(models, task, num_heads).flatten(start_dim=1).all(dim=1)


def train(
    models: Models,
    task: Task,
    num_heads: int,
    updates: int,
    lr: float,
    *,
    progress: ensemble.Progress = iter,
) -> tuple[Models, Tensor]:
    """Train every model with Adam on all texts of the task, each as if it were alone.

    Parameters: progress may wrap the loop over the updates, to show a bar.
    Returns: the trained models (those given are not changed), and every loss before each update (updates, S).
    """

    def of_each(numbers: list[Tensor]) -> Tensor:
        return losses(forward(Models(*numbers), task, num_heads), task)

    trained, history = ensemble.train(models, of_each, ensemble.adam(lr), updates, progress=progress)
    return Models(*trained), history


def _pairs(ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The different pairs of token and place: token (R,), place (R,), and the pair at each place (B, L)."""
    length = ids.shape[1]
    numbers_R, pair_BL = (ids * length + torch.arange(length)).unique(return_inverse=True)
    return numbers_R // length, numbers_R % length, pair_BL
