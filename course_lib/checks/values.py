"""Values as plain JSON: how inputs travel to a function under check, and its outputs travel back.

Nothing is ever pickled, and nothing is made that is larger than it may be, so a record from a kernel that
lies can at worst be refused.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import MAX_BYTES, BadRecord, Json, Room, decode_array, encode_array, other

MAX_ITEMS = 1000
MAX_DEPTH = 4
MAX_TEXT = 200
ERROR = "error"  # stands for an output's name where a function raised instead


@dataclass(frozen=True)
class Received:
    """What a function gave back, as far as it can be judged.

    kind: "array" (NumPy), "tensor" (PyTorch), "number", "bool", "text", "none", "tuple", "list" or "other".
    value: an array for arrays and tensors, the plain value, a list of Received for tuples and lists, or what
    it is in words for "other".
    """

    kind: str
    value: Any


def encode(value: Any) -> Json:
    """A value as JSON, of at most about MAX_BYTES. Whatever the value is, it raises nothing but an interrupt.

    What has no encoding becomes {"kind": "other", "type": what it is in words}.
    """
    try:
        return _encode(value, 0, Room(MAX_BYTES))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a student's object can do anything when it is looked at
        return other("a value that cannot be read")


def _encode(value: Any, depth: int, room: Room) -> Json:
    if type(value) is Entry:
        arguments = {name: _encode(each, depth + 1, room) for name, each in value.arguments.items()}
        return {"kind": "entry", "name": value.name, "arguments": arguments}
    if type(value) is Same:
        return {"kind": "same", "name": value.name}
    if isinstance(value, (np.ndarray, np.generic)):
        return encode_array(np.asarray(value), "array", room)
    if value is None or isinstance(value, (bool, int, float, str)):
        return _encode_plain(value, room)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach().cpu()
        array = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
        return encode_array(array, "tensor", room)
    if isinstance(value, (tuple, list)):
        return _encode_items(value, depth, room)
    if type(value) is dict and _is_mapping(value, room):
        return {"kind": "mapping", "keys": list(value), "values": list(value.values())}
    return other(f"a value of type {type(value).__name__}")


def _encode_plain(value: Any, room: Room) -> Json:
    if isinstance(value, int) and abs(value) >= 2**63:
        return other("a whole number too large to read")
    if not room.take(len(value) if isinstance(value, str) else 8):
        return other("a value too large to read")
    return {"kind": "plain", "value": value}


def _encode_items(value: Any, depth: int, room: Room) -> Json:
    kind = "tuple" if isinstance(value, tuple) else "list"
    if depth >= MAX_DEPTH or len(value) > MAX_ITEMS or not room.take(64):
        return other(f"a {kind} with too much in it")
    return {"kind": kind, "items": [_encode(each, depth + 1, room) for each in value]}


def _is_mapping(value: dict[Any, Any], room: Room) -> bool:
    """Whether it is a small dict of text to whole numbers, the only one that has an encoding."""
    return (
        len(value) <= MAX_ITEMS
        and all(type(key) is str and type(number) is int for key, number in value.items())
        and all(abs(number) < 2**63 for number in value.values())
        and room.take(sum(64 + len(key) for key in value))
    )


def decode(record: Json, depth: int = 0, *, build: bool = True) -> Any:
    """The value that a request's record stands for.

    Parameters: build, False for a reader of values, who does without PyTorch: a tensor is an array then, and
    an entry only its name.
    Raises: BadRecord when the record does not follow the format.
    """
    kind = _kind(record)
    if kind in ("array", "tensor"):
        array = decode_array(record).copy()
        return _tensor(array) if kind == "tensor" and build else array
    if kind == "plain":
        return _plain(record.get("value"))[1]
    if kind in ("tuple", "list"):
        items = [decode(each, depth + 1, build=build) for each in _items(record, depth)]
        return tuple(items) if kind == "tuple" else items
    if kind == "mapping":
        return _mapping(record)
    if kind == "entry":
        name, arguments = record.get("name"), record.get("arguments")
        if not isinstance(arguments, dict):
            raise BadRecord("entry without arguments")
        return _entry(name, arguments, depth) if build else name
    raise BadRecord(f"kind {kind!r} has no value")


def receive(record: Json, depth: int = 0) -> Received:
    """What a function gave, from a bundle that is not trusted.

    Raises: BadRecord when the record does not follow the format.
    """
    kind = _kind(record)
    if kind in ("array", "tensor"):
        return Received(kind, decode_array(record))
    if kind == "plain":
        return Received(*_plain(record.get("value")))
    if kind in ("tuple", "list"):
        return Received(kind, [receive(each, depth + 1) for each in _items(record, depth)])
    if kind == "mapping":  # an argument only: no exercise returns one
        return Received("other", "a value of type dict")
    if kind == "other" and isinstance(record.get("type"), str):
        return Received("other", readable(record["type"], 80))
    raise BadRecord(f"unknown kind {kind!r}")


@dataclass(frozen=True)
class Entry:
    """An argument that is no data but is built from data by name on both sides, as a random generator is."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Same:
    """An argument that is the very object of another argument, which stands before it: as in f(X, X, X)."""

    name: str


def decode_named(arguments: Json, names: Sequence[str], *, build: bool = True) -> dict[str, Any]:
    """The values of those of a call's arguments, in that order: see `decode`."""
    values: dict[str, Any] = {}
    for name in names:
        record = arguments[name]
        same = _kind(record) == "same" and record.get("name")
        values[name] = values[same] if same in values else decode(record, build=build)
    return values


def error_text(error: Json) -> Received:
    """What an error says, in place of an output: known mistakes are recognised by it."""
    return Received("text", f"{error['type']}: {error['message']}"[:MAX_TEXT])


def readable(text: str, length: int = MAX_TEXT) -> str:
    """Text from a kernel as it may stand in a sentence: one short line, without what a terminal obeys.

    >>> readable("two\\nlines", 7)
    'two lin'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text[:length])


def _kind(record: Json) -> str:
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str):
        raise BadRecord("expected an object with a kind")
    return kind


def _items(record: Json, depth: int) -> list[Json]:
    items = record.get("items")
    if not isinstance(items, list) or len(items) > MAX_ITEMS or depth >= MAX_DEPTH:
        raise BadRecord("a tuple or list without items, or with too many")
    return items


def _mapping(record: Json) -> dict[str, int]:
    """A small dict of text to whole numbers, in the order that it had."""
    keys, values = record.get("keys"), record.get("values")
    if (
        not isinstance(keys, list)
        or not isinstance(values, list)
        or not len(keys) == len(values) <= MAX_ITEMS
    ):
        raise BadRecord("a mapping without as many keys as values, or with too many")
    if not all(type(key) is str for key in keys) or not all(type(value) is int for value in values):
        raise BadRecord("a mapping of something else than text to whole numbers")
    return dict(zip(keys, values, strict=True))


def _plain(value: Any) -> tuple[str, Any]:
    if value is None:
        return "none", None
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63):
        return "number", value
    if isinstance(value, str):
        return "text", value[:MAX_TEXT]
    raise BadRecord(f"plain value of type {type(value).__name__}")


def _entry(name: Any, arguments: dict[str, Json], depth: int) -> Any:
    from .entries import build

    return build(name, {key: decode(each, depth + 1) for key, each in arguments.items()})


def _tensor(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array)
