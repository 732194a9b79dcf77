"""Library functions that an exercise asks to write oneself: refused while, and only while, it is judged.

A teaching aid, not a security boundary: it says "write this yourself" to one who forgot.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any


class Refused(Exception):
    """Raised inside the function under check when it calls what it should write itself."""


@contextmanager
def refusing(names: Sequence[str], namespace: MutableMapping[str, Any]) -> Iterator[None]:
    """Make the named functions raise `Refused` inside the block, under every name the notebook has for them.

    Parameters: names such as "torch.softmax" or "torch.Tensor.softmax"; namespace, the notebook's names.
    Modules that nobody imported are left alone.
    """
    found = {name: each for name in names if (each := _find(name)) is not None}
    refusals = {name: _refusal(name) for name in found}
    instead: dict[int, Callable[..., Any]] = {}
    for name, (_, _, function) in found.items():
        instead.setdefault(id(function), refusals[name])
    aliases = {alias: value for alias, value in namespace.items() if _meant(value) in instead}
    with ExitStack() as stack:
        for name, (owner, attribute, function) in found.items():
            stack.enter_context(_replaced(owner, attribute, function, refusals[name]))
        stack.callback(namespace.update, aliases)
        namespace.update({alias: instead[_meant(value)] for alias, value in aliases.items()})
        yield


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


@contextmanager
def _replaced(owner: Any, attribute: str, function: Any, refuse: Callable[..., Any]) -> Iterator[None]:
    own = attribute in vars(owner)
    setattr(owner, attribute, refuse)
    try:
        yield
    finally:
        if own:
            setattr(owner, attribute, function)
        else:
            delattr(owner, attribute)


def _meant(value: Any) -> int:
    """What tells a function from others; that of a function with some arguments filled in is its own."""
    return id(value.func if type(value) is partial else value)
