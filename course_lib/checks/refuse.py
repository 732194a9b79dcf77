"""Library functions that an exercise asks to write oneself: refused while, and only while, it is judged.

A teaching aid, not a security boundary: it says "write this yourself" to one who forgot.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, MutableMapping, Sequence
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
    with ExitStack() as stack:
        for name in names:
            found = _find(name)
            if found is not None:
                stack.enter_context(_replaced(name, *found, namespace))
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


@contextmanager
def _replaced(
    name: str, owner: Any, attribute: str, function: Any, namespace: MutableMapping[str, Any]
) -> Iterator[None]:
    words = f"it calls {name}; this exercise is to write that yourself"

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Refused(words)

    aliases = {alias: value for alias, value in namespace.items() if _means(value, function)}
    own = attribute in vars(owner)
    setattr(owner, attribute, refuse)
    namespace.update(dict.fromkeys(aliases, refuse))
    try:
        yield
    finally:
        if own:
            setattr(owner, attribute, function)
        else:
            delattr(owner, attribute)
        namespace.update(aliases)


def _means(value: Any, function: Any) -> bool:
    """Whether a name's value is the function, or the function with some arguments filled in."""
    return value is function or (type(value) is partial and value.func is function)
