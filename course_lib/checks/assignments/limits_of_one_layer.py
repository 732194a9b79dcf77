"""Assignment 07: swap tokens, Fourier features, a layer that finds the later colour, two layers, a block."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.later import torch
from course_lib.checks.probes_block import PARAMETERS
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned
from course_lib.checks.values import Entry

if TYPE_CHECKING:
    from torch import Tensor

ENOUGH = 0.99  # what the later colour must get
MATRICES = ("W_q", "W_k", "W_v")
# A gradient jumps where an input of relu is 0. So far from it, rounding cannot decide on which side it lies.
FROM_THE_KINK = 1e-4


def _floats(array: Any) -> Tensor:
    return torch.from_numpy(np.asarray(array, dtype=np.float32))


def _tokens(draw: Draw, axes: str) -> np.ndarray:
    """Few different ids, so that the same stand in several places."""
    return draw.integers(axes, 0, 4)


def _two_places(draw: Draw, length: int) -> Arguments:
    first, second = draw.rng.permutation(length)[:2].tolist()
    return {"first": first, "second": second}


def _swap(draw: Draw, before: str = "", kind: str = "tensor") -> Arguments:
    """Texts in which the two tokens that change places differ, and in which one of them occurs again."""
    length = draw.sizes["D"] + 2
    while True:
        ids = _tokens(draw, f"{before} {length}")
        places = _two_places(draw, ids.shape[-1])
        one, other = ids[..., places["first"]], ids[..., places["second"]]
        repeated = ((ids == one[..., None]) | (ids == other[..., None])).sum() > 2 * one.size
        if (one != other).all() and repeated:
            return {"ids": ids.tolist() if kind == "list" else torch.from_numpy(ids)} | places


def _neighbours(draw: Draw) -> Arguments:
    return {"ids": draw.rng.permutation(draw.sizes["D"]).tolist(), "first": 1, "second": 0}


def _same_place(draw: Draw, kind: str = "tensor") -> Arguments:
    drawn = _swap(draw, kind=kind)
    return drawn | {"second": drawn["first"]}


SWAP_TOKENS = Exercise(
    function="swap_tokens",
    parameters=("ids", "first", "second"),
    returns=(Returned("swapped ids", "... L", holds="integers"),),
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "two tokens of a list change places",
            1,
            probe="swapped_tokens",
            cases=(
                Case("colours", lambda draw: {"ids": [7, 1, 9, 1, 8, 7, 9], "first": 2, "second": 4}),
                Case("ids that occur again", lambda draw: _swap(draw, kind="list")),
                Case("neighbours, the later one first", _neighbours),
                Case("the ends", lambda draw: {"ids": [3, 5, 5, 4], "first": 0, "second": 3}),
            ),
        ),
        Behaviour(
            "any input",
            "tensors and batches of them, one place twice, and inputs left as they are",
            1,
            probe="swapped_tokens",
            unchanged=True,
            cases=(
                Case("a tensor", _swap),
                Case("a batch", lambda draw: _swap(draw, "B")),
                Case("a batch, as many texts as tokens", lambda draw: _swap(draw, "B"), equal_sizes=True),
                Case("two axes in front", lambda draw: _swap(draw, "2 B")),
                Case("a batch of one", lambda draw: _swap(draw, "1")),
                Case("one place twice", _same_place),
                Case("one place of a list twice", lambda draw: _same_place(draw, "list")),
                Case("a list again", lambda draw: _swap(draw, kind="list")),
            ),
        ),
    ),
)


def _width(draw: Draw) -> int:
    """An even width that is no other axis's length, of three pairs of columns or more."""
    return 2 * max(draw.sizes["K"], 3)


def _first_places(draw: Draw) -> Arguments:
    return {"positions": torch.arange(draw.sizes["L"]), "width": _width(draw)}


def _some_places(draw: Draw, width: int | None = None) -> Arguments:
    """Positions below 40 in any order, not from 0 on."""
    return {
        "positions": torch.from_numpy(1 + draw.rng.permutation(39)[: draw.sizes["M"]]),
        "width": width or _width(draw),
    }


FOURIER_FEATURES = Exercise(
    function="fourier_features",
    parameters=("positions", "width"),
    returns=(Returned("features", "L width"),),
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "the first positions of a text",
            1,
            cases=(
                Case("width 4", lambda draw: {"positions": torch.arange(3), "width": 4}),
                Case("wider", _first_places),
                Case("as many columns as positions", lambda draw: {"positions": torch.arange(6), "width": 6}),
                Case("forty positions", lambda draw: {"positions": torch.arange(40), "width": 8}),
            ),
        ),
        Behaviour(
            "any input",
            "other positions, whole or not, one pair of columns, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("any order", _some_places),
                Case(
                    "positions between tokens",
                    lambda draw: {
                        "positions": _floats(20.0 * draw.rng.random(draw.sizes["M"])),
                        "width": _width(draw),
                    },
                ),
                Case("one position", lambda draw: {"positions": torch.tensor([5]), "width": 6}),
                Case("one pair of columns", lambda draw: _some_places(draw, width=2)),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError for an odd width",
            1,
            cases=(
                Case("width 5", lambda draw: {"positions": torch.arange(3), "width": 5}, raises=True),
                Case("width 1", lambda draw: {"positions": torch.arange(3), "width": 1}, raises=True),
                Case(
                    "another odd width", lambda draw: _some_places(draw, width=_width(draw) + 1), raises=True
                ),
            ),
        ),
    ),
)


def enough_on_the_later(
    arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]
) -> str | None:
    """The later colour has more than 0.99 of the weight at every two places. No two layers need be alike."""
    later, earlier = outputs["weight on the later colour"], outputs["weight on the earlier colour"]
    short = np.flatnonzero(~(later > ENOUGH))
    if not len(short):
        return None
    worst = short[np.argmin(later[short])]
    first, second = list(combinations(range(len(arguments["text"]) - 1), 2))[worst]
    if later[worst] + earlier[worst] < ENOUGH / 2:
        cause = "tokens that are no colours get most of the weight"
    elif abs(later[worst] - earlier[worst]) < 1e-4:
        cause = "both colours get the same weight"
    elif later[worst] < earlier[worst]:
        cause = "the earlier colour gets more than the later one"
    else:
        cause = "the later colour leads, but not by enough"
    near = "side by side" if second == first + 1 else "apart"
    pairs = f"{len(short)} of {len(later)} pairs of places"
    return f"at {pairs} {cause}; in the worst case the two colours stand {near}."


def _vocabulary(draw: Draw, tokens: int | None = None) -> tuple[int, list[int]]:
    """The size of a vocabulary, and the ids of three colours in it, in no order; the first and last id among
    them or not."""
    size = tokens or 8 + draw.sizes["K"]
    return size, draw.rng.permutation(size)[:3].tolist()


def _texts(draw: Draw, max_length: int, *lengths: int, tokens: int | None = None) -> list[Arguments]:
    """For texts of each length one call: tokens that are no colours, and two colours for every two places."""
    size, colours = _vocabulary(draw, tokens)
    others = np.setdiff1d(np.arange(size), colours)
    calls = []
    for length in lengths:
        earlier, later = draw.rng.permutation(colours)[:2].tolist()
        text = torch.from_numpy(draw.rng.choice(others, length))
        calls.append(
            {
                "colour_ids": colours,
                "vocabulary_size": size,
                "max_length": max_length,
                "text": text,
                "earlier": earlier,
                "later": later,
            }
        )
    return calls


def _every_last_token(draw: Draw) -> list[Arguments]:
    """For every id of a vocabulary one call: a text that ends with it, and colours that it is not among."""
    size = 8 + draw.sizes["K"]
    order = draw.rng.permutation(size)
    calls = []
    for last in range(size):
        colours = order[3:6] if last in order[:3] else order[:3]
        text = draw.rng.choice(np.setdiff1d(np.arange(size), colours), 4)
        text[-1] = last
        calls.append(
            {
                "colour_ids": colours.tolist(),
                "vocabulary_size": size,
                "max_length": 12,
                "text": torch.from_numpy(text),
                "earlier": int(colours[0]),
                "later": int(colours[1]),
            }
        )
    return calls


MORE_RECENT_LAYER = Exercise(
    function="more_recent_layer",
    parameters=("colour_ids", "vocabulary_size", "max_length"),
    returns=(
        Returned("weight on the later colour", "pairs"),
        Returned("weight on the earlier colour", "pairs"),
    ),
    compare=enough_on_the_later,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "texts of up to 12 tokens",
            2,
            probe="weights_on_colours",
            cases=(
                Case("twelve tokens", lambda draw: _texts(draw, 12, 12)),
                Case("other colours", lambda draw: _texts(draw, 12, 12)),
                Case("shorter texts", lambda draw: _texts(draw, 12, 3, 4, 5 + draw.sizes["V"] % 6)),
                Case("every last token", _every_last_token),
                Case("four places, four tokens", lambda draw: _texts(draw, 4, 3, 4, tokens=4)),
            ),
        ),
        Behaviour(
            "long texts",
            "texts of up to 40 tokens, and inputs left as they are",
            2,
            probe="weights_on_colours",
            unchanged=True,
            cases=(
                Case("forty tokens", lambda draw: _texts(draw, 40, 40)),
                Case("shorter texts", lambda draw: _texts(draw, 40, 3, 9, 20 + draw.sizes["K"])),
            ),
        ),
    ),
)


def _layers(draw: Draw, before: str = "", rows: str = "L", key_width: str = "K") -> Arguments:
    """Rows, and matrices for two layers at which weights are neither even nor one-hot."""
    width, scale = draw.sizes["D"], draw.sizes["D"] ** -0.5
    layers = [
        tuple(
            _floats(draw.normal(f"{width} {columns}", 0.9 * scale)) for columns in (key_width, key_width, "D")
        )
        for _ in range(2)
    ]
    return {"X": _floats(draw.normal(f"{before} {rows} D")), "layers": layers}


def _causal(draw: Draw) -> Arguments:
    length = draw.sizes["L"]
    return {"mask": torch.ones(length, length, dtype=torch.bool).tril()}


def _mask_per_text(draw: Draw, before: str = "B") -> Arguments:
    """A mask for each text, not the same for the first two. Some rows may not attend to themselves, but every
    row to something."""
    while True:
        allowed = draw.rng.random(draw.shape(f"{before} L L")) < 0.6
        itself = np.diagonal(allowed, axis1=-2, axis2=-1)
        if (allowed[0] != allowed[1]).any() and allowed.any(axis=-1).all() and not itself.all():
            return {"mask": torch.from_numpy(allowed)}


def _other_masks(draw: Draw) -> list[Arguments]:
    """Texts with two axes in front, under masks that broadcast to their weights in three ways."""
    drawn = _layers(draw, "2 B")
    keys = torch.arange(draw.sizes["L"]) > 0
    per_group = torch.stack([keys, ~keys])[:, None, None]
    return [drawn | {"mask": mask} for mask in (_mask_per_text(draw, "2 B")["mask"], per_group, keys)]


def _large_scores(draw: Draw) -> Arguments:
    """Scores beyond what `exp` can take, with one in each row that leads by far, in both layers. In some row
    all that the mask allows lie below -12,000, and one that it hides lies higher."""
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    while True:
        drawn = _layers(draw, rows="4")
        layers = [(120.0 * W_q, 120.0 * W_k, W_v) for W_q, W_k, W_v in drawn["layers"]]
        X, leads, drowned, largest = drawn["X"], [], [], []
        for W_q, W_k, W_v in layers:
            scores = (X @ W_q) @ (X @ W_k).mT / W_q.shape[1] ** 0.5
            allowed, hidden = scores.masked_fill(~mask, -torch.inf), scores.masked_fill(mask, -torch.inf)
            best, second = allowed.topk(2, dim=-1).values.T
            leads.append((best - second).min())
            drowned.append(((best < -12_000) & (hidden.amax(-1) > best + 200)).any())
            largest.append(scores.abs().max())
            X = X + allowed.softmax(dim=-1) @ (X @ W_v)
        if min(leads) > 200 and any(drowned) and max(largest) < 1e5:
            return {"X": drawn["X"], "layers": layers, "mask": mask}


OUTPUT_AND_WEIGHTS = (
    Returned("output", "... L D"),
    Returned("weights of layer 0", "... L L", weights=True),
    Returned("weights of layer 1", "... L L", weights=True),
)

TWO_LAYER_ATTENTION = Exercise(
    function="two_layer_attention",
    parameters=("X", "layers", "mask"),
    returns=OUTPUT_AND_WEIGHTS,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "two layers, no mask",
            2,
            probe="two_layers",
            cases=(
                Case("one text", _layers),
                Case("a batch", lambda draw: _layers(draw, "B")),
                Case("all sizes equal", lambda draw: _layers(draw, "B"), equal_sizes=True),
            ),
        ),
        Behaviour(
            "any input",
            "masks in both layers, large scores, batches of batches, one token, and inputs left as they are",
            1,
            probe="two_layers",
            unchanged=True,
            cases=(
                Case("a causal mask", lambda draw: _layers(draw) | _causal(draw)),
                Case("one mask for a batch", lambda draw: _layers(draw, "B") | _causal(draw)),
                Case("a mask for each text", lambda draw: _layers(draw, "B") | _mask_per_text(draw)),
                Case("two axes in front", lambda draw: _layers(draw, "2 B") | _causal(draw)),
                Case("other masks", _other_masks),
                Case("large scores behind a mask", _large_scores),
                Case("one token", lambda draw: _layers(draw, "B", rows="1")),
                Case("a batch of one", lambda draw: _layers(draw, "1")),
                Case("keys of width 1", lambda draw: _layers(draw, key_width="1")),
            ),
        ),
    ),
)


def _block(draw: Draw, texts: str = "2", rows: str = "L") -> Arguments:
    """Rows, an attention module, and parameters of a block, drawn again while an input of relu is near 0."""
    from course_lib.checks.torch_block import BlockAttention  # here, as importing it imports PyTorch

    D, hidden = draw.sizes["D"] + 2, draw.sizes["K"] + 3
    shapes = dict(zip(PARAMETERS, [(D,)] * 4 + [(hidden, D), (hidden,), (D, hidden), (D,)], strict=True))
    while True:
        matrices = {name: _floats(draw.normal(f"{D} {D}", 0.9 * D**-0.5)) for name in MATRICES}
        given = {
            name: _floats(
                draw.normal(" ".join(map(str, shape)), 0.5 if len(shape) == 1 else shape[1] ** -0.5)
            )
            for name, shape in shapes.items()
        }
        given["ln1.weight"] += 1.0
        given["ln2.weight"] += 1.0
        X = _floats(0.3 + draw.normal(f"{texts} {rows} {D}", 1.5))
        with torch.no_grad():
            X_1 = X + BlockAttention(**matrices)(_norm(X, given, "ln1"))
            before_relu = _norm(X_1, given, "ln2") @ given["W1.weight"].T + given["W1.bias"]
        if before_relu.abs().min() > FROM_THE_KINK:
            attention = Entry("torch_block_attention", matrices)
            return {"attention": attention, "X": X, "parameters": list(given.values())}


def _large_hidden_values(draw: Draw) -> Arguments:
    """A block in which one hidden value is near 10 and one near 40 for every row."""
    drawn = _block(draw)
    W1, bias = drawn["parameters"][4:6]
    W1[:2] *= 0.1
    bias[0], bias[1] = 10.0, 40.0
    return drawn


def _norm(X: Tensor, given: dict[str, Tensor], name: str) -> Tensor:
    return torch.nn.functional.layer_norm(X, X.shape[-1:], given[f"{name}.weight"], given[f"{name}.bias"])


AXES = ("D", "D", "D", "D", "hidden D", "hidden", "D hidden", "D")
# In the order in which the probe returns them.
GRADIENTS = (
    Returned("gradient of X", "B L D"),
    *(Returned(f"gradient of the attention's {name}", "D D") for name in MATRICES),
    *(Returned(f"gradient of {name}", axes) for name, axes in zip(PARAMETERS, AXES, strict=True)),
)

TRANSFORMER_BLOCK = Exercise(
    function="TransformerBlock",
    parameters=("attention", "d_model", "d_hidden"),
    returns=(Returned("output", "B L D"),),
    container="tensor",
    refused=("torch.nn.TransformerEncoderLayer.forward", "torch.nn.TransformerDecoderLayer.forward"),
    behaviours=(
        Behaviour(
            "ordinary",
            "parameters by name, and the output",
            3,
            probe="block",
            cases=(
                Case("two texts", _block),
                Case("one text", lambda draw: _block(draw, texts="1")),
                Case("one token", lambda draw: _block(draw, texts="3", rows="1")),
                Case("large hidden values", _large_hidden_values),
                Case("all sizes equal", lambda draw: _block(draw, texts="3"), equal_sizes=True),
            ),
        ),
        Behaviour(
            "training",
            "gradients to input, attention and every parameter, evaluation mode, and inputs left as they are",
            1,
            probe="block_with_gradients",
            returns=(Returned("output", "B L D"), *GRADIENTS),
            unchanged=True,
            cases=(
                Case("two texts", _block),
                Case("three texts", lambda draw: _block(draw, texts="3")),
                Case("evaluation mode", lambda draw: _block(draw) | {"training": False}),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "07_limits_of_one_layer",
    "The limits of one layer",
    (SWAP_TOKENS, FOURIER_FEATURES, MORE_RECENT_LAYER, TWO_LAYER_ATTENTION, TRANSFORMER_BLOCK),
)
