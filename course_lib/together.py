"""Train many copies of one small model at once, given only a function that reads with one of them.

The numbers of a model are tensors with names, in a dictionary. S models are one dictionary of tensors with S
on the first axis, and no number is shared between two models. `torch.func.vmap` turns a function of one model
into a function of all S: each operation then runs once, on larger tensors.

The loop and the counting are those of `course_lib.ensemble`. Dimension letters: S models, B texts.

>>> starts = draw({"slope": (2, 3)}, models=5, scale=0.1, seed=0)
>>> inputs, targets = torch.eye(2), torch.tensor([2, 0])
>>> trained, losses = train(lambda model: inputs @ model["slope"], starts, targets, updates=4, lr=0.1)
>>> losses.shape, bool((losses[3] < losses[0]).all())
(torch.Size([4, 5]), True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from course_lib import ensemble
from course_lib.ensemble import answer_losses, right

__all__ = ["Numbers", "Reader", "draw", "pick", "read_all", "right", "train"]

Numbers = dict[str, Tensor]
Reader = Callable[[Numbers], Tensor]


def draw(
    shapes: Mapping[str, tuple[int, ...]],
    models: int,
    scale: float | Mapping[str, float],
    seed: int,
    *,
    dtype: torch.dtype = torch.float32,
) -> Numbers:
    """Random starts: normal numbers times `scale`, drawn name by name.

    Parameters: shapes of one model's tensors; scale one number for all, or numbers by name, where a name that
    is left out gets zeros; dtype their type. Returns: a dictionary of tensors (S, *shape).

    >>> {name: tuple(tensor.shape) for name, tensor in draw({"E": (7, 2)}, 3, 0.5, seed=1).items()}
    {'E': (3, 7, 2)}
    """
    if models < 1:
        raise ValueError(f"models: expected 1 or more, got {models}")
    scales = dict.fromkeys(shapes, scale) if isinstance(scale, (int, float)) else scale
    if not set(scales) <= set(shapes):
        raise ValueError(f"scale: expected names among {sorted(shapes)}, got {sorted(scales)}")
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(models, *shape, generator=generator, dtype=dtype) * scales.get(name, 0.0)
        for name, shape in shapes.items()
    }


def read_all(read: Reader, models: Numbers) -> Tensor:
    """What every model says: `read` of each of them, stacked on a first axis of length S."""
    return torch.func.vmap(read)(models)


def pick(models: Numbers, which: int) -> Numbers:
    """The numbers of one model, without the axis of models."""
    return {name: tensor[which] for name, tensor in models.items()}


def train(
    read: Reader,
    starts: Numbers,
    targets: Tensor,
    updates: int,
    lr: float,
    *,
    progress: ensemble.Progress = iter,
) -> tuple[Numbers, Tensor]:
    """Train every model with Adam on all texts, each as if it were alone.

    Parameters: read gives one model's logits (B, N) for all texts; targets (B,); progress may wrap the loop
    over the updates, to show a bar.
    Returns: the trained models (those given are not changed), and every loss before each update (updates, S).
    """

    def losses(numbers: list[Tensor]) -> Tensor:
        return answer_losses(read_all(read, dict(zip(starts, numbers, strict=True))), targets)

    trained, history = ensemble.train(
        list(starts.values()), losses, ensemble.adam(lr), updates, progress=progress
    )
    return dict(zip(starts, trained, strict=True)), history
