"""One example of each movable figure, and the same numbers from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from course_lib import (
    attention,
    explore,
    readers,
    recall,
    recall_ensemble,
    sentence_heads,
    together,
    two_subjects,
)
from course_lib.explore import scaling, smoothing
from course_lib.heads import split_heads
from course_lib.torch_attention import causal_mask, masked_attention, masked_softmax

Numbers = dict[str, Any]
KEYS = np.array([[1.0, 0.3], [-0.4, 1.0], [-1.0, -0.5], [0.5, -1.0]])
VALUES = np.array([[3.0, 1.0], [1.0, 3.0], [-2.0, 2.0], [0.0, -2.0]])
X = np.random.default_rng(3).uniform(0, 6, 41)
Y = np.sin(X) + 0.3 * np.random.default_rng(4).standard_normal(41)
TOKENS = ["the", "cat", "sat", "on", "the", "mat", "because", "it"]
Q, K, V = (
    np.random.default_rng(seed).standard_normal((8, width)) for seed, width in ((5, 3), (6, 3), (7, 2))
)

WORDS = sentence_heads.EMBEDDINGS
MASK_SCORES = (3 * np.random.default_rng(8).standard_normal((8, 8))).round(4)
MASK = np.tri(8, dtype=bool)


def soft_lookup() -> explore.Explorable:
    return explore.soft_lookup(KEYS, VALUES, query=[1.0, 0.6])


def soft_lookup_in_python(page: Numbers) -> Numbers:
    output, weights = attention.soft_lookup(page["query"], KEYS, VALUES)
    return {"scores": KEYS @ np.array(page["query"]), "weights": weights, "output": output}


def kernel_smoother() -> explore.Explorable:
    return explore.kernel_smoother(X, Y, width=0.4, neighbours=5, truth=np.sin)


def kernel_smoother_in_python(page: Numbers) -> Numbers:
    order = np.argsort(X)
    x, y, grid = X[order], Y[order], np.linspace(X.min(), X.max(), smoothing.GRID).round(6)
    curves = lambda at: [  # noqa: E731
        smoothing.nearest(at, x, y, 1),
        smoothing.nearest(at, x, y, page["neighbours"]),
        smoothing.smooth(at, x, y, page["width"]),
    ]
    query = np.array([page["query"]])
    nearest, nearest_k, smoothed = (float(each[0]) for each in curves(query))
    weights = attention.gaussian_lookup(query, x[:, None], y[:, None], page["width"])[1]
    errors = [((each - np.sin(x)) ** 2).mean() for each in curves(x)]
    found = {"nearest": nearest, "nearestK": nearest_k, "smoothed": smoothed}
    return found | {"weights": weights, "curves": curves(grid), "errors": errors}


def query_row() -> explore.Explorable:
    return explore.query_row(TOKENS, Q, K, row=7, values=V)


def query_row_in_python(page: Numbers) -> Numbers:
    order = page["order"]
    weights = attention.attention_weights(Q[order], K[order], temperature=page["temperature"])
    return {"weights": weights, "output": weights @ V[order]}


def width_sweep() -> explore.Explorable:
    return explore.width_sweep(np.random.default_rng(0), draws=60)


def width_sweep_in_python(page: Numbers) -> Numbers:
    rng = np.random.default_rng(0)
    squares = rng.standard_normal((60, 1024)) ** 2
    lengths = np.sqrt(squares.cumsum(axis=1)[:, np.array(scaling.WIDTHS) - 1]).round(4)
    normals = rng.standard_normal((60, 32)).round(4)[:, : page["keys"]]
    at, tau = scaling.WIDTHS.index(page["width"]), page["temperature"]
    scores = lengths[page["draw"], at] * normals[page["draw"]]
    weights = [attention.softmax(scores / tau), attention.softmax(scores / (tau * np.sqrt(page["width"])))]
    sweeps = [scaling.sweep(lengths, normals, tau, scaled=scaled) for scaled in (False, True)]
    return {"weights": weights, "sweeps": sweeps}


def mask_editor() -> explore.Explorable:
    return explore.mask_editor(TOKENS, MASK_SCORES, MASK)


def mask_editor_in_python(page: Numbers) -> Numbers:
    allowed = np.array(page["mask"], dtype=bool)
    if page["late"]:
        weights = attention.softmax(MASK_SCORES) * allowed
    else:
        weights = masked_softmax(torch.tensor(MASK_SCORES), torch.tensor(allowed)).numpy()
    above = np.triu(np.ones((8, 8), dtype=bool), 1)
    seen = (allowed.any(axis=1, keepdims=True) if page["late"] else allowed) & above
    later = [np.flatnonzero(row).tolist() for row in seen]
    assert page["later"] == later
    assert page["empty"] == np.flatnonzero(~allowed.any(axis=1)).tolist()
    return {"weights": weights}


def heads() -> explore.Explorable:
    queries, keys = WORDS @ sentence_heads.W_Q, WORDS @ sentence_heads.W_K
    return explore.heads(TOKENS, queries, keys, row=7, reasons=sentence_heads.REASONS)


def heads_in_python(page: Numbers) -> Numbers:
    louder = np.repeat(page["louder"], 6)
    Q, K = (
        torch.tensor(WORDS @ sentence_heads.W_Q * louder)[None],
        torch.tensor(WORDS @ sentence_heads.W_K)[None],
    )
    Q_HLW, K_HLW = (split_heads(each, page["heads"])[0] for each in (Q, K))
    slices, full = Q_HLW @ K_HLW.mT, (Q @ K.mT)[0]
    found = {
        "slices": slices,
        "full": full,
        "sums": full[page["row"]],
        "sliceWeights": (slices / Q_HLW.shape[-1] ** 0.5).softmax(dim=-1),
        "fullWeights": (full / 24**0.5).softmax(dim=-1),
    }
    return {name: tensor.numpy() for name, tensor in found.items()}


def recall_training() -> explore.Explorable:
    return explore.recall_training(recall_ensemble.seeded_starts([131], scale=0.2), update=10)


@cache
def layers() -> list[recall.Ensemble]:
    """The layer of the example before its first update and after each."""
    kept: list[recall.Ensemble] = []
    start, batch = (
        recall_ensemble.seeded_starts([131], scale=0.2),
        recall.make_batch(*recall.training_examples()),
    )
    keep = lambda _, model: kept.append(recall.Ensemble(*(each.clone() for each in model)))  # noqa: E731
    recall.train(start, batch, 200, 0.03, watch=keep)
    return kept


@cache
def losses(examples: Callable[[], tuple[list[str], list[str]]]) -> list[float]:
    batch = recall.make_batch(*examples())
    logits = [recall.forward(layer, batch)[0] for layer in layers()]
    return [float(recall.recall_losses(each, batch.targets)) for each in logits]


def recall_training_in_python(page: Numbers) -> Numbers:
    model = layers()[page["update"]]
    text = recall.make_batch([" ".join(page["words"])], ["red"])
    logits, weights = recall.forward(model, text)
    curves = {"training": losses(recall.training_examples), "validation": losses(recall.validation_examples)}
    for name, values in curves.items():
        np.testing.assert_allclose(page["losses"][name], values, rtol=0, atol=1e-9)
    for name, values in model._asdict().items():
        np.testing.assert_allclose(
            page["model"][name], values.numpy()[0].reshape(-1, values.shape[-1]), atol=1e-9
        )
    return {
        "scores": recall.recall_scores(model, text)[0, 0].numpy(),
        "weights": weights[0, 0].numpy(),
        "probabilities": logits[0, 0].softmax(dim=0).numpy(),
    }


RECENT = {
    "tokens": ["red", "is", "blue", ".", "wear"],
    "token_rows": np.random.default_rng(8).standard_normal((5, 4)),
    "position_rows": np.random.default_rng(9).standard_normal((5, 4)),
    "W_q": np.random.default_rng(10).standard_normal((4, 3)),
    "W_k": np.random.default_rng(11).standard_normal((4, 3)),
    "value_logits": np.random.default_rng(12).standard_normal((5, 3)),
    "answers": ["red", "blue", "black"],
    "places": (0, 2),
}


def recent_colour() -> explore.Explorable:
    return explore.recent_colour(**RECENT)


def recent_colour_in_python(page: Numbers) -> Numbers:
    def read(swapped: bool) -> tuple[np.ndarray, np.ndarray, float]:
        rows = [2, 1, 0, 3, 4] if swapped else [0, 1, 2, 3, 4]
        X = RECENT["token_rows"][rows] + page["share"] * RECENT["position_rows"]
        queries, keys = X[-1:] @ RECENT["W_q"], X @ RECENT["W_k"]
        output, weights = attention.attention(queries, keys, RECENT["value_logits"][rows])
        probabilities = attention.softmax(output[0])
        return weights[0], probabilities, -np.log(probabilities[0 if swapped else 1])

    weights, probabilities, loss = read(page["swapped"])
    pair = (loss + read(not page["swapped"])[2]) / 2
    return {"weights": weights, "probabilities": probabilities, "loss": pair}


def hand_built(layers: int) -> dict[str, torch.Tensor]:
    """A model of random numbers that are small enough for no weight to be 0 or 1."""
    shapes = readers.stack_shapes(len(two_subjects.TOKENS), layers, places=14, d_model=5)
    drawn = together.draw(shapes, models=1, scale=0.4, seed=layers, dtype=torch.float64)
    return together.pick(drawn, 0)


def two_layers() -> explore.Explorable:
    return explore.two_layers(hand_built(1), hand_built(2))


def two_layers_in_python(page: Numbers) -> Numbers:
    layers = 2 if page["second"] else 1
    model = hand_built(layers)
    if not page["positions"]:
        del model["place"]
    texts = two_subjects.four_cases("blue", "red")
    ids = [[two_subjects.VOCABULARY[token] for token in text.split()] for text in texts]
    targets = [two_subjects.VOCABULARY[two_subjects.answer(text)] for text in texts]
    logits = readers.stack(ids, layers)(model)
    shown = 2 * page["swapped"] + page["asked"]
    tables, X = [], readers.first_rows(model, torch.tensor(ids[shown]), torch.arange(14))
    for layer in range(1, layers + 1):
        Q, K, V = (X @ model[f"{name}{layer}"] for name in ("W_q", "W_k", "W_v"))
        gathered, weights = masked_attention(Q, K, V, causal_mask(14))
        X = X + gathered @ model[f"W_o{layer}"]
        tables.append(weights.numpy())
    first = [tables[0][at][: at + 1] for at in (3, 8, 13)] if page["second"] else []
    for found, expected in zip(page["first"], first, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    colours = [two_subjects.VOCABULARY[colour] for colour in two_subjects.COLOURS]
    losses = functional.cross_entropy(logits, torch.tensor(targets), reduction="none")
    probabilities = logits[shown].softmax(dim=0)[colours]
    found = {"probabilities": probabilities.numpy(), "losses": losses.numpy()}
    return found | {"weights": tables[-1][-1]}


EXAMPLES: dict[str, tuple[Callable[[], explore.Explorable], Callable[[Numbers], Numbers]]] = {
    "soft_lookup": (soft_lookup, soft_lookup_in_python),
    "kernel_smoother": (kernel_smoother, kernel_smoother_in_python),
    "query_row": (query_row, query_row_in_python),
    "width_sweep": (width_sweep, width_sweep_in_python),
    "mask_editor": (mask_editor, mask_editor_in_python),
    "heads": (heads, heads_in_python),
    "recall_training": (recall_training, recall_training_in_python),
    "recent_colour": (recent_colour, recent_colour_in_python),
    "two_layers": (two_layers, two_layers_in_python),
}
