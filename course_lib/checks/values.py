"""Values as plain JSON: how inputs travel to a function under check, and its outputs travel back.

Arrays go as dtype, shape and base64 bytes. Nothing is ever pickled, and a decoder checks the number of bytes
before it makes an array, so a record from a kernel that lies can at worst be refused.
"""

from __future__ import annotations

import base64
import binascii
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

Json = Any  # what json.loads gives

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
MAX_BYTES = 16 * 2**20
MAX_ITEMS = 1000
MAX_DEPTH = 4
MAX_TEXT = 200
ERROR = "error"  # stands for an output's name where a function raised instead


class BadRecord(ValueError):
    """A record that does not follow the format; its message is for the log, not for a student."""


@dataclass(frozen=True)
class Received:
    """What a function gave back, as far as it can be judged.

    kind: "array" (NumPy), "tensor" (PyTorch), "number", "bool", "text", "none", "tuple", "list" or "other".
    value: an array for arrays and tensors, the plain value, a list of Received for tuples and lists, or the
    name of the type for "other".
    """

    kind: str
    value: Any


def encode(value: Any, depth: int = 0) -> Json:
    """A value as JSON. What has no encoding becomes {"kind": "other", "type": its name}."""
    if type(value) is Entry:
        arguments = {name: encode(each, depth + 1) for name, each in value.arguments.items()}
        return {"kind": "entry", "name": value.name, "arguments": arguments}
    if value is None or isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic):
        return {
            "kind": "plain",
            "value": value if not isinstance(value, int) or abs(value) < 2**63 else str(value),
        }
    if isinstance(value, (np.ndarray, np.generic)):
        return _encode_array(np.asarray(value), "array")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach().cpu()
        return _encode_array((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(), "tensor")
    if isinstance(value, (tuple, list)) and depth < MAX_DEPTH and len(value) <= MAX_ITEMS:
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "items": [encode(each, depth + 1) for each in value]}
    return {"kind": "other", "type": type(value).__name__}


def decode(record: Json, depth: int = 0) -> Any:
    """The value that a request's record stands for: arrays, tensors and entries are built.

    Raises: BadRecord when the record does not follow the format.
    """
    kind = _kind(record)
    if kind in ("array", "tensor"):
        array = _decode_array(record).copy()
        return _tensor(array) if kind == "tensor" else array
    if kind == "plain":
        return record["value"]
    if kind in ("tuple", "list") and depth < MAX_DEPTH:
        items = [decode(each, depth + 1) for each in record["items"]]
        return tuple(items) if kind == "tuple" else items
    if kind == "entry":
        from .entries import build

        return build(
            record["name"], {name: decode(each, depth + 1) for name, each in record["arguments"].items()}
        )
    raise BadRecord(f"kind {kind!r} has no value")


def receive(record: Json, depth: int = 0) -> Received:
    """What a function gave, from a bundle that is not trusted.

    Raises: BadRecord when the record does not follow the format.
    """
    kind = _kind(record)
    if kind in ("array", "tensor"):
        return Received(kind, _decode_array(record))
    if kind == "plain":
        return Received(*_plain(record.get("value")))
    if kind in ("tuple", "list"):
        items = record.get("items")
        if not isinstance(items, list) or len(items) > MAX_ITEMS or depth >= MAX_DEPTH:
            raise BadRecord(f"{kind} without a list of items")
        return Received(kind, [receive(each, depth + 1) for each in items])
    if kind == "other" and isinstance(record.get("type"), str):
        return Received("other", record["type"][:60])
    raise BadRecord(f"unknown kind {kind!r}")


@dataclass(frozen=True)
class Entry:
    """An argument that is no data but is built from data by name on both sides, as a random generator is."""

    name: str
    arguments: dict[str, Any]


def error_text(error: Json) -> Received:
    """What an error says, in place of an output: known mistakes are recognised by it."""
    return Received("text", f"{error['type']}: {error['message']}"[:MAX_TEXT])


def _kind(record: Json) -> str:
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str):
        raise BadRecord("expected an object with a kind")
    return kind


def _plain(value: Any) -> tuple[str, Any]:
    if value is None:
        return "none", None
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, (int, float)):
        return "number", value
    if isinstance(value, str):
        return "text", value[:MAX_TEXT]
    raise BadRecord(f"plain value of type {type(value).__name__}")


def _encode_array(array: np.ndarray, kind: str) -> Json:
    if array.dtype.name not in DTYPES or array.nbytes > MAX_BYTES:
        return {"kind": "other", "type": f"{kind} of {array.dtype.name}, shape {array.shape}"}
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"kind": kind, "dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def _decode_array(record: Json) -> np.ndarray:
    dtype, shape, data = record.get("dtype"), record.get("shape"), record.get("data")
    if dtype not in DTYPES or not isinstance(data, str) or not isinstance(shape, list):
        raise BadRecord("array without dtype, shape and data")
    if not all(type(size) is int and 0 <= size <= MAX_BYTES for size in shape) or len(shape) > 16:
        raise BadRecord("array with an impossible shape")
    expected = math.prod(shape) * np.dtype(dtype).itemsize
    if expected > MAX_BYTES or len(data) > 2 * MAX_BYTES:
        raise BadRecord("array too large")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRecord("array data is not base64") from error
    if len(raw) != expected:
        raise BadRecord(f"array has {len(raw)} bytes, its shape says {expected}")
    return np.frombuffer(raw, dtype=dtype).reshape(shape)


def _tensor(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array)
