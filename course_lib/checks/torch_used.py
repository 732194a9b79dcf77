"""PyTorch, used once: a process that imports this has done what its first use of PyTorch waits for.

A kernel that is forked from such a process need not wait.
"""

from __future__ import annotations

import torch
from torch.nn.functional import linear

_rows = torch.ones(2, 3, requires_grad=True)
_output = linear(_rows, torch.ones(4, 3))
_weights = _output.masked_fill(torch.ones(2, 4).tril() == 0, -torch.inf).softmax(dim=-1)
torch.einsum("qk,qk->q", _weights, _output).sum().backward()  # type: ignore[no-untyped-call]
