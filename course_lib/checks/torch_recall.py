"""The colour-recall model that checks give to functions, so that these do not depend on the student's own."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class RecallModel(nn.Module):
    """One layer of attention, asked by the last token of each text, with six tables of given numbers.

    embedding (N, D); W_q and W_k (D, K); W_v (D, D); W_out (D, N); bias (N).
    """

    def __init__(
        self, embedding: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_out: Tensor, bias: Tensor
    ) -> None:
        super().__init__()
        self.embedding = nn.Parameter(embedding.clone())
        self.W_q = nn.Parameter(W_q.clone())
        self.W_k = nn.Parameter(W_k.clone())
        self.W_v = nn.Parameter(W_v.clone())
        self.W_out = nn.Parameter(W_out.clone())
        self.bias = nn.Parameter(bias.clone())

    def forward(self, ids: Tensor, mask: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, N) and weights (B, M) of ids (B, M), of which the token at `last` (B,) asks."""
        X = self.embedding[ids]
        Q_BK = X[torch.arange(len(ids)), last] @ self.W_q
        scores_BM = torch.einsum("bk,bmk->bm", Q_BK, X @ self.W_k) / math.sqrt(self.W_q.shape[1])
        weights_BM = scores_BM.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        output_BD = torch.einsum("bm,bmd->bd", weights_BM, X @ self.W_v)
        return output_BD @ self.W_out + self.bias, weights_BM


def random_start(
    seed: int, scale: float = 0.2, tokens: int = 17, width: int = 8, keys: int = 4
) -> RecallModel:
    """A model with normal numbers times `scale` and a bias of 0, as chapter 6 draws them."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((tokens, width), (width, keys), (width, keys), (width, width), (width, tokens))
    return RecallModel(
        *(torch.randn(shape, generator=generator) * scale for shape in shapes), torch.zeros(tokens)
    )
