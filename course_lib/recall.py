"""The colour-recall model, many models at once: name the colour that a text mentioned.

A model is one attention layer: an embedding for each token, matrices for queries, keys and values, and an
output matrix with a bias. Only the last token of a text asks. An `Ensemble` holds S models, all trained at
once on the same texts: every tensor has S on its first axis, and no number is shared between two models.

The texts and their padded batches come from `course_lib.recall_texts` and can be had from here as well.

Dimension letters: S models, B texts of a batch, M their longest length (so the number of keys), N tokens in
the vocabulary, D model width, K key width, V value width.

>>> batch = make_batch(*training_examples())
>>> ensemble = draw_ensemble(3, d_k=5, scale=0.2, generator=torch.Generator().manual_seed(0))
>>> trained, losses = train(ensemble, batch, updates=2, lr=0.03)
>>> losses.shape, bool((losses[1] < losses[0]).all())
(torch.Size([2, 3]), True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.ensemble import Progress
from course_lib.ensemble import answer_losses as recall_losses
from course_lib.ensemble import train as train_all
from course_lib.recall_texts import (
    COLOURS,
    TOKENS,
    VOCABULARY,
    Batch,
    encode,
    make_batch,
    recall_text,
    training_examples,
    validation_examples,
)

__all__ = ["COLOURS", "TOKENS", "VOCABULARY", "Batch", "Ensemble", "draw_ensemble", "encode", "forward"]
__all__ += ["in_double_precision", "make_batch", "recall_losses", "recall_scores", "recall_text", "solved"]
__all__ += ["train", "training_examples", "validation_examples"]


class Ensemble(NamedTuple):
    """The numbers of S models.

    embedding (S, N, D); W_q and W_k (S, D, K); W_v (S, D, V); W_out (S, V, N); bias (S, N).
    """

    embedding: Tensor
    W_q: Tensor
    W_k: Tensor
    W_v: Tensor
    W_out: Tensor
    bias: Tensor


def draw_ensemble(
    models: int,
    d_k: int,
    scale: float,
    generator: torch.Generator,
    *,
    embedding_scale: float | None = None,
    d_model: int = 8,
    vocabulary_size: int = len(VOCABULARY),
) -> Ensemble:
    """Random starts: normal numbers times `scale` (embeddings: times `embedding_scale`), biases 0.

    Drawn for all models at once, in the order embedding, W_q, W_k, W_v, W_out, in single precision. The value
    width is `d_model`.
    """
    if models < 1 or d_k < 1:
        raise ValueError(f"models, d_k: expected 1 or more, got {models} and {d_k}")

    def normal(rows: int, columns: int, spread: float) -> Tensor:
        return torch.randn(models, rows, columns, generator=generator) * spread

    return Ensemble(
        normal(vocabulary_size, d_model, scale if embedding_scale is None else embedding_scale),
        normal(d_model, d_k, scale),
        normal(d_model, d_k, scale),
        normal(d_model, d_model, scale),
        normal(d_model, vocabulary_size, scale),
        torch.zeros(models, vocabulary_size),
    )


def in_double_precision(ensemble: Ensemble) -> Ensemble:
    """The same models with 64-bit numbers, whose rounding seldom decides which start succeeds."""
    return Ensemble(*(tensor.double() for tensor in ensemble))


def recall_scores(ensemble: Ensemble, batch: Batch, score_scale: float | None = None) -> Tensor:
    """Scores of each text's last token at each of its tokens: query · key times `score_scale` (default 1/√K).

    A key depends on its token alone, so each query meets every token of the vocabulary once, and the scores
    are looked up. No key is formed: q · (x W_k) = (q W_kᵀ) · x, which is less work with few queries.

    Returns: (S, B, M), -inf where the text is padded.
    """
    last_ids_B = batch.ids.gather(1, batch.last[:, None])[:, 0]
    Q_SBK = ensemble.embedding[:, last_ids_B] @ ensemble.W_q
    factor = ensemble.W_q.shape[-1] ** -0.5 if score_scale is None else score_scale
    scores_SBN = (Q_SBK @ ensemble.W_k.mT) @ ensemble.embedding.mT * factor
    scores_SBM = scores_SBN.gather(2, batch.ids.expand(len(scores_SBN), -1, -1))
    return scores_SBM.masked_fill(~batch.mask, -torch.inf)


def forward(ensemble: Ensemble, batch: Batch, score_scale: float | None = None) -> tuple[Tensor, Tensor]:
    """What every model says about every text: logits (S, B, N) for the next token, weights (S, B, M).

    logits = (weights · values) W_out + bias, with one row of weights per text, that of its last token. Values
    depend on the token alone, so weights on equal tokens are added up before they meet the values.
    """
    weights_SBM = recall_scores(ensemble, batch, score_scale).softmax(dim=-1)
    ids_SBM = batch.ids.expand_as(weights_SBM)
    per_token_SBN = torch.zeros_like(ensemble.bias[:, None].expand(-1, ids_SBM.shape[1], -1))
    per_token_SBN = per_token_SBN.scatter_add(2, ids_SBM, weights_SBM)
    output_SBV = per_token_SBN @ (ensemble.embedding @ ensemble.W_v)
    return output_SBV @ ensemble.W_out + ensemble.bias[:, None], weights_SBM


def solved(ensemble: Ensemble, batch: Batch, score_scale: float | None = None) -> Tensor:
    """Whether each model's most likely token is the target in every text of the batch: bool (S,)."""
    with torch.no_grad():
        logits, _ = forward(ensemble, batch, score_scale)
    return (logits.argmax(dim=-1) == batch.targets).all(dim=-1)


def train(
    ensemble: Ensemble,
    batch: Batch,
    updates: int,
    lr: float,
    *,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    score_scale: float | None = None,
    query_key_lr: float | None = None,
    progress: Progress = iter,
    watch: Callable[[int, Ensemble], None] | None = None,
) -> tuple[Ensemble, Tensor]:
    """Train every model of an ensemble on the same batch, each as if it were alone (`course_lib.ensemble`).

    Parameters: optimiser a class such as torch.optim.SGD; lr its learning rate; query_key_lr another one for
    W_q and W_k; score_scale as in `recall_scores`; progress and watch as in `ensemble.train`, but watch gets
    the models as an Ensemble. Returns: the trained ensemble (the one given is not changed) and the loss of
    each model before each update, (updates, S).
    """

    def losses(numbers: list[Tensor]) -> Tensor:
        logits, _ = forward(Ensemble(*numbers), batch, score_scale)
        return recall_losses(logits, batch.targets)

    def with_two_rates(numbers: list[Tensor]) -> torch.optim.Optimizer:
        query_key = {"params": numbers[1:3], "lr": lr if query_key_lr is None else query_key_lr}
        return optimiser([{"params": [numbers[0], *numbers[3:]]}, query_key], lr=lr)

    def look(update: int, numbers: list[Tensor]) -> None:
        if watch:
            watch(update, Ensemble(*numbers))

    trained, history = train_all(ensemble, losses, with_two_rates, updates, progress=progress, watch=look)
    return Ensemble(*trained), history
