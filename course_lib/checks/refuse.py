"""Library functions that an exercise asks to write oneself: refused while, and only while, it is judged.

A teaching aid, not a security boundary: it says "write this yourself" to one who forgot.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self


class Refused(Exception):
    """Raised inside the function under check when it calls what it should write itself."""


@dataclass(frozen=True)
class _Place:
    """Where a refused function is found. own: whether its owner has it itself, or inherits it."""

    owner: Any
    attribute: str
    function: Any
    own: bool
    refuse: Callable[..., Any]


class Refusing:
    """Inside its `with` block the named functions raise `Refused`, under every name the notebook has for
    them. It can be entered once.

    Parameters: names such as "torch.softmax" or "torch.Tensor.softmax"; namespace, the notebook's names.
    Modules that nobody imported are left alone.
    """

    def __init__(self, names: Sequence[str], namespace: MutableMapping[str, Any]) -> None:
        self.namespace = namespace
        self._not_found = list(names)
        self._places: list[_Place] = []
        self._instead: dict[int, Callable[..., Any]] = {}
        self._aliases: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self.look_again()
        return self

    def __exit__(self, *_: object) -> None:
        self.allow()

    def allow(self) -> None:
        """Let the functions be called again. Whoever catches an interrupt calls it once more: that may have
        come in the middle of the `with` statement."""
        self.namespace.update(self._aliases)
        for place in reversed(self._places):
            if place.own:
                setattr(place.owner, place.attribute, place.function)
            elif place.attribute in vars(place.owner):
                delattr(place.owner, place.attribute)

    def look_again(self) -> None:
        """Refuse those, too, whose modules have been imported since. The others are left as they are: they
        are refused, and PyTorch is slower for a while when a method of its tensors is replaced."""
        places = self._found()
        self._places += places  # first, as an interrupt can come at any time
        for place in places:
            setattr(place.owner, place.attribute, place.refuse)
        if places:
            instead = self._instead
            found = {name: value for name, value in self.namespace.items() if _meant(value) in instead}
            self._aliases = found | self._aliases  # what they were at first counts
            for name, value in self._aliases.items():
                self.namespace[name] = instead[_meant(value)]

    def _found(self) -> list[_Place]:
        """Those that were not found before."""
        places = []
        for name in list(self._not_found):
            found = _find(name)
            if found is not None:
                owner, attribute, function = found
                self._not_found.remove(name)
                refuse = _refusal(name)
                places.append(_Place(owner, attribute, function, attribute in vars(owner), refuse))
                self._instead.setdefault(id(function), refuse)
        return places


def _find(name: str) -> tuple[Any, str, Any] | None:
    """The owner (module or class), attribute and function of a dotted name, if its module is loaded."""
    owner_name, attribute = name.rsplit(".", 1)
    owner = sys.modules.get(owner_name)
    if owner is None:
        module_name, _, class_name = owner_name.rpartition(".")
        owner = getattr(sys.modules.get(module_name), class_name, None)
        if owner is None:
            if not owner_name.startswith("course_lib."):
                return None
            owner = importlib.import_module(owner_name)
    function = getattr(owner, attribute, None)
    return None if function is None else (owner, attribute, function)


def _refusal(name: str) -> Callable[..., Any]:
    words = f"it calls {name}; this exercise is to write that yourself"

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Refused(words)

    return refuse


def _meant(value: Any) -> int:
    """What tells a function from others; that of a function with some arguments filled in is its own."""
    return id(value.func if type(value) is partial else value)
