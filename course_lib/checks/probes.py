"""Ways to call what a plain call does not show: gradients, many generators, modules with given parameters.

A probe gets the function or class under check and the values of the case, and returns what is judged. It runs
in the student's kernel as `collect` does, so it decides nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import probes_block, probes_recall, probes_training
from .parameters import Wrong, gradients, load_parameters, pair, sequence

Probe = Callable[..., Any]


@cache
def parameters_of(name: str) -> list[str] | None:
    """The names of the values that a probe takes besides the function under check; None for a probe that
    takes what the function takes."""
    own = list(inspect.signature(PROBES[name]).parameters.values())[1:]
    return None if any(each.kind is each.VAR_POSITIONAL for each in own) else [each.name for each in own]


def with_gradients(function: Probe, *values: Any) -> tuple[Any, ...]:
    """The outputs of a call, then the gradient of each floating-point tensor among the values.

    The gradient is of the sum of all outputs, each entry times its own number from a fixed sequence, so that
    no two entries can stand for each other.
    """
    import torch

    leaves = [
        value.requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for value in values
    ]
    # Copies, as a leaf must not be written to. What is written to one stands in the input afterwards.
    copies = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    returned = function(*copies)
    outputs = returned if isinstance(returned, (tuple, list)) else (returned,)
    if not all(isinstance(output, torch.Tensor) for output in outputs):
        raise Wrong("Return PyTorch tensors: gradients flow through nothing else.")
    total = sum((output * sequence(output)).sum() for output in outputs)
    # Under a mask that allows nothing no result depends on an input: no gradient is one of zero.
    nothing = any(
        isinstance(each, torch.Tensor) and each.dtype == torch.bool and not each.any() for each in values
    )
    flows = isinstance(total, torch.Tensor) and total.requires_grad
    if not (flows or nothing):
        raise Wrong(
            "No gradient flows from the result back to the inputs. Does a step leave PyTorch, or detach?"
        )
    if flows:
        total.backward()
    for leaf, copy in zip(leaves, copies, strict=True):
        if isinstance(leaf, torch.Tensor):
            leaf.data = copy.detach()
    inputs = {
        name: leaf
        for name, leaf in zip(_names(function, len(leaves)), leaves, strict=True)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    }
    without = [name for name, leaf in inputs.items() if leaf.grad is None]
    if without and not nothing:
        raise Wrong(f"No gradient reaches {', '.join(without)}. Does a step leave PyTorch, or detach?")
    reached = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in inputs.values()]
    return (*(output.detach() for output in outputs), *reached)


def _names(function: Probe, count: int) -> list[str]:
    """What a function calls its first parameters, or their numbers where it does not tell as many."""
    names = list(inspect.signature(function).parameters)[:count]
    return names if len(names) == count else [f"input {i + 1}" for i in range(count)]


def with_generators(function: Probe, *values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both results of a function of random draws, for each seed that stands in the place of its generator.

    The last of the values holds the seeds; the generator is the last argument.
    """
    *sizes, seeds = values
    results = [pair(function(*sizes, np.random.default_rng(seed)), "raw, scaled") for seed in seeds]
    raw, scaled = zip(*results, strict=True)
    return np.array(raw), np.array(scaled)


def with_mode(function: Probe, layer: Any, X: Any) -> tuple[Any, bool]:
    """The answer about a layer, and whether the layer is in training mode afterwards."""
    answer = function(layer, X)
    return answer, bool(getattr(layer, "training", False))


def attention_module(
    layer: Probe, d_model: int, num_heads: int, X: Any, W_q: Any, W_k: Any, W_v: Any, W_o: Any
) -> Any:
    """What a module with four given matrices, as `nn.Linear` stores them, returns for X."""
    return _loaded(layer, d_model, num_heads, W_q=W_q, W_k=W_k, W_v=W_v, W_o=W_o)(X)


def attention_module_with_gradients(
    layer: Probe,
    d_model: int,
    num_heads: int,
    X: Any,
    W_q: Any,
    W_k: Any,
    W_v: Any,
    W_o: Any,
    mask: Any = None,
    training: bool = True,
    first: Any = None,
) -> tuple[Any, ...]:
    """The same, with a mask or without, then the gradient of each matrix. It is that of the output: weights
    may be returned detached.

    training: the mode in which it is called. first: a mask with which the module is called before.
    Raises: Wrong when a matrix gets no gradient.
    """
    module = _loaded(layer, d_model, num_heads, W_q=W_q, W_k=W_k, W_v=W_v, W_o=W_o)
    module.train(training)
    if first is not None:
        module(X, first)
    output, weights = pair(module(X) if mask is None else module(X, mask), "output, weights")
    own = dict(module.named_parameters())
    leaves = {name: own[name] for name in (f"{each}.weight" for each in ("W_q", "W_k", "W_v", "W_o"))}
    return (output, weights, *gradients(output, leaves))


def _loaded(layer: Probe, d_model: int, num_heads: int, **matrices: Any) -> Any:
    """The module with the given matrices, each by the name under which an `nn.Linear` lists it.

    Another one, with another number of heads, is made after it: neither may know of the other.
    """
    module = layer(d_model, num_heads)
    layer(d_model, 1 if num_heads > 1 else d_model)
    load_parameters(module, {f"{name}.weight": matrix for name, matrix in matrices.items()})
    return module


PROBES: dict[str, Probe] = (
    {
        "attention_module": attention_module,
        "attention_module_with_gradients": attention_module_with_gradients,
        "with_generators": with_generators,
        "with_gradients": with_gradients,
        "with_mode": with_mode,
    }
    | probes_recall.PROBES
    | probes_training.PROBES
    | probes_block.PROBES
)
