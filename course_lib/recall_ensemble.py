"""Hundreds of colour-recall models: starts from numbered seeds, training with stops, and their kinds.

All models are in double precision, so that rounding seldom decides which start succeeds. Dimension letters:
S models, B texts, M keys.

>>> batch = recall.make_batch(*recall.training_examples())
>>> stages = train_stages(seeded_starts([802, 647], scale=0.2), batch, lr=0.03, stops=[0, 3])
>>> sorted(stages), len(stages[3].bias)
([0, 3], 2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib import recall
from course_lib.recall import Batch, Ensemble

COLOUR_INDEX = 4  # the colour is the fifth token of every text


class Kinds(NamedTuple):
    """What S models do, each field bool (S,): how many of the texts they get right, and where they look.

    right: every text; all_looked_at: right, and more than half of the weight on the colour in every text;
    one_by_default: right, and so in every text but one.
    """

    right: Tensor
    all_looked_at: Tensor
    one_by_default: Tensor


def seeded_starts(seeds: Iterable[int], scale: float, d_k: int = 4) -> Ensemble:
    """One random start per seed: what `torch.randn(...) * scale` gives after `torch.manual_seed(seed)`.

    Drawn for each model in the order embedding, W_q, W_k, W_v, W_out; biases are 0. A seed gives the same
    directions at every scale.

    >>> ours = seeded_starts([7], scale=0.5)
    >>> _ = torch.manual_seed(7)
    >>> torch.equal(ours.embedding[0].float(), torch.randn(17, 8) * 0.5)
    True
    """
    drawn = [recall.draw_ensemble(1, d_k, scale, torch.Generator().manual_seed(seed)) for seed in seeds]
    if not drawn:
        raise ValueError("seeds: expected at least one, got none")
    return recall.in_double_precision(join(drawn))


def join(parts: Sequence[Ensemble]) -> Ensemble:
    """The models of several ensembles in one, in their order."""
    return Ensemble(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


def select(ensemble: Ensemble, which: Tensor | slice | Sequence[int]) -> Ensemble:
    """Some models of an ensemble: numbers, a slice, or one boolean per model. The axis of models stays.

    >>> select(seeded_starts([3, 4, 5], scale=0.2), [2]).bias.shape
    torch.Size([1, 17])
    """
    return Ensemble(*(tensor[which] for tensor in ensemble))


def train_stages(
    ensemble: Ensemble,
    batch: Batch,
    lr: float,
    stops: Sequence[int],
    *,
    part: int = 400,
    progress: Callable[[Sequence[Ensemble]], Iterable[Ensemble]] = iter,
) -> dict[int, Ensemble]:
    """Train with Adam, and keep the models as they stand after each number of updates in `stops`.

    Models are trained `part` at a time, so that their tensors fit into the processor's cache; nothing else
    changes. `progress` may wrap the loop over the parts, to show a bar. Adam is PyTorch's fused one, which
    takes the same step in fewer passes over memory.
    """
    if not stops or min(stops) < 0 or part < 1:
        raise ValueError(f"stops, part: expected numbers from 0 and a part of 1 or more, got {stops}, {part}")
    kept: dict[int, list[Ensemble]] = {stop: [] for stop in stops}

    def keep(update: int, models: Ensemble) -> None:
        if update in kept:
            kept[update].append(Ensemble(*(tensor.clone() for tensor in models)))

    fused_adam = partial(torch.optim.Adam, fused=True)
    starts = [select(ensemble, slice(at, at + part)) for at in range(0, len(ensemble.bias), part)]
    for models in progress(starts):
        recall.train(models, batch, max(stops), lr, optimiser=fused_adam, watch=keep)
    return {stop: join(parts) for stop, parts in kept.items()}


def kinds(ensemble: Ensemble, batch: Batch, position: int = COLOUR_INDEX) -> Kinds:
    """Which models are right in every text, and in how many texts they look at the token at `position`."""
    with torch.no_grad():
        logits_SBN, weights_SBM = recall.forward(ensemble, batch)
    right = (logits_SBN.argmax(dim=-1) == batch.targets).all(dim=-1)
    looked_at = (weights_SBM[:, :, position] > 0.5).sum(dim=-1)
    texts = len(batch.targets)
    return Kinds(right, right & (looked_at == texts), right & (looked_at == texts - 1))
