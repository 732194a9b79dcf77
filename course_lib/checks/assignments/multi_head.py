"""Assignment 05: cut columns into heads and join them, attend with several heads, count what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.checks.draw import Draw
from course_lib.checks.later import torch
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned

if TYPE_CHECKING:
    from torch import Tensor

# What the function and the module refuse: the point is to write them oneself. Softmax, and the course's
# masked softmax, are allowed.
LIBRARY_HEADS = (
    "course_lib.heads.split_heads",
    "course_lib.heads.join_heads",
    "course_lib.heads.multi_head_attention",
    "course_lib.heads.MultiHeadAttention",
    "course_lib.torch_attention.masked_attention",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention.forward",
)
OUTPUT_AND_WEIGHTS = (Returned("output", "B L D"), Returned("weights", "B H L L", weights=True))
GRADIENTS = tuple(Returned(f"gradient of {name}.weight", "D D") for name in ("W_q", "W_k", "W_v", "W_o"))


def exactly(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """Counts agree to the last one: a tolerance would forgive what is small beside a large count."""
    wrong = [name for name, count in outputs.items() if int(count) != int(reference[name])]
    return f"{wrong[0]} is not the right number." if wrong else None


def _heads_and_width(draw: Draw) -> tuple[int, int]:
    """The number of heads and the width of one, both primes: different from each other, from B and from L."""
    B, L = draw.sizes["B"], draw.sizes["L"]
    if B == L:
        return B, B
    free = [size for size in (2, 3, 5, 7) if size not in (B, L)]
    H, W = draw.rng.permutation(free[:2])
    return int(H), int(W)


def _floats(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array.astype(np.float32))


def _named_places(axes: tuple[int, ...]) -> Tensor:
    """A table in which each number tells its place: at [1, 2, 3] stands 123, or 10203 in a large table."""
    base = 10.0 if max(axes) <= 10 else 100.0
    return _floats(sum(index * base**place for place, index in enumerate(reversed(np.indices(axes)))))


def _columns(
    draw: Draw, before: str = "B L", heads: int | None = None, width: int | None = None, left: int = 0
) -> Arguments:
    """Columns for heads of a width, and some that are left over."""
    H, W = _heads_and_width(draw)
    H, W = heads or H, width or W
    return {"X": _floats(draw.normal(f"{before} {H * W + left}")), "num_heads": H}


def _more_heads_than_columns(draw: Draw) -> Arguments:
    H, W = _heads_and_width(draw)
    return {"X": _floats(draw.normal(f"B L {W}")), "num_heads": W * H}


def _other_remainders(draw: Draw) -> list[Arguments]:
    """Every remainder of a division by 4 and by 6, and more heads than columns, by one and twice as many."""
    _, W = _heads_and_width(draw)
    uneven = [(H * W + left, H) for H in (4, 6) for left in range(1, H)] + [(6, 7), (7, 8), (W, 2 * W)]
    return [{"d_model": width, "num_heads": H} for width, H in uneven]


def _columns_of_other_remainders(draw: Draw) -> list[Arguments]:
    return [
        {"X": _floats(draw.normal(f"2 1 {each['d_model']}")), "num_heads": each["num_heads"]}
        for each in _other_remainders(draw)
    ]


def _slices(draw: Draw, batch: str = "B", heads: str = "", tokens: str = "L", width: str = "") -> Arguments:
    H, W = _heads_and_width(draw)
    return {"X": _floats(draw.normal(f"{batch} {heads or H} {tokens} {width or W}"))}


def _layer(
    draw: Draw, before: str = "B L", heads: int | None = None, width: int | None = None
) -> dict[str, Any]:
    """Rows and matrices of a size at which the weights are neither even nor one-hot."""
    H, W = _heads_and_width(draw)
    H, W = heads or H, width or W
    D = H * W
    X = {"X": _floats(draw.normal(f"{before} {D}"))}
    matrices = {
        name: _floats(draw.normal(f"{D} {D}", 1.2 * D**-0.5)) for name in ("W_q", "W_k", "W_v", "W_o")
    }
    return X | matrices | {"num_heads": H}


def _module(draw: Draw, **sizes: Any) -> Arguments:
    drawn = _layer(draw, **sizes)
    return {"d_model": drawn["X"].shape[-1]} | drawn


def _called_before(draw: Draw, mask: Tensor | None) -> Arguments:
    """A module that has been called with a causal mask before."""
    return _module(draw) | {"mask": mask, "training": True, "first": _causal(draw)["mask"]}


def _causal(draw: Draw) -> Arguments:
    length = draw.sizes["L"]
    return {"mask": torch.ones(length, length, dtype=torch.bool).tril()}


def _nothing_hidden(draw: Draw) -> Arguments:
    return {"mask": torch.ones(draw.shape("L L"), dtype=torch.bool)}


def _mask_per_text(draw: Draw) -> Arguments:
    """For every text a mask of its own; every row may attend to something, and query and key differ in it."""
    while True:
        allowed = draw.rng.random(draw.shape("B L L")) < 0.6
        one_per_row = (allowed.sum(axis=-1) > 0).all()
        if one_per_row and (allowed != allowed.swapaxes(1, 2)).any() and (allowed[0] != allowed[1]).any():
            return {"mask": torch.from_numpy(allowed)}


def _padding(draw: Draw) -> Arguments:
    """A mask (B, 1, L): texts of different lengths, of which one is the longest possible."""
    length = draw.sizes["L"]
    while True:
        lengths = draw.rng.integers(1, length + 1, draw.sizes["B"])
        if lengths.min() < length and len(set(lengths.tolist())) > 1:
            return {"mask": torch.from_numpy(np.arange(length) < lengths[:, None])[:, None].contiguous()}


def _large_scores(draw: Draw, largest: float = 0.0, behind: Tensor | None = None) -> Arguments:
    """Scores beyond what `exp` can take. They are halves of whole numbers, as heads have width 4, so that no
    order of summation rounds them. In each row one of the scores that may be seen leads by far: next to
    10,000, the logarithm of a sum of two is rounded by more than the tolerance. largest: what they nearly
    reach; a few hundred or thousand where none is given."""
    while True:
        drawn = _layer(draw, "2 5", heads=2, width=4)
        X, W_q, W_k = (
            _floats(draw.integers(" ".join(map(str, drawn[name].shape)))) for name in ("X", "W_q", "W_k")
        )
        drawn |= {"X": X, "W_q": W_q, "W_k": W_k}
        factor = largest // _scores(drawn).abs().max().item() if largest else 10
        drawn["W_q"] = factor * W_q
        scores = _scores(drawn)
        seen = scores if behind is None else scores.masked_fill(~behind, -torch.inf)
        best, second = seen.topk(2, dim=-1).values.unbind(dim=-1)
        if (best - second).min() > 25 and scores.max() > 200 and scores.abs().max() < 1e5:
            return drawn


def _scores(drawn: Arguments) -> Tensor:
    """Scores (B, H, L, L) of what was drawn."""
    X, H = drawn["X"], drawn["num_heads"]
    Q, K = (torch.stack((X @ drawn[name]).chunk(H, dim=-1), dim=1) for name in ("W_q", "W_k"))
    return Q @ K.mT / (Q.shape[-1] ** 0.5)


def _large_scores_behind_a_mask(draw: Draw) -> Arguments:
    """The same under a causal mask. In some row all allowed scores lie below -50,000, a hidden one above."""
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    while True:
        drawn = _large_scores(draw, 95_000, mask) | {"mask": mask}
        scores = _scores(drawn)
        allowed = scores.masked_fill(~mask, -torch.inf).amax(dim=-1)
        best_hidden = scores.masked_fill(mask, -torch.inf).amax(dim=-1)
        if ((allowed < -50_000) & (best_hidden > allowed + 100)).any():
            return drawn


def _module_with_large_scores(draw: Draw) -> Arguments:
    """The same for a module, whose matrices are stored the other way round."""
    drawn = _large_scores_behind_a_mask(draw)
    turned = {name: drawn[name].T.contiguous() for name in ("W_q", "W_k", "W_v", "W_o")}
    return {"d_model": drawn["X"].shape[-1]} | drawn | turned


def _places_in_columns(draw: Draw) -> Arguments:
    H, W = _heads_and_width(draw)
    return {"X": _named_places((draw.sizes["B"], draw.sizes["L"], H * W)), "num_heads": H}


def _places_in_heads(draw: Draw) -> Arguments:
    H, W = _heads_and_width(draw)
    return {"X": _named_places((draw.sizes["B"], H, draw.sizes["L"], W))}


def _some_width(draw: Draw, left: int = 0) -> Arguments:
    H, W = _heads_and_width(draw)
    return {"d_model": H * W + left, "num_heads": H}


def _lengths(draw: Draw, m: str, width: int | None = None) -> Arguments:
    return {"n": draw.sizes["L"], "m": draw.sizes[m], "d_model": width or draw.sizes["D"]}


SPLIT_HEADS = Exercise(
    function="split_heads",
    parameters=("X", "num_heads"),
    returns=(Returned("heads", "B H L W"),),
    refused=("course_lib.heads.split_heads",),
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "columns cut into heads",
            1,
            cases=(
                Case("numbers that tell their place", _places_in_columns),
                Case("random numbers", _columns),
                Case("all sizes equal", _columns, equal_sizes=True),
            ),
        ),
        Behaviour(
            "any input",
            "one text, one token, one head, heads of width 1, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of one", lambda draw: _columns(draw, "1 L")),
                Case("one token", lambda draw: _columns(draw, "B 1")),
                Case("one head", lambda draw: _columns(draw, heads=1)),
                Case("heads of width 1", lambda draw: _columns(draw, width=1)),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError when the number of heads does not divide the width",
            1,
            cases=(
                Case("one column too many", lambda draw: _columns(draw, left=1), raises=True),
                Case("more heads than columns", _more_heads_than_columns, raises=True),
                Case("other remainders", _columns_of_other_remainders, raises=True),
            ),
        ),
    ),
)


JOIN_HEADS = Exercise(
    function="join_heads",
    parameters=("X",),
    returns=(Returned("joined", "B L H·W"),),
    refused=("course_lib.heads.join_heads",),
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "heads joined side by side",
            1,
            cases=(
                Case("numbers that tell their place", _places_in_heads),
                Case("random numbers", _slices),
                Case("all sizes equal", _slices, equal_sizes=True),
            ),
        ),
        Behaviour(
            "any input",
            "one text, one token, one head, heads of width 1, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of one", lambda draw: _slices(draw, batch="1")),
                Case("one token", lambda draw: _slices(draw, tokens="1")),
                Case("one head", lambda draw: _slices(draw, heads="1")),
                Case("heads of width 1", lambda draw: _slices(draw, width="1")),
            ),
        ),
    ),
)

MULTI_HEAD_ATTENTION = Exercise(
    function="multi_head_attention",
    parameters=("X", "W_q", "W_k", "W_v", "W_o", "num_heads", "mask"),
    returns=OUTPUT_AND_WEIGHTS,
    predecessors=("split_heads", "join_heads"),
    refused=LIBRARY_HEADS,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "several heads, no mask",
            3,
            repeats=True,
            cases=(Case("a batch", _layer), Case("all sizes equal", _layer, equal_sizes=True)),
        ),
        Behaviour(
            "masks",
            "masks for all texts or for each text, the same in every head, and left as they are",
            2,
            unchanged=True,
            cases=(
                Case("a causal mask", lambda draw: _layer(draw) | _causal(draw)),
                Case("a mask for each text", lambda draw: _layer(draw) | _mask_per_text(draw)),
                Case("padding", lambda draw: _layer(draw) | _padding(draw)),
                Case(
                    "a mask for each text, all sizes equal",
                    lambda draw: _layer(draw) | _mask_per_text(draw),
                    equal_sizes=True,
                ),
                Case("nothing hidden", lambda draw: _layer(draw) | _nothing_hidden(draw)),
                Case("a causal mask, large scores", _large_scores_behind_a_mask),
            ),
        ),
        Behaviour(
            "any input",
            "one text, one token, one head, heads of width 1, large scores, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("a batch of one", lambda draw: _layer(draw, "1 L")),
                Case("one token", lambda draw: _layer(draw, "B 1")),
                Case("one head", lambda draw: _layer(draw, heads=1)),
                Case("heads of width 1", lambda draw: _layer(draw, width=1)),
                Case("large scores", _large_scores),
            ),
        ),
    ),
)

MODULE = Exercise(
    function="MultiHeadAttention",
    parameters=("d_model", "num_heads"),
    returns=OUTPUT_AND_WEIGHTS,
    predecessors=("split_heads", "join_heads", "multi_head_attention"),
    refused=LIBRARY_HEADS,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "four matrices by name, output and weights",
            2,
            probe="attention_module",
            repeats=True,
            cases=(
                Case("a batch", _module),
                Case("one head", lambda draw: _module(draw, heads=1)),
                Case("one token", lambda draw: _module(draw, before="B 1")),
                Case("all sizes equal", _module, equal_sizes=True),
            ),
        ),
        Behaviour(
            "training",
            "masks, large scores, two calls, evaluation mode, all gradients, and inputs left as they are",
            1,
            unchanged=True,
            probe="attention_module_with_gradients",
            returns=OUTPUT_AND_WEIGHTS + GRADIENTS,
            cases=(
                Case("without a mask", _module),
                Case("a causal mask", lambda draw: _module(draw) | _causal(draw)),
                Case("a mask for each text", lambda draw: _module(draw) | _mask_per_text(draw)),
                Case(
                    "another mask before",
                    lambda draw: _called_before(draw, _mask_per_text(draw)["mask"]),
                ),
                Case("a mask before, none now", lambda draw: _called_before(draw, None)),
                Case("a causal mask, large scores", _module_with_large_scores, visible=False),
                Case(
                    "evaluation mode",
                    lambda draw: _module(draw) | _mask_per_text(draw) | {"training": False},
                ),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError when the number of heads does not divide the width",
            1,
            cases=(
                Case("five heads, width 12", lambda draw: {"d_model": 12, "num_heads": 5}, raises=True),
                Case("other numbers", lambda draw: _some_width(draw, left=1), raises=True),
                Case("other remainders", _other_remainders, raises=True),
            ),
        ),
    ),
)


COUNT_PARAMETERS = Exercise(
    function="count_parameters",
    parameters=("d_model", "num_heads"),
    returns=(Returned("count", "", holds="integers"),),
    predecessors=("MultiHeadAttention",),  # one may make a module and count
    refused=("course_lib.heads.count_parameters",),
    compare=exactly,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "the paper's layer, and others",
            1,
            cases=(
                Case("the paper's layer", lambda draw: {"d_model": 512, "num_heads": 8}),
                Case("one head", lambda draw: {"d_model": 6, "num_heads": 1}),
                Case("another width", _some_width),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError when the number of heads does not divide the width",
            1,
            cases=(
                Case("ten heads, width 512", lambda draw: {"d_model": 512, "num_heads": 10}, raises=True),
                Case("other numbers", lambda draw: _some_width(draw, left=1), raises=True),
                Case("other remainders", _other_remainders, raises=True),
            ),
        ),
    ),
)

MULTIPLY_ADDS = Exercise(
    function="multiply_adds",
    parameters=("n", "m", "d_model"),
    returns=(
        Returned("pairs", "", holds="integers"),
        Returned("projections", "", holds="integers"),
    ),
    refused=("course_lib.heads.multiply_adds",),
    compare=exactly,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "a sequence that attends to itself, so that m equals n",
            1,
            cases=(
                Case("a picture of 196 patches", lambda draw: {"n": 196, "m": 196, "d_model": 768}),
                Case("other numbers", lambda draw: _lengths(draw, "L")),
            ),
        ),
        Behaviour(
            "two lengths",
            "queries and keys of different number, also very many",
            1,
            cases=(
                Case("few queries, many keys", lambda draw: {"n": 3, "m": 1000, "d_model": 10}),
                Case("many queries, few keys", lambda draw: {"n": 1000, "m": 7, "d_model": 10}),
                Case("other numbers", lambda draw: _lengths(draw, "M")),
                Case("width 1", lambda draw: _lengths(draw, "M", width=1)),
                Case(
                    "millions, to the last digit",
                    lambda draw: {"n": 1_000_003, "m": 2_000_003, "d_model": 1_000_003},
                ),
            ),
        ),
    ),
)

WEIGHT_BYTES = Exercise(
    function="weight_bytes",
    parameters=("n", "num_heads", "itemsize"),
    returns=(Returned("bytes", "", holds="integers"),),
    refused=("course_lib.heads.weight_bytes",),
    compare=exactly,
    container="tensor",
    behaviours=(
        Behaviour(
            "ordinary",
            "tables of weights of any length, number of heads and precision",
            1,
            cases=(
                Case("a picture of 196 patches", lambda draw: {"n": 196, "num_heads": 12, "itemsize": 4}),
                Case("numbers of 8 bytes", lambda draw: {"n": 5, "num_heads": 3, "itemsize": 8}),
                Case("to the last byte", lambda draw: {"n": 100_003, "num_heads": 3, "itemsize": 16}),
                Case("every pixel a token", lambda draw: {"n": 224 * 224, "num_heads": 1, "itemsize": 4}),
                Case(
                    "other numbers",
                    lambda draw: {"n": draw.sizes["L"], "num_heads": draw.sizes["M"], "itemsize": 2},
                ),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "05_multi_head",
    "Several heads",
    (
        SPLIT_HEADS,
        JOIN_HEADS,
        MULTI_HEAD_ATTENTION,
        MODULE,
        COUNT_PARAMETERS,
        MULTIPLY_ADDS,
        WEIGHT_BYTES,
    ),
)
