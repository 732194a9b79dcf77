"""The sentence "the cat sat on the mat because it", with embeddings and projections built by hand.

Every column has a name, so each number can be read: a word's embedding says what it is, W_Q what a word looks
for, W_K what it advertises, W_V what it hands over. Nothing here is learned, and nothing knows where a word
stands: both "the" have the same embedding. Positions count from 0.

>>> from course_lib.attention import self_attention
>>> output, weights = self_attention(EMBEDDINGS, W_Q, W_K, W_V)
>>> TOKENS[weights[7].argmax()], float(weights[7].max().round(2))
('cat', 0.86)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOKENS: tuple[str, ...] = ("the", "cat", "sat", "on", "the", "mat", "because", "it")
LABELS: tuple[str, ...] = tuple(f"{token} {position}" for position, token in enumerate(TOKENS))

FEATURES: tuple[str, ...] = ("article", "noun", "living", "action", "place", "link", "pronoun")
MATCHES: tuple[str, ...] = ("thing", "living", "action")
CONTENTS: tuple[str, ...] = ("animal", "object", "action", "place")

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "the": ("article",),
        "cat": ("noun", "living"),
        "sat": ("action",),
        "on": ("place",),
        "mat": ("noun",),
        "because": ("link",),
        "it": ("pronoun",),
    }
)


def embed(words: Sequence[str]) -> Array:
    """One row of features per word: 1 where the word has the feature, else 0.

    Parameters: words, L of them, each one of WORDS. Returns: (L, D), columns as in FEATURES.
    Raises: ValueError that names the unknown word and its position.

    >>> embed(["cat"]).tolist()
    [[0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
    """
    for position, word in enumerate(words):
        if word not in WORDS:
            raise ValueError(f"words: expected some of {list(WORDS)}, got {word!r} at position {position}")
    rows = [[float(feature in WORDS[word]) for feature in FEATURES] for word in words]
    return np.array(rows).reshape(len(words), len(FEATURES))


def projection(rules: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> Array:
    """A projection written as rules: what each feature adds to each column.

    Parameters: rules[feature][column] = number, 0 where nothing is said; columns, the names of the columns.
    Returns: (D, len(columns)), rows as in FEATURES. Raises: ValueError for an unknown feature or column.

    >>> projection({"pronoun": {"living": 4}}, MATCHES)[6].tolist()
    [0.0, 4.0, 0.0]
    """
    matrix = np.zeros((len(FEATURES), len(columns)))
    for feature, row in rules.items():
        for column, number in row.items():
            if feature not in FEATURES or column not in columns:
                raise ValueError(
                    f"rules: expected a feature among {list(FEATURES)} and a column among {list(columns)}, "
                    f"got {feature!r} and {column!r}"
                )
            matrix[FEATURES.index(feature), list(columns).index(column)] = number
    return matrix


def _constant(array: Array) -> Array:
    """The same array, protected: the sentence is shared by chapters, so nobody may change it in place."""
    array.setflags(write=False)
    return array


EMBEDDINGS: Array = _constant(embed(TOKENS))

# 4 is a strength that leaves the map readable: after division by √3 and softmax no weight is close to 1.
W_Q: Array = _constant(
    projection(
        {
            "article": {"thing": 4},
            "noun": {"action": 4},
            "action": {"living": 4},
            "place": {"thing": 4},
            "link": {"action": 4},
            "pronoun": {"thing": 4, "living": 4},
        },
        MATCHES,
    )
)
W_K: Array = _constant(
    projection({"noun": {"thing": 1}, "living": {"living": 1}, "action": {"action": 1}}, MATCHES)
)
W_V: Array = _constant(
    projection(
        {
            "noun": {"object": 1},
            "living": {"animal": 1, "object": -1},
            "action": {"action": 1},
            "place": {"place": 1},
        },
        CONTENTS,
    )
)
