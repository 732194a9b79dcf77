"""Chapter 6: go through the updates of one training run, and let the layer read a text of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from course_lib.figures import describe, new_axes, table

from .base import Explorable, explorable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from course_lib.recall import Ensemble

Array = NDArray[np.float64]
MOST_TOKENS = 30
MATRICES = ("embedding", "W_q", "W_k", "W_v", "W_out", "bias")


class Run(NamedTuple):
    """What one text and the losses were before the first update and after each, U + 1 times.

    weights (U + 1, M); probabilities (U + 1, N); training and validation losses (U + 1,).
    """

    weights: Array
    probabilities: Array
    training: Array
    validation: Array


def recall_training(
    start: Ensemble,
    *,
    lr: float = 0.03,
    updates: int = 200,
    update: int = 0,
    text: str = "The team colour is red . So the players wear",
) -> Explorable:
    """The training of one colour-recall layer, from its start to the last update, to be scrubbed through.

    The page trains the layer again, from the same numbers with the same Adam, and keeps the layer after each
    update. Weights, probabilities, losses and matrices of the chosen update move together. The reader may
    type any text of the 17 tokens: the layer of that update reads it.

    Parameters: start, an ensemble of one model over `recall.TOKENS`; lr, Adam's learning rate; updates, up to
    400; update shown first; text shown first, up to 30 tokens.
    Returns: the display object. Raises: ValueError.

    >>> import torch
    >>> from course_lib import recall
    >>> start = recall.draw_ensemble(1, d_k=4, scale=0.2, generator=torch.Generator().manual_seed(1))
    >>> figure = recall_training(start, updates=20, text="red . So the players wear")
    >>> [line.split()[0] for line in figure.text.splitlines()]
    ['text:', 'update', '0', '1', '3', '5', '20']
    """
    from course_lib import recall

    if len(start.bias) != 1 or start.embedding.shape[1] != len(recall.TOKENS):
        raise ValueError(
            f"start: expected one model over {len(recall.TOKENS)} tokens, got {len(start.bias)} over "
            f"{start.embedding.shape[1]}"
        )
    if not 1 <= updates <= 400:
        raise ValueError(f"updates: expected 1 to 400, got {updates}")
    if not 0 <= update <= updates:
        raise ValueError(f"update: expected 0 to {updates}, got {update}")
    if not lr > 0:
        raise ValueError(f"lr: expected a number above 0, got {lr}")
    tokens = text.split()
    if not 1 <= len(tokens) <= MOST_TOKENS:
        raise ValueError(f"text: expected 1 to {MOST_TOKENS} tokens, got {len(tokens)}")
    start = recall.in_double_precision(start)
    run = follow(start, lr, updates, text)
    ax = _draw(run, tokens, update)
    describe(ax, *_words(run, tokens, text, update))
    data = {name: getattr(start, name)[0].numpy() for name in MATRICES}
    data["bias"] = data["bias"][None]
    examples = {"training": recall.training_examples(), "validation": recall.validation_examples()}
    data |= {name: list(zip(*pairs, strict=True)) for name, pairs in examples.items()}
    data |= {"tokens": recall.TOKENS, "colours": recall.COLOURS, "lr": float(lr), "updates": updates}
    data |= {"update": update, "text": " ".join(tokens), "most": MOST_TOKENS}
    caption = (
        "Move through the updates with the slider, or drag across the losses. Choose a text or type your own "
        "from the vocabulary: its last token asks."
    )
    return explorable(ax, "recall_training", data, caption, needs=("recall_layer",))


def follow(start: Ensemble, lr: float, updates: int, text: str) -> Run:
    """Train, and look after each update at one text and at both losses."""
    from course_lib import recall

    training = recall.make_batch(*recall.training_examples())
    validation = recall.make_batch(*recall.validation_examples())
    own = recall.make_batch([text], [recall.COLOURS[0]])  # the target is not used
    seen: list[tuple[Array, Array, float, float]] = []

    def look(_: int, model: Ensemble) -> None:
        logits, weights = recall.forward(model, own)
        both = [
            float(recall.recall_losses(recall.forward(model, batch)[0], batch.targets))
            for batch in (training, validation)
        ]
        seen.append((weights[0, 0].numpy(), logits[0, 0].softmax(dim=0).numpy(), *both))

    recall.train(start, training, updates, lr, watch=look)
    return Run(*(np.array(column) for column in zip(*seen, strict=True)))


def _words(run: Run, tokens: list[str], text: str, update: int) -> tuple[str, str]:
    """What is seen, in sentences, and the run at a few updates as a table."""
    last = len(run.training) - 1
    stops = sorted({round(last * share) for share in (0, 0.05, 0.15, 0.25, 1)} | {update})
    rows = [_row(run, tokens, stop) for stop in stops]
    _, weight, place, says, probability, *_ = _row(run, tokens, update)
    alt = (
        f"Two panels. Left: training and validation loss against the update, from {run.training[0]:.2f} and "
        f"{run.validation[0]:.2f} to {run.training[-1]:.2f} and {run.validation[-1]:.2f}. Right: the weights "
        f"after {update} updates; the largest, {weight}, is on {place}. The layer says {says}, with "
        f"probability {probability}."
    )
    header = ["update", "largest weight", "on", "says", "probability", "training loss", "validation loss"]
    return alt, f"text: {text}\n{table(rows, header)}"


def _row(run: Run, tokens: list[str], update: int) -> list[str]:
    """One line of the table: the update and what stands at it."""
    from course_lib import recall

    weights, probabilities = run.weights[update], run.probabilities[update]
    best, said = int(weights.argmax()), int(probabilities.argmax())
    numbers = [f"{losses[update]:.3f}" for losses in (run.training, run.validation)]
    place = f"{tokens[best]} at {best + 1}"
    answer = [recall.TOKENS[said], f"{probabilities[said]:.3f}"]
    return [str(update), f"{weights[best]:.3f}", place, *answer, *numbers]


def _draw(run: Run, tokens: list[str], update: int) -> Axes:
    left, right = new_axes(8.2, 3.2, columns=2)
    left.plot(run.training, label="training")
    left.plot(run.validation, "--", label="validation")
    left.axvline(update, color="0.3", lw=1)
    left.set(xlabel="update", ylabel="loss", title="losses", ylim=(0, None))
    left.legend()
    right.bar(range(len(tokens)), run.weights[update], color="#d55e00")
    right.set_xticks(range(len(tokens)), tokens, rotation=90)
    right.set(ylabel="weight", ylim=(0, 1), title=f"weights after {update} updates")
    return left
