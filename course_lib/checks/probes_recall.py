"""Probes for the colour-recall model: what it returns with given parameters, and how it starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from .parameters import Wrong, gradients, load_parameters, pair

TABLES = ("embedding", "W_q", "W_k", "W_v", "W_out", "bias")


def recall_model(
    layer: Callable[..., Any],
    embedding: Any,
    W_q: Any,
    W_k: Any,
    W_v: Any,
    W_out: Any,
    bias: Any,
    ids: Any,
    mask: Any,
    last: Any,
) -> Any:
    """What a model with given parameters returns for a batch."""
    return _loaded(layer, embedding, W_q, W_k, W_v, W_out, bias)(ids, mask, last)


def recall_model_with_gradients(
    layer: Callable[..., Any],
    embedding: Any,
    W_q: Any,
    W_k: Any,
    W_v: Any,
    W_out: Any,
    bias: Any,
    ids: Any,
    mask: Any,
    last: Any,
    training: bool = True,
) -> tuple[Any, ...]:
    """The same, then the gradient of each parameter. It is that of the logits: weights may be detached.

    training: the mode in which it is called. Raises: Wrong when a parameter gets no gradient.
    """
    module = _loaded(layer, embedding, W_q, W_k, W_v, W_out, bias).train(training)
    logits, weights = pair(module(ids, mask, last), "logits, weights")
    own = dict(module.named_parameters())
    return (logits, weights, *gradients(logits, {name: own[name] for name in TABLES}, "logits"))


def _loaded(layer: Callable[..., Any], *tables: Any) -> Any:
    """The model of the sizes that the tables have, with these in it, in the order of `TABLES`."""
    module = layer(*tables[0].shape, tables[1].shape[1])
    load_parameters(module, dict(zip(TABLES, tables, strict=True)))
    return module


def recall_start(
    layer: Callable[..., Any],
    seed: int,
    other_seed: int,
    with_generator: bool,
    sizes: Sequence[int] | None,
    scale: float | None,
) -> tuple[Any, ...]:
    """How a model's tables start, in numbers: by table, in the order of `TABLES`.

    Means; standard deviations; mean fourth powers; largest differences from a model of the same seed, of
    another seed, and from the next that the same generator gives; how alike two tables are at most;
    how many numbers each table holds. Without a generator the seed is that of PyTorch's own.
    """
    import torch

    given = [] if sizes is None or scale is None else [*sizes, scale]

    def start(seed: int, elsewhere: int) -> tuple[list[Any], list[Any]]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(elsewhere if with_generator else seed)
            generator = [torch.Generator().manual_seed(seed)] if with_generator else []
            return tables_of(layer(*given, *generator)), tables_of(layer(*given, *generator))

    def tables_of(module: Any) -> list[Any]:
        if not isinstance(module, torch.nn.Module):
            raise Wrong(f"The class must be an nn.Module; yours makes a {type(module).__name__}.")
        own = dict(module.named_parameters())
        if set(own) != set(TABLES):
            raise Wrong(f"Its parameters must be {', '.join(TABLES)}; yours are {', '.join(own) or 'none'}.")
        return [own[name].detach().double().flatten() for name in TABLES]

    (tables, following), (again, _), (other, _) = start(seed, 1), start(seed, 2), start(other_seed, 3)
    return (
        torch.stack([table.mean() for table in tables]),
        torch.stack([table.std(correction=0) for table in tables]),
        torch.stack([_fourth_power(table) for table in tables]),
        _furthest(tables, again),
        _furthest(tables, other),
        _furthest(tables, following),
        max(_alikeness(first, second) for first, second in combinations(tables[:-1], 2)),
        torch.tensor([len(table) for table in tables]),
    )


def _furthest(first: Sequence[Any], second: Sequence[Any]) -> Any:
    """By table, the largest difference between two models; infinity where their shapes differ."""
    import torch

    return torch.tensor(
        [
            (a - b).abs().max().item() if a.shape == b.shape else torch.inf
            for a, b in zip(first, second, strict=True)
        ]
    )


def _fourth_power(table: Any) -> Any:
    """The mean of (number - mean)⁴ / σ⁴: near 3 for normal numbers; 0 without any spread."""
    centred = table - table.mean()
    return (centred**4).mean() / (centred**2).mean().clamp(min=1e-12) ** 2


def _alikeness(first: Any, second: Any) -> float:
    """How alike two tables are, in standard errors: the correlation of as many numbers as both have, or the
    share of numbers that occur in both, whatever their order and sign; 0 without any spread."""
    import torch

    size = min(len(first), len(second))
    shared = torch.isin(first.abs(), second.abs()).double().mean().item()
    a, b = first[:size] - first[:size].mean(), second[:size] - second[:size].mean()
    spread = float(a.norm() * b.norm())
    return max(abs(float(a @ b)) / spread, shared) * size**0.5 if spread else 0.0


PROBES: dict[str, Callable[..., Any]] = {
    "recall_model": recall_model,
    "recall_model_with_gradients": recall_model_with_gradients,
    "recall_start": recall_start,
}
