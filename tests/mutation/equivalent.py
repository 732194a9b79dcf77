"""Mutants that survive because they are right, too, as the statements read: the reasons."""

from __future__ import annotations

from dataclasses import dataclass

from .mutants import Mutant


@dataclass(frozen=True)
class Equivalent:
    """Mutants of one function that are right for one reason; each by the line that differs."""

    function: str
    reason: str
    lines: tuple[str, ...]


# These statements ask for a ValueError and leave its words free.
FREE_WORDS = ("sharpen", "split_heads", "MultiHeadAttention", "count_parameters", "fourier_features")

SAME_WIDTH = "Queries and keys have the same width."
TWO_AXES = "The table has two axes, so 1 and -1 name the same."

EQUIVALENT: tuple[Equivalent, ...] = (
    Equivalent("attention", SAME_WIDTH, ("scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])",)),
    Equivalent(
        "score_spread",
        TWO_AXES,
        ("products = (q * k).sum(axis=1)", "products = (q * k).sum(axis=+1)"),
    ),
    Equivalent(
        "softmax_jacobian",
        "A row of weights has as many entries as the weights' last axis.",
        ("return column * (np.eye(row.shape[-1]) - row)",),
    ),
    Equivalent(
        "entropy", "No weight is negative.", ("logarithms = np.log(np.where(weights != 0, weights, 1.0))",)
    ),
    Equivalent(
        "entropy",
        "Any finite logarithm times the weight 0 is 0.",
        ("logarithms = np.log(np.where(weights > 0, weights, 2.0))",),
    ),
    Equivalent(
        "attention_weights",
        SAME_WIDTH,
        ("return softmax(products / (temperature * np.sqrt(K.shape[-1])))",),
    ),
    Equivalent(
        "largest_weight_sweep",
        TWO_AXES,
        (
            "raw.append(softmax(products).max(axis=1).mean())",
            "raw.append(softmax(products).max(axis=+1).mean())",
            "scaled.append(softmax(products / np.sqrt(width)).max(axis=1).mean())",
            "scaled.append(softmax(products / np.sqrt(width)).max(axis=+1).mean())",
        ),
    ),
    Equivalent(
        "masked_softmax",
        "Any finite number will do in a row with nothing allowed: all its weights are set to 0 in the end.",
        (
            "harmless = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 1.0)",
            "harmless = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, -1.0)",
        ),
    ),
    Equivalent(
        "masked_softmax",
        "The last masked_fill turns NaN into 0, backwards as well, so `empty` only keeps NaN from arising.",
        ("empty = ~mask.any(keepdim=True)", "empty = ~scores.any(dim=-1, keepdim=True)"),
    ),
    Equivalent("masked_attention", SAME_WIDTH, ("scores = Q @ K.mT / math.sqrt(K.shape[-1])",)),
    Equivalent(
        "sees_future",
        "Nothing moves by exactly 0.0001: it is more than 0.001 or less than 0.000001.",
        ("leaks = leaks or bool(moved >= 0.0001)",),
    ),
    Equivalent(
        "sees_future",
        "Any generator gives other standard normal numbers.",
        ("other[:, j:] = torch.randn(X[:, j:].shape)",),
    ),
    Equivalent(
        "sees_future",
        "A layer keeps the number of rows, and a copy has the shape of what it copies.",
        (
            "for j in range(1, before.shape[1]):",
            "other[:, j:] = torch.randn(other[:, j:].shape, generator=torch.Generator().manual_seed(j))",
        ),
    ),
    Equivalent(
        "multi_head_attention",
        "Heads have four axes, so 2 and -2 name the same.",
        (
            "scores = Q @ K.transpose(2, -1) / math.sqrt(Q.shape[-1])",
            "scores = Q @ K.transpose(+2, -1) / math.sqrt(Q.shape[-1])",
        ),
    ),
    Equivalent(
        "multi_head_attention",
        "A single True allows everything, whether it has one axis or two.",
        ("everything = torch.ones(1, dtype=torch.bool)",),
    ),
    Equivalent(
        "multi_head_attention",
        "Queries, keys and values of a head all have the width D/H.",
        (
            "scores = Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])",
            "scores = Q @ K.transpose(-2, -1) / math.sqrt(V.shape[-1])",
        ),
    ),
    Equivalent(
        "ColourRecall",
        "One query for each text: the first is the last.",
        (
            "scores = (Q @ K.mT)[:, -1] / math.sqrt(K.shape[-1])",
            "output = (weights[:, None] @ V)[:, -1]",
        ),
    ),
    Equivalent(
        "ColourRecall",
        "All of them have an entry for each text.",
        (
            "Q = (X[torch.arange(len(X)), last] @ self.W_q)[:, None]",
            "Q = (X[torch.arange(len(last)), last] @ self.W_q)[:, None]",
            "Q = (X[torch.arange(len(mask)), last] @ self.W_q)[:, None]",
        ),
    ),
    Equivalent("ColourRecall", SAME_WIDTH, ("scores = (Q @ K.mT)[:, 0] / math.sqrt(Q.shape[-1])",)),
    Equivalent(
        "train", "The optimiser holds all parameters of the model, and no others.", ("model.zero_grad()",)
    ),
    Equivalent(
        "value_contribution",
        "A mask of which a part, or copies, would do: it broadcasts to one row for each text.",
        (
            "mask = torch.ones(len(ids), dtype=torch.bool)",
            "mask = torch.ones(1, dtype=torch.bool)",
            "mask = torch.ones(2, len(ids), dtype=torch.bool)",
        ),
    ),
    Equivalent(
        "value_contribution",
        "There is one text: the first is the last.",
        ("return weights[-1, position] * (value @ model.W_out)",),
    ),
    Equivalent(
        "swap_tokens",
        "The right side is evaluated before anything is assigned.",
        (
            "swapped[first], swapped[second] = (swapped[second], ids[first])",
            "swapped[first], swapped[second] = (ids[second], swapped[first])",
        ),
    ),
    Equivalent(
        "more_recent_layer",
        "One of many layers that put enough weight on the later colour: a step of nearly the same length.",
        ("step = math.log(1001)", "step = math.log(999)"),
    ),
    Equivalent(
        "more_recent_layer",
        "Larger scores put more weight on the later colour, not less.",
        (
            "token_embedding[:, 0] = 2.0",
            "token_embedding[colour_ids, 1] = 2.0",
            "W_q = torch.tensor([[2.0], [0.0], [0.0]])",
            "W_q = torch.tensor([[1.0], [1.0], [0.0]])",
            "W_q = torch.tensor([[1.0], [0.0], [1.0]])",
            "return (token_embedding, position_embedding, W_k, W_k, torch.eye(3))",
        ),
    ),
    Equivalent(
        "more_recent_layer",
        "The token that asks is no colour, so its query does not read that column.",
        ("W_q = torch.tensor([[1.0], [-1.0], [0.0]])",),
    ),
    Equivalent(
        "more_recent_layer",
        "The same number is added to the scores of all keys.",
        (
            "W_k = torch.tensor([[1.0], [step * max_length], [step]])",
            "W_k = torch.tensor([[-1.0], [step * max_length], [step]])",
        ),
    ),
)


def is_equivalent(function: str, mutant: Mutant) -> bool:
    """Whether a mutant is known to be right."""
    if function in FREE_WORDS and all(
        line.startswith("raise ValueError(") for line in (mutant.before, mutant.after)
    ):
        return True
    return any(mutant.after in each.lines for each in EQUIVALENT if each.function == function)


def stale(function: str, survivors: list[Mutant]) -> list[str]:
    """Listed lines of a function that no survivor has."""
    surviving = {mutant.after for mutant in survivors}
    listed = [line for each in EQUIVALENT if each.function == function for line in each.lines]
    return [line for line in listed if line not in surviving]
