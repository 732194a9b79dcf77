"""What probes share: the parameters of a module, their gradients, and sentences for what is out of place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Wrong(Exception):
    """What a probe found out of place; the message is a sentence for the student."""


def load_parameters(module: Any, values: Mapping[str, Any]) -> None:
    """Give a module's parameters the values of that name.

    Raises: Wrong when it is no module, or its parameters have other names or shapes.
    """
    import torch

    if not isinstance(module, torch.nn.Module):
        raise Wrong(f"The class must be an nn.Module; yours makes a {type(module).__name__}.")
    own = dict(module.named_parameters())
    if set(own) != set(values):
        raise Wrong(f"Its parameters must be {_listed(values)}; yours are {_listed(own) or 'none'}.")
    for name, value in values.items():
        if own[name].shape != value.shape:
            wanted, came = tuple(value.shape), tuple(own[name].shape)
            raise Wrong(f"The parameter {name} must have shape {wanted}; yours has {came}.")
    with torch.no_grad():
        for name, value in values.items():
            own[name].copy_(value)


def pair(returned: Any, names: str) -> tuple[Any, Any]:
    """The two values that a function returned. Raises: Wrong, with their names, when there are not two."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise Wrong(f"Return two values, ({names}).")
    return returned[0], returned[1]


def gradients(output: Any, leaves: Mapping[str, Any], name: str = "output") -> tuple[Any, ...]:
    """The gradient of each leaf: that of all entries of the output, each times its number in `sequence`.

    Raises: Wrong when none flows from the output, which has that name, or none reaches a leaf.
    """
    import torch

    if not isinstance(output, torch.Tensor) or not output.requires_grad:
        raise Wrong(f"No gradient flows from the {name} back. Does a step leave PyTorch, or detach?")
    (output * sequence(output)).sum().backward()
    without = [leaf for leaf, tensor in leaves.items() if tensor.grad is None]
    if without:
        raise Wrong(f"No gradient reaches {', '.join(without)}: training would leave it as it is.")
    return tuple(tensor.grad for tensor in leaves.values())


def sequence(output: Any) -> Any:
    """Different numbers between -1 and 1, in the shape of a tensor: an output's entries are multiplied
    by them before they are added up for a gradient."""
    import torch

    return torch.cos(1.0 + torch.arange(output.numel(), dtype=output.dtype)).reshape(output.shape)


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names))
