"""PyTorch, imported when something of it is first used: describing cases does not need it, drawing them does.

The marker of a class describes and never draws; it would wait for PyTorch longer than for all else it does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Later:
    """A module by its name. Whatever is looked up on it is that of the module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # of which Python asks, and no case
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import torch
else:
    torch = Later("torch")

__all__ = ["torch"]
