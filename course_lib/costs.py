"""Count what PyTorch does: multiply-adds, and bytes of the tensors that a calculation makes.

Both counts are exact and the same on every machine. They also work on the device "meta", where tensors have a
shape and no numbers, so that a layer can be counted that would not fit into memory.

>>> a, b = torch.zeros(3, 5), torch.zeros(5, 2)
>>> count_multiply_adds(torch.matmul, a, b), count_bytes(lambda: (a @ b).exp())
(30, Bytes(largest=24, peak=48))
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode


class Bytes(NamedTuple):
    """largest: of the largest new tensor; peak: of all new tensors alive at the same time, at most."""

    largest: int
    peak: int


def count_multiply_adds(calculation: Callable[..., object], *arguments: object) -> int:
    """Multiply-adds of all matrix products and convolutions in `calculation(*arguments)`.

    PyTorch counts floating point operations, two for each multiply-add. Softmax and other steps that handle
    each number once are not counted, nor is anything inside PyTorch's fused attention on a CPU.

    >>> count_multiply_adds(torch.matmul, torch.zeros(2, 3, device="meta"), torch.zeros(3, 7, device="meta"))
    42
    """
    with FlopCounterMode(display=False) as counter:
        calculation(*arguments)
    return counter.get_total_flops() // 2


def count_bytes(calculation: Callable[..., object], *arguments: object) -> Bytes:
    """Bytes of the tensors that `calculation(*arguments)` makes, its result included, its arguments not.

    Memory is counted once, however many tensors share it (a transposed table is no new table). Room that one
    operation takes and gives back before it returns is not seen.

    >>> x = torch.zeros(5, 3)
    >>> count_bytes(lambda: x.T)
    Bytes(largest=0, peak=0)
    """
    with torch.no_grad(), _Ledger() as ledger:
        calculation(*arguments)
    return Bytes(ledger.largest, ledger.peak)


class _Ledger(TorchDispatchMode):
    """Sees every operation, and books the memory of its results while it is alive."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}
        self.largest = self.peak = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        inputs = {_memory(each) for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)}
        result = func(*args, **(kwargs or {}))
        for each in tree_leaves(result):
            if isinstance(each, torch.Tensor) and _memory(each) not in inputs:
                self._book(each)
        return result

    def _book(self, tensor: torch.Tensor) -> None:
        storage, key = tensor.untyped_storage(), _memory(tensor)
        self.alive[key] = storage.nbytes()
        weakref.finalize(storage, self.alive.pop, key, None)
        self.largest = max(self.largest, storage.nbytes())
        self.peak = max(self.peak, sum(self.alive.values()))


def _memory(tensor: torch.Tensor) -> int:
    """What tells one piece of memory from another, also on the device "meta"."""
    return tensor.untyped_storage()._cdata
