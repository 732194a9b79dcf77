"""Probes for texts, the training of the colour-recall model, and the reading of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .parameters import Wrong, sequence
from .probes_recall import TABLES


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

    A list of all tokens, or of all positions, names none of them. Raises: Wrong when there is no error.
    """
    try:
        function(text, vocabulary)
    except ValueError as error:
        tokens = text.split()
        said = re.sub(r"\W{1,4}".join(map(re.escape, tokens)), "", str(error))
        said = re.sub(r"\D{1,3}".join(map(str, range(len(tokens)))), "", said)
        return token in said, re.search(rf"(?<!\d){position}(?!\d)", said) is not None
    raise Wrong("It must raise ValueError, as a token is unknown; yours returned something.")


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

    training = recall_texts.make_batch(*recall_texts.training_examples())
    longer = recall_texts.make_batch(*recall_texts.validation_examples())
    losses, right = [], []
    for seed in seeds:
        model = random_start(seed)
        function(model, tuple(each.clone() for each in training), updates, lr)
        with torch.no_grad():
            logits, _ = model(*training[:3])
            losses.append(torch.nn.functional.cross_entropy(logits, training[3]))
            answers = model(longer.ids, longer.mask, longer.last)[0].argmax(dim=-1)
            right.append((answers == longer.targets).sum())
    return torch.stack(losses), torch.stack(right)


def reading(function: Callable[..., Any], model: Any, ids: Any, position: int) -> Any:
    """What a function reads off a model, which is in training and has gradients from before.

    Raises: Wrong when it changes the model or PyTorch's setting of gradients, or returns a gradient.
    """
    import torch

    for parameter in model.parameters():
        parameter.grad = sequence(parameter)
    names = set(vars(model))
    tables = {name: table.detach().clone() for name, table in model.named_parameters()}
    torch.set_grad_enabled(True)  # an earlier call may have left them off
    try:
        read = function(model, ids, position)
        switched_off = not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    after = dict(model.named_parameters())
    if set(after) != set(tables) or not all(_same(after[name], table) for name, table in tables.items()):
        raise Wrong("Your function changes the model, which it should only read.")
    if not all(each.requires_grad for each in after.values()):
        raise Wrong("Your function leaves parameters that no longer require a gradient.")
    if not all(each.grad is not None and _same(each.grad, sequence(each)) for each in after.values()):
        raise Wrong("Your function changes gradients that the model's parameters hold from before.")
    if not model.training:
        raise Wrong("Your function leaves the model in evaluation mode; it came in training mode.")
    if set(vars(model)) != names:
        raise Wrong("Your function leaves a new attribute in the model, which it should only read.")
    if switched_off:
        raise Wrong("Your function leaves gradients switched off. Which block switches them on again?")
    if isinstance(read, torch.Tensor) and read.requires_grad:
        raise Wrong(
            "The result still carries a gradient. Which block switches gradients off while one reads?"
        )
    return read


def _same(table: Any, before: Any) -> bool:
    """Whether a table has the type and the numbers that it had before."""
    return table.dtype == before.dtype and bool((table == before).all())


PROBES: dict[str, Callable[..., Any]] = {
    "list_of_ids": list_of_ids,
    "reading": reading,
    "trained": trained,
    "trained_from_seeds": trained_from_seeds,
    "what_an_error_says": what_an_error_says,
}
