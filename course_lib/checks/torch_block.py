"""The attention module that a transformer block is given when it is judged."""

from __future__ import annotations

from torch import Tensor, nn

from course_lib.torch_attention import causal_mask, masked_attention


class BlockAttention(nn.Module):
    """Causal attention with given matrices (D, D), used as X @ W: from rows (B, L, D) one such tensor."""

    def __init__(self, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = nn.Parameter(W_q), nn.Parameter(W_k), nn.Parameter(W_v)

    def forward(self, X: Tensor) -> Tensor:
        """The output alone, without the weights."""
        mask = causal_mask(X.shape[-2])
        return masked_attention(X @ self.W_q, X @ self.W_k, X @ self.W_v, mask)[0]
