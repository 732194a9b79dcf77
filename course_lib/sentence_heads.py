"""The eight-token sentence with wider queries and keys, built by hand: every slice has one readable reason.

The embeddings know each word's name and its features. A rule takes one column of queries and keys: what asks
there, what is found there, and how loudly the query asks. The 24 columns can be cut into 1, 2, 4 or 8 slices
of equal width. Nothing here is learned.

>>> import torch
>>> from course_lib.heads import split_heads
>>> Q, K = (torch.tensor(EMBEDDINGS @ W)[None] for W in (W_Q, W_K))
>>> Q_BHLW, K_BHLW = split_heads(Q, num_heads=4), split_heads(K, num_heads=4)
>>> weights = (Q_BHLW @ K_BHLW.mT / 6**0.5).softmax(dim=-1)[0]
>>> TOKENS[weights[1, 7].argmax()], round(weights[1, 7].max().item(), 2)
('cat', 0.94)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from course_lib import sentence
from course_lib.sentence import LABELS, TOKENS

__all__ = ["EMBEDDINGS", "FEATURES", "LABELS", "REASONS", "TOKENS", "WIDTH", "W_K", "W_Q", "Rule", "matrices"]

Array = NDArray[np.float64]

WIDTH = 24
NAMES: tuple[str, ...] = tuple(sentence.WORDS)
FEATURES: tuple[str, ...] = (*(f"'{name}'" for name in NAMES), *sentence.FEATURES)
REASONS: tuple[str, ...] = ("same word", "it → cat", "verb or prep. → noun", "article → noun → verb")


class Rule(NamedTuple):
    """One column of queries and keys: words with the feature `asks` look there for words with `finds`."""

    column: int
    asks: str
    finds: str
    strength: float


# Slices of 6 columns hold one reason each; slices of 3 hold half a reason. The strengths are chosen so that
# each reason is plain in its own slice, and that the first is the loudest in the sum.
RULES: tuple[Rule, ...] = (
    Rule(6, "pronoun", "living", 10),
    Rule(9, "pronoun", "noun", 2),
    Rule(10, "link", "action", 10),
    Rule(12, "action", "noun", 10),
    Rule(15, "place", "noun", 10),
    Rule(18, "article", "noun", 10),
    Rule(21, "noun", "action", 10),
)
SAME_WORD = 28.0


def matrices(same_word: float = SAME_WORD) -> tuple[Array, Array]:
    """W_Q and W_K, with a chosen strength for the reason "same word".

    Seven words share six columns: "because" and "it" have one, with opposite signs, so that each matches
    itself and repels the other.

    Parameters: same_word, 0 or more. Returns: W_Q and W_K, (14, 24) each, rows as in FEATURES.

    >>> W_Q, W_K = matrices(same_word=5)
    >>> (W_Q @ W_K.T)[6].tolist()[:7]  # what the word "it" finds among the seven words
    [0.0, 0.0, 0.0, 0.0, 0.0, -5.0, 5.0]
    """
    if not same_word >= 0:
        raise ValueError(f"same_word: expected a number of 0 or more, got {same_word}")
    W_q, W_k = np.zeros((len(FEATURES), WIDTH)), np.zeros((len(FEATURES), WIDTH))
    for row, name in enumerate(NAMES):
        column, sign = (5, -1.0) if name == "it" else (row, 1.0)
        W_q[row, column], W_k[row, column] = same_word * sign, sign
    for rule in RULES:
        W_q[FEATURES.index(rule.asks), rule.column] = rule.strength
        W_k[FEATURES.index(rule.finds), rule.column] = 1
    return W_q, W_k


def _embed() -> Array:
    """For each token 1 in the column of its name, followed by its features."""
    names = np.array([[float(token == name) for name in NAMES] for token in TOKENS])
    return np.hstack([names, sentence.EMBEDDINGS])


EMBEDDINGS: Array = _embed()
W_Q, W_K = matrices()
for _shared in (EMBEDDINGS, W_Q, W_K):  # chapters share them, so nobody may change them in place
    _shared.setflags(write=False)
