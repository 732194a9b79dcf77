"""Chapter 7: two subjects, one of them asked: one layer beside two, with positions and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import attention, two_subjects
from course_lib.figures import describe, new_axes, table

from .base import Explorable, explorable, numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Model = dict[str, Array]
ASKED = tuple(two_subjects.GROUPS.values())
PLACES = {  # whose weights of the first layer are told, and on which token
    "asks": [*two_subjects.COLOUR_INDICES, two_subjects.LENGTH - 1],
    "tells": [*two_subjects.SUBJECT_INDICES, two_subjects.ASKED_INDEX],
}


class Read(NamedTuple):
    """What a model makes of one text: each layer's weights (L, L), and a probability per token (N,)."""

    weights: list[Array]
    probabilities: Array


def two_layers(
    one: Mapping[str, ArrayLike],
    two: Mapping[str, ArrayLike],
    *,
    colours: tuple[str, str] = ("blue", "red"),
    asked: str = "officials",
) -> Explorable:
    """A model of one layer and one of two read the four cases of `two_subjects`, teams first.

    The reader exchanges the colours, chooses who is asked, and switches positions and the second layer.

    Parameters: one and two, models as `readers.stack` reads them over `two_subjects.TOKENS`, with position
    rows: embedding (N, D), place (14, D), W_q1, W_k1, W_v1, W_o1 (D, D), in the second also W_q2 and so on,
    W_out (D, N), bias (N,); the two colours, first and second; who is asked.
    Returns: the display object. Raises: ValueError.

    >>> from course_lib import readers
    >>> shapes = [readers.stack_shapes(13, layers, places=14, d_model=5) for layers in (1, 2)]
    >>> one, two = ({name: np.zeros(shape) for name, shape in each.items()} for each in shapes)
    >>> print(two_layers(one, two).text.splitlines()[-1])
    mean loss of the four texts 2.565
    """
    if asked not in ASKED:
        raise ValueError(f"asked: expected one of {list(ASKED)}, got {asked!r}")
    if len(set(colours)) != 2 or not set(colours) <= set(two_subjects.COLOURS):
        raise ValueError(f"colours: expected two of {list(two_subjects.COLOURS)}, got {list(colours)}")
    models = [_checked("one", one, layers=1), _checked("two", two, layers=2)]
    texts = [_text(words) for words in two_subjects.four_cases(*colours)]
    reads = [read(models[1], 2, text["ids"]) for text in texts]
    shown = ASKED.index(asked)
    ax = _draw(texts[shown]["names"], reads[shown])
    describe(ax, *_words(texts, reads, shown))
    data = {
        "models": models,
        "texts": texts,
        "asked": ASKED,
        "places": PLACES,
        "colours": {"names": two_subjects.COLOURS, "ids": _colour_ids()},
        "start": {"swapped": False, "asked": shown, "positions": True, "second": True},
    }
    caption = "Switch positions and the second layer off and on, exchange the colours, ask for the others."
    return explorable(ax, "two_layers", data, caption, needs=("bars",))


def read(model: Model, layers: int, ids: list[int], positions: bool = True) -> Read:
    """The layers of a model on one text, with a causal mask and residual paths, as in `readers.stack`."""
    X = model["embedding"][ids] + (model["place"][: len(ids)] if positions else 0.0)
    causal, tables = np.tri(len(ids), dtype=bool), []
    for layer in range(1, layers + 1):
        Q, K, V = (X @ model[f"{name}{layer}"] for name in ("W_q", "W_k", "W_v"))
        gathered, weights = attention.attention(Q, K, V, causal)
        X = X + gathered @ model[f"W_o{layer}"]
        tables.append(weights)
    return Read(tables, attention.softmax(X[-1] @ model["W_out"] + model["bias"]))


def _checked(name: str, model: Mapping[str, ArrayLike], layers: int) -> Model:
    """The arrays of a model, in the shapes that its embedding asks for."""
    tokens, length = len(two_subjects.TOKENS), two_subjects.LENGTH
    matrices = [f"{each}{n}" for n in range(1, layers + 1) for each in ("W_q", "W_k", "W_v", "W_o")]
    expected = ["embedding", "place", *matrices, "W_out", "bias"]
    if set(model) != set(expected):
        raise ValueError(f"{name}: expected arrays named {expected}, got {sorted(model)}")
    embedding = numbers(f"{name}['embedding']", model["embedding"], (tokens, None))
    width = embedding.shape[1]
    shapes = {"embedding": (tokens, width), "place": (length, width), "W_out": (width, tokens)}
    shapes |= {"bias": (tokens,)} | dict.fromkeys(matrices, (width, width))
    return {each: numbers(f"{name}[{each!r}]", model[each], shapes[each]) for each in expected}


def _text(words: str) -> dict[str, object]:
    """One of the four texts as the page needs it."""
    names, right = words.split(), two_subjects.answer(words)
    vocabulary = two_subjects.VOCABULARY
    return {
        "names": names,
        "ids": [vocabulary[name] for name in names],
        "asked": names[two_subjects.ASKED_INDEX],
        "answer": vocabulary[right],
        "answerName": right,
    }


def _colour_ids() -> list[int]:
    return [two_subjects.VOCABULARY[colour] for colour in two_subjects.COLOURS]


def _words(texts: list[dict], reads: list[Read], shown: int) -> tuple[str, str]:
    """What is seen, in a sentence, and the numbers: the shown text token by token, and all four texts."""
    names, (tables, probabilities) = texts[shown]["names"], reads[shown]
    weights = tables[-1][-1]
    colours = " and ".join(f"{names[at]} {weights[at]:.2f}" for at in two_subjects.COLOUR_INDICES)
    says = ", ".join(
        f"{colour} {probabilities[at]:.2f}"
        for colour, at in zip(two_subjects.COLOURS, _colour_ids(), strict=True)
    )
    alt = (
        f"Bars of the weights of the last token on {len(names)} tokens in the second layer, {colours}, and "
        f"bars of the probabilities of the colours: {says}."
    )
    losses = [-np.log(each.probabilities[text["answer"]]) for text, each in zip(texts, reads, strict=True)]
    rows = [[f"{at} {name}", f"{w:.3f}"] for at, (name, w) in enumerate(zip(names, weights, strict=True), 1)]
    cases = [
        [text["asked"], text["names"][PLACES["asks"][0]], text["answerName"], f"{loss + 0.0:.3f}"]
        for text, loss in zip(texts, losses, strict=True)
    ]
    text = (
        f"two layers, with positions\n{table(rows, ['token', 'weight in the second layer'])}\n"
        f"probabilities: {says}\n{table(cases, ['asked', 'first colour', 'right', 'loss'])}\n"
        f"mean loss of the four texts {np.mean(losses):.3f}"
    )
    return alt, text


def _draw(names: list[str], found: Read) -> Axes:
    left, right = new_axes(8.6, 3.2, columns=2)
    left.get_subplotspec().get_gridspec().set_width_ratios([3, 1])
    left.bar(range(len(names)), found.weights[-1][-1], color="#d55e00")
    left.set_xticks(range(len(names)), names, rotation=60)
    left.set(xlabel="key", ylabel="weight", ylim=(0, 1.05), title="weights of the last token, second layer")
    right.bar(range(len(two_subjects.COLOURS)), found.probabilities[_colour_ids()])
    right.set_xticks(range(len(two_subjects.COLOURS)), two_subjects.COLOURS, rotation=60)
    right.set(ylabel="probability", ylim=(0, 1.05), title="next token")
    return left
