"""Probes for texts, the colour-recall model, its training, and the reading of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from .parameters import Wrong, load_parameters, sequence

TABLES = ("embedding", "W_q", "W_k", "W_v", "W_out", "bias")


def list_of_ids(function: Callable[..., Any], text: str, vocabulary: dict[str, int]) -> Any:
    """The ids as a tensor. Raises: Wrong when they are no list of whole numbers."""
    import torch

    ids = function(text, vocabulary)
    if not isinstance(ids, list):
        raise Wrong(f"Return a list of whole numbers, not a value of type {type(ids).__name__}.")
    strange = [each for each in ids if type(each) is not int]
    if strange:
        raise Wrong(
            f"The list must hold whole numbers; yours holds a value of type {type(strange[0]).__name__}."
        )
    return torch.tensor(ids, dtype=torch.int64)


def what_an_error_says(
    function: Callable[..., Any], text: str, vocabulary: dict[str, int], token: str, position: int
) -> tuple[bool, bool]:
    """Whether the ValueError names the token, and whether it tells the position.

    Raises: Wrong when there is no error.
    """
    try:
        function(text, vocabulary)
    except ValueError as error:
        said = str(error)
        return token in said, re.search(rf"(?<!\d){position}(?!\d)", said) is not None
    raise Wrong("It must raise ValueError, as a token is unknown; yours returned something.")


def recall_model(
    layer: Callable[..., Any],
    embedding: Any,
    W_q: Any,
    W_k: Any,
    W_v: Any,
    W_out: Any,
    bias: Any,
    ids: Any,
    mask: Any,
    last: Any,
) -> Any:
    """What a model with given parameters returns for a batch."""
    module = layer(*embedding.shape, W_q.shape[1])
    load_parameters(module, dict(zip(TABLES, (embedding, W_q, W_k, W_v, W_out, bias), strict=True)))
    return module(ids, mask, last)


def recall_model_with_gradients(
    layer: Callable[..., Any],
    embedding: Any,
    W_q: Any,
    W_k: Any,
    W_v: Any,
    W_out: Any,
    bias: Any,
    ids: Any,
    mask: Any,
    last: Any,
) -> tuple[Any, ...]:
    """The same, then the gradient of each parameter. It is that of the logits: weights may be detached.

    Raises: Wrong when a parameter gets no gradient.
    """
    import torch

    module = layer(*embedding.shape, W_q.shape[1])
    load_parameters(module, dict(zip(TABLES, (embedding, W_q, W_k, W_v, W_out, bias), strict=True)))
    returned = module(ids, mask, last)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise Wrong("Return two values, (logits, weights).")
    logits, weights = returned
    if not isinstance(logits, torch.Tensor) or not logits.requires_grad:
        raise Wrong("No gradient flows from the logits back. Does a step leave PyTorch, or detach?")
    (logits * sequence(logits)).sum().backward()
    gradients = [dict(module.named_parameters())[name].grad for name in TABLES]
    without = [name for name, gradient in zip(TABLES, gradients, strict=True) if gradient is None]
    if without:
        raise Wrong(f"No gradient reaches {', '.join(without)}: training would leave it as it is.")
    return (logits, weights, *gradients)


def recall_start(
    layer: Callable[..., Any],
    seed: int,
    other_seed: int,
    with_generator: bool,
    sizes: Sequence[int] | None,
    scale: float | None,
) -> tuple[Any, ...]:
    """How a model's tables start, in numbers: by table, in the order of `TABLES`.

    Means; standard deviations; largest differences from a second model of the same seed, and of another seed;
    how alike two tables of one model are at most: the correlation of their first numbers, in standard errors;
    and how many numbers each table holds. Without a generator the seed is that of PyTorch's own.
    """
    import torch

    given = [] if sizes is None or scale is None else [*sizes, scale]

    def start(seed: int, elsewhere: int) -> list[Any]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(elsewhere if with_generator else seed)
            generator = [torch.Generator().manual_seed(seed)] if with_generator else []
            module = layer(*given, *generator)
        if not isinstance(module, torch.nn.Module):
            raise Wrong(f"The class must be an nn.Module; yours makes a {type(module).__name__}.")
        own = dict(module.named_parameters())
        if set(own) != set(TABLES):
            raise Wrong(f"Its parameters must be {', '.join(TABLES)}; yours are {', '.join(own) or 'none'}.")
        return [own[name].detach().double().flatten() for name in TABLES]

    tables, again, other = start(seed, 1), start(seed, 2), start(other_seed, 3)
    return (
        torch.stack([table.mean() for table in tables]),
        torch.stack([table.std(correction=0) for table in tables]),
        _furthest(tables, again),
        _furthest(tables, other),
        max(_alikeness(first, second) for first, second in combinations(tables[:-1], 2)),
        torch.tensor([len(table) for table in tables]),
    )


def _furthest(first: Sequence[Any], second: Sequence[Any]) -> Any:
    """By table, the largest difference between two models; infinity where their shapes differ."""
    import torch

    return torch.tensor(
        [
            (a - b).abs().max().item() if a.shape == b.shape else torch.inf
            for a, b in zip(first, second, strict=True)
        ]
    )


def _alikeness(first: Any, second: Any) -> float:
    """The correlation of as many numbers as both tables have, in standard errors; 0 without any spread."""
    size = min(len(first), len(second))
    a, b = first[:size] - first[:size].mean(), second[:size] - second[:size].mean()
    spread = float(a.norm() * b.norm())
    return abs(float(a @ b)) / spread * size**0.5 if spread else 0.0


def trained(
    function: Callable[..., Any],
    model: Any,
    ids: Any,
    mask: Any,
    last: Any,
    targets: Any,
    updates: int,
    lr: float,
    old_gradients: bool = False,
) -> tuple[Any, ...]:
    """The losses that training records, and the model's parameters afterwards, in the order of `TABLES`.

    old_gradients: the model comes with gradients from before. Raises: Wrong when there is no list of floats.
    """
    import torch

    if old_gradients:
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
    losses = function(model, (ids, mask, last, targets), updates, lr)
    if not isinstance(losses, list):
        raise Wrong(f"Return a list of floats, not a value of type {type(losses).__name__}.")
    strange = [each for each in losses if not isinstance(each, float)]
    if strange:
        kind = type(strange[0]).__name__
        raise Wrong(f"The list must hold Python floats; yours holds a value of type {kind}.")
    own = dict(model.named_parameters())
    return (torch.tensor(losses, dtype=torch.float64), *(own[name].detach() for name in TABLES))


def trained_from_seeds(function: Callable[..., Any], seeds: Sequence[int], updates: int, lr: float) -> Any:
    """For models from several random starts, trained on chapter 6's nine texts: the loss afterwards, and how
    many of the three longer texts they get right."""
    import torch

    from course_lib import recall_texts

    from .torch_recall import random_start

    training = tuple(recall_texts.make_batch(*recall_texts.training_examples()))
    longer = recall_texts.make_batch(*recall_texts.validation_examples())
    losses, right = [], []
    for seed in seeds:
        model = random_start(seed)
        function(model, training, updates, lr)
        with torch.no_grad():
            logits, _ = model(*training[:3])
            losses.append(torch.nn.functional.cross_entropy(logits, training[3]))
            answers = model(longer.ids, longer.mask, longer.last)[0].argmax(dim=-1)
            right.append((answers == longer.targets).sum())
    return torch.stack(losses), torch.stack(right)


def reading(function: Callable[..., Any], model: Any, ids: Any, position: int) -> Any:
    """What a function reads off a model. Raises: Wrong when it changes the model or returns a gradient."""
    import torch

    before = {name: table.detach().clone() for name, table in model.named_parameters()}
    read = function(model, ids, position)
    after = dict(model.named_parameters())
    if set(after) != set(before) or any(
        not torch.equal(after[name], table) for name, table in before.items()
    ):
        raise Wrong("Your function changes the model, which it should only read.")
    if isinstance(read, torch.Tensor) and read.requires_grad:
        raise Wrong(
            "The result still carries a gradient. Which block switches gradients off while one reads?"
        )
    return read


PROBES: dict[str, Callable[..., Any]] = {
    "list_of_ids": list_of_ids,
    "reading": reading,
    "recall_model": recall_model,
    "recall_model_with_gradients": recall_model_with_gradients,
    "recall_start": recall_start,
    "trained": trained,
    "trained_from_seeds": trained_from_seeds,
    "what_an_error_says": what_an_error_says,
}
