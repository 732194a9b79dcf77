"""Read a colour-recall layer: what each position adds to the answer, and what other weights would answer.

Dimension letters: S models, B texts, M keys, N tokens in the vocabulary.

>>> batch = recall.make_batch(["So the players wear"], ["red"])
>>> blank = recall.Ensemble(*(0 * tensor for tensor in recall.draw_ensemble(1, 3, 1.0, torch.Generator())))
>>> contributions(blank, batch).shape, uniform_weights(blank, batch).tolist()
(torch.Size([1, 1, 4, 17]), [[[0.25, 0.25, 0.25, 0.25]]])
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from course_lib import recall
from course_lib.ensemble import Progress
from course_lib.ensemble import right as right_answers
from course_lib.recall import Batch, Ensemble


class Moment(NamedTuple):
    """One model between two updates. The first four fields are about the first training text.

    weight on the colour; largest_other weight; probability of the right answer; prediction, the most likely
    token; training_loss and validation_loss; validation_right, the number of validation texts it gets right.
    """

    weight: float
    largest_other: float
    probability: float
    prediction: str
    training_loss: float
    validation_loss: float
    validation_right: int


def moment(model: Ensemble, training: Batch, validation: Batch, position: int = 4) -> Moment:
    """What an ensemble of one model does as it stands; `position` is the index of the colour."""
    if len(model.bias) != 1:
        raise ValueError(f"model: expected an ensemble of one, got {len(model.bias)} models")
    with torch.no_grad():
        logits, weights = recall.forward(model, training)
        held_out, _ = recall.forward(model, validation)
    first, others = logits[0, 0], weights[0, 0].clone()
    others[position] = 0
    return Moment(
        float(weights[0, 0, position]),
        float(others.max()),
        float(first.softmax(dim=0)[training.targets[0]]),
        recall.TOKENS[int(first.argmax())],
        float(recall.recall_losses(logits, training.targets)),
        float(recall.recall_losses(held_out, validation.targets)),
        int(right(held_out, validation)),
    )


def story(
    start: Ensemble,
    training: Batch,
    validation: Batch,
    lr: float,
    updates: int,
    *,
    progress: Progress = iter,
) -> list[Moment]:
    """Train one model with Adam; look at it before the first update and after each (updates + 1 times).

    `progress` may wrap the loop over the updates, to show a bar.
    """
    moments: list[Moment] = []
    recall.train(
        *(start, training, updates, lr),
        progress=progress,
        watch=lambda _, model: moments.append(moment(model, training, validation)),
    )
    return moments


def value_logits(ensemble: Ensemble, batch: Batch) -> Tensor:
    """What the value at each position would add to every logit at weight 1: value · W_out, (S, B, M, N)."""
    token_logits_SNN = ensemble.embedding @ ensemble.W_v @ ensemble.W_out
    return token_logits_SNN[:, batch.ids]


def contributions(ensemble: Ensemble, batch: Batch) -> Tensor:
    """What each position adds to every logit: its weight times its value times W_out.

    Summed over positions and with the bias added, these are the logits: nothing is left over.

    Returns: (S, B, M, N), 0 where a text is padded.
    """
    _, weights_SBM = recall.forward(ensemble, batch)
    return weights_SBM[..., None] * value_logits(ensemble, batch)


def logits_with(ensemble: Ensemble, batch: Batch, weights: Tensor) -> Tensor:
    """The logits (S, B, N) that the same values give under weights (S, B, M) chosen by hand."""
    expected = (len(ensemble.bias), *batch.ids.shape)
    if weights.shape != expected:
        raise ValueError(f"weights: expected shape {expected}, got {tuple(weights.shape)}")
    mixed_SBN = (weights[..., None] * value_logits(ensemble, batch)).sum(dim=2)
    return mixed_SBN + ensemble.bias[:, None]


def without_position(weights: Tensor, position: int) -> Tensor:
    """Take the weight off one position and share it out among the others in proportion; rows still sum to 1.

    Softmax gives the same when that position's score is set to -inf, unless its weight is exactly 1.

    Parameters: weights (..., M); position, an index from 0. Returns: (..., M).

    >>> without_position(torch.tensor([0.5, 0.375, 0.125]), 0).tolist()
    [0.0, 0.75, 0.25]
    """
    kept = weights.clone()
    kept[..., position] = 0
    total = kept.sum(dim=-1, keepdim=True)
    if (total == 0).any():
        raise ValueError(f"position: expected some weight elsewhere, got all of it at {position}")
    return kept / total


def uniform_weights(ensemble: Ensemble, batch: Batch) -> Tensor:
    """The same weight for every token of a text, whatever it is: (S, B, M), rows sum to 1."""
    mask = batch.mask.to(ensemble.bias.dtype)
    return (mask / mask.sum(dim=-1, keepdim=True)).expand(len(ensemble.bias), -1, -1)


def right(logits: Tensor, batch: Batch) -> Tensor:
    """In how many of the texts the most likely token is the target: (S,) whole numbers from 0 to B."""
    return right_answers(logits, batch.targets)
