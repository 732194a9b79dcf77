"""Arrays as plain JSON: dtype, shape and base64 bytes, within limits that hold before an array is made."""

from __future__ import annotations

import binascii
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Json = Any  # what json.loads gives

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
SIZES = {name: np.dtype(name).itemsize for name in DTYPES}
NAMES = {np.dtype(name): name for name in DTYPES}  # NumPy makes a name anew each time it is asked for one
MAX_BYTES = 2**20  # of one value in all; the largest right answer of the course is below a tenth of it
MAX_AXES = 16


class BadRecord(ValueError):
    """A record that does not follow the format; its message is for the log, not for a student."""


class Room:
    """How many bytes may still be written."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, count: int) -> bool:
        """Whether there is room for that many more, which are then taken."""
        self.left -= count
        return self.left >= 0


def other(words: str) -> Json:
    """What stands for a value that has no encoding: what it is, in words."""
    return {"kind": "other", "type": words}


def encode_array(array: np.ndarray, kind: str, room: Room) -> Json:
    """An array as JSON of that kind, "array" or "tensor", or what it is in words."""
    dtype = array.dtype if array.dtype in NAMES else _nearest(array.dtype)
    if dtype not in NAMES or array.ndim > MAX_AXES:
        return other(f"{'an array' if kind == 'array' else 'a tensor'} of {array.dtype.name}")
    if not room.take(_size(array.shape) * dtype.itemsize):
        return other("an array too large to read")
    data = binascii.b2a_base64(array.astype(dtype, copy=False).tobytes(), newline=False).decode()
    return {"kind": kind, "dtype": NAMES[dtype], "shape": list(array.shape), "data": data}


def _nearest(dtype: np.dtype) -> np.dtype:
    """The type in which numbers of another one are sent: with this machine's order of bytes, and no more
    exact than 64 bits."""
    native = dtype.newbyteorder("=") if dtype.kind in "iuf" else dtype
    return np.dtype(np.float64) if native.kind == "f" and native not in NAMES else native


def decode_array(record: Json) -> np.ndarray:
    """The array of a record that is not trusted. Raises: BadRecord when it does not follow the format."""
    dtype, shape, data = record.get("dtype"), record.get("shape"), record.get("data")
    if dtype not in DTYPES or not isinstance(data, str) or not isinstance(shape, list):
        raise BadRecord("array without dtype, shape and data")
    if len(shape) > MAX_AXES or not all(type(size) is int and 0 <= size <= MAX_BYTES for size in shape):
        raise BadRecord("array with an impossible shape")
    if _size(shape) * SIZES[dtype] > MAX_BYTES:
        raise BadRecord("array too large")
    if len(data) > 2 * MAX_BYTES:
        raise BadRecord("array data too long")
    try:
        raw = binascii.a2b_base64(data, strict_mode=True)
    except ValueError as error:
        raise BadRecord("array data is not base64") from error
    expected = math.prod(shape) * SIZES[dtype]
    if len(raw) != expected:
        raise BadRecord(f"array has {len(raw)} bytes, its shape says {expected}")
    if dtype == "bool" and raw.strip(b"\x00\x01"):
        raise BadRecord("array of booleans that are neither True nor False")
    return np.frombuffer(raw, dtype=dtype).reshape(shape)


def _size(shape: Sequence[int]) -> int:
    """How many numbers there are. An axis of length 0 counts as 1: it must not hide that the others are huge,
    since NumPy refuses to make such an array, too."""
    return math.prod(shape) or math.prod(max(size, 1) for size in shape)
