"""Probes for swapped tokens, a layer that finds the later colour, two layers, and a transformer block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from .parameters import Wrong, gradients, load_parameters, pair

TENSORS = ("token_embedding", "position_embedding", "W_q", "W_k", "W_v")
PARAMETERS = tuple(f"{part}.{each}" for part in ("ln1", "ln2", "W1", "W2") for each in ("weight", "bias"))


def swapped_tokens(function: Callable[..., Any], ids: Any, first: int, second: int) -> Any:
    """The swapped ids as a tensor.

    Raises: Wrong when they are of another kind than the given ones, or the given ones where nothing moves.
    """
    import torch

    result = function(ids, first, second)
    wanted = list if isinstance(ids, list) else torch.Tensor
    if not isinstance(result, wanted):
        kind = "a list" if wanted is list else "a tensor"
        raise Wrong(f"The ids come as {kind} and must go back as one; yours are a {type(result).__name__}.")
    if first == second and _shared(result, ids):
        raise Wrong(
            "What comes back is the given object, or shares its numbers. "
            "Where is the step that makes a new one?"
        )
    if wanted is torch.Tensor:
        return result
    strange = [each for each in result if type(each) is not int]
    if strange:
        kind = type(strange[0]).__name__
        raise Wrong(f"The list must hold whole numbers; yours holds a value of type {kind}.")
    return torch.tensor(result, dtype=torch.int64)


def _shared(result: Any, ids: Any) -> bool:
    """Whether a list is the given one, or a tensor lies in the same memory."""
    if isinstance(ids, list):
        return result is ids
    return bool(result.untyped_storage().data_ptr() == ids.untyped_storage().data_ptr())


def weights_on_colours(
    function: Callable[..., Any],
    colour_ids: Sequence[int],
    vocabulary_size: int,
    max_length: int,
    text: Any,
    earlier: int,
    later: int,
) -> tuple[Any, Any]:
    """The last token's weights on the later and on the earlier colour, put at every two places of a text.

    The places are all pairs before the last token, in the order of `itertools.combinations`.
    Raises: Wrong when the five tensors do not fit together.
    """
    import torch

    token_embedding, position_embedding, W_q, W_k = _five_tensors(
        function(colour_ids, vocabulary_size, max_length), vocabulary_size, max_length
    )
    places = torch.tensor(list(combinations(range(len(text) - 1), 2)))
    rows = torch.arange(len(places))
    ids = text.repeat(len(places), 1)
    ids[rows, places[:, 0]], ids[rows, places[:, 1]] = earlier, later
    X = token_embedding[ids] + position_embedding[: len(text)]
    scores = ((X @ W_k) @ (X[:, -1] @ W_q)[:, :, None])[:, :, 0] / W_q.shape[1] ** 0.5
    weights = scores.softmax(dim=-1)
    return weights[rows, places[:, 1]], weights[rows, places[:, 0]]


def _five_tensors(returned: Any, vocabulary_size: int, max_length: int) -> list[Any]:
    """Embeddings and the matrices of queries and keys, in float64, once all five fit together."""
    import torch

    if not isinstance(returned, (tuple, list)) or len(returned) != 5:
        raise Wrong(f"Return five tensors, ({', '.join(TENSORS)}).")
    for name, each in zip(TENSORS, returned, strict=True):
        if not isinstance(each, torch.Tensor) or not each.is_floating_point():
            kind = str(each.dtype) if isinstance(each, torch.Tensor) else type(each).__name__
            raise Wrong(f"{name} must be a tensor of floats; yours is a {kind}.")
        if each.dim() != 2:
            raise Wrong(f"{name} must have two axes; yours has shape {tuple(each.shape)}.")
        if not each.isfinite().all():
            raise Wrong(f"{name} must hold finite numbers only; use a large number where you want infinity.")
    width, key_width = returned[2].shape
    wanted = [(vocabulary_size, width), (max_length, width), (width, key_width), (width, key_width)]
    for name, each, shape in zip(TENSORS, returned, [*wanted, (width, returned[4].shape[1])], strict=True):
        if each.shape != shape:
            came = tuple(each.shape)
            raise Wrong(
                f"As W_q has shape ({width}, {key_width}), {name} must have {shape}; yours has {came}."
            )
    return [each.detach().double() for each in returned[:4]]


def two_layers(function: Callable[..., Any], X: Any, layers: Any, mask: Any = None) -> tuple[Any, Any, Any]:
    """The output and the weights of both layers, side by side.

    Raises: Wrong when what is returned is no (output, [weights, weights]).
    """
    returned = function(X, layers) if mask is None else function(X, layers, mask)
    output, weights = pair(returned, "output, [weights, weights]")
    if not isinstance(weights, (tuple, list)) or len(weights) != 2:
        count = f"a {type(weights).__name__}" + (
            f" of {len(weights)}" if isinstance(weights, (tuple, list)) else ""
        )
        raise Wrong(f"The second value must be a list with the weights of both layers; yours is {count}.")
    return output, weights[0], weights[1]


def block(layer: Callable[..., Any], attention: Any, X: Any, parameters: Sequence[Any]) -> Any:
    """The output of a block around a given attention module.

    Its own parameters are given too, in the order of `PARAMETERS`.
    Raises: Wrong when a second call gives another output.
    """
    import torch

    module = _loaded(layer, attention, parameters)
    output, again = module(X.clone()), module(X.clone())
    if isinstance(output, torch.Tensor) and not torch.allclose(output, again, equal_nan=True):
        raise Wrong("Your block gives two different outputs for the same rows. Which step is random?")
    return output


def block_with_gradients(
    layer: Callable[..., Any], attention: Any, X: Any, parameters: Sequence[Any], training: bool = True
) -> tuple[Any, ...]:
    """The same, then the gradients of X, of the attention's three matrices, and of the block's parameters.

    training: the mode in which it is called. Raises: Wrong when the block writes to its input, which would
    spoil the gradients, or no gradient reaches one of them.
    """
    import torch

    module = _loaded(layer, attention, parameters).train(training)
    with torch.no_grad():
        given = X.clone()
        module(given)
    if not torch.equal(given, X):
        raise Wrong("Your block writes to its input X, as `+=` does. How do you make new rows instead?")
    leaf = X.clone().requires_grad_()
    output = module(leaf.clone())  # a copy, as a leaf must not be written to
    own = dict(module.named_parameters())
    leaves = {"X": leaf} | {f"the attention's {name}": each for name, each in attention.named_parameters()}
    return (output.detach(), *gradients(output, leaves | {name: own[name] for name in PARAMETERS}))


def _loaded(layer: Callable[..., Any], attention: Any, given: Sequence[Any]) -> Any:
    """The block, with its parameters loaded. The attention module may have any name in it, and keeps its own.

    Raises: Wrong when the block is no module, or has other parameters than those.
    """
    import torch

    values = dict(zip(PARAMETERS, given, strict=True))
    d_hidden, d_model = values["W1.weight"].shape
    module = layer(attention, d_model, d_hidden)
    if isinstance(module, torch.nn.Module):
        theirs = {id(each) for each in attention.parameters()}
        found = {name: each for name, each in module.named_parameters() if id(each) in theirs}
        if len(found) != len(theirs):
            raise Wrong(
                "The parameters of the attention module are not among the block's: nobody would train them."
            )
        values |= {name: each.detach().clone() for name, each in found.items()}
    load_parameters(module, values)
    return module


PROBES: dict[str, Callable[..., Any]] = {
    "block": block,
    "block_with_gradients": block_with_gradients,
    "swapped_tokens": swapped_tokens,
    "two_layers": two_layers,
    "weights_on_colours": weights_on_colours,
}
