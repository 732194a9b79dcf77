"""What probes share: the parameters of a module, and the sentence when something is out of place."""

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


def sequence(output: Any) -> Any:
    """Different numbers between -1 and 1, in the shape of a tensor: an output's entries are multiplied
    by them before they are added up for a gradient."""
    import torch

    return torch.cos(1.0 + torch.arange(output.numel(), dtype=output.dtype)).reshape(output.shape)


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names))
