"""Train many small models at once: one loop, one loss, one count, for every kind of model in the course.

S models are a list of tensors with S on the first axis of each, and no number is shared between two models.
A module about one kind of model gives its tensors names and says how their losses are computed.

Dimension letters: S models, B texts, N tokens to choose from.

>>> def square(numbers):
...     return numbers[0] ** 2  # each model is one number, and so is its loss
>>> starts, sgd = [torch.tensor([1.0, 3.0])], partial(torch.optim.SGD, lr=0.25)
>>> trained, history = train(starts, square, sgd, updates=2)
>>> trained[0].tolist(), history.tolist()
([0.25, 0.75], [[1.0, 9.0], [0.25, 2.25]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

Optimiser = Callable[[list[Tensor]], torch.optim.Optimizer]
Progress = Callable[[Iterable[int]], Iterable[int]]
Watch = Callable[[int, list[Tensor]], None]


def adam(lr: float) -> Optimiser:
    """Adam in PyTorch's fused form: one pass over all numbers in an update, so less time for many models."""
    return partial(torch.optim.Adam, lr=lr, fused=True)


def train(
    starts: Sequence[Tensor],
    losses: Callable[[list[Tensor]], Tensor],
    optimiser: Optimiser,
    updates: int,
    *,
    progress: Progress = iter,
    watch: Watch | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Train every model as if it were alone.

    The losses are added up before the gradient is taken. A model's numbers occur in its own loss only, so the
    sum gives each of them the gradient of that loss.

    Parameters: starts, tensors with S on the first axis; losses gives from such tensors the loss of each
    model, (S,); optimiser makes an optimiser for them; progress may wrap the loop over the updates, to show a
    bar; watch is called with the number of updates made, 0 to `updates`, and the tensors as they stand, which
    the next update changes.
    Returns: the trained tensors (those given are not changed), and each loss before each update,
    (updates, S).
    """
    numbers = [tensor.detach().clone().requires_grad_() for tensor in starts]
    step = optimiser(numbers)
    history = torch.empty(updates, len(numbers[0]), dtype=numbers[0].dtype)
    for update in progress(range(updates)):
        if watch:
            watch(update, [tensor.detach() for tensor in numbers])
        losses_S = losses(numbers)
        step.zero_grad()
        losses_S.sum().backward()
        step.step()
        history[update] = losses_S.detach()
    trained = [tensor.detach() for tensor in numbers]
    if watch:
        watch(updates, trained)
    return trained, history


def answer_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean negative log-likelihood of the targets, one per model.

    Parameters: logits (S, B, N), targets (B,). Returns: (S,), 0 or more.

    >>> [round(loss, 3) for loss in answer_losses(torch.zeros(2, 3, 17), torch.tensor([4, 5, 6])).tolist()]
    [2.833, 2.833]
    """
    losses_SB = functional.cross_entropy(logits.mT, targets.expand(len(logits), -1), reduction="none")
    return losses_SB.mean(dim=-1)


def right(logits: Tensor, targets: Tensor) -> Tensor:
    """In how many of the texts the most likely token is the target: (S,) whole numbers from 0 to B."""
    return (logits.argmax(dim=-1) == targets).sum(dim=-1)
