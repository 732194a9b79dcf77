"""The texts of the colour-recall task, and how texts of different lengths become one padded batch.

A text names a colour and breaks off where that colour is due again; the next token is to be predicted.
Dimension letters: B texts of a batch, M their longest length.

>>> texts, targets = validation_examples()
>>> make_batch(texts, targets).ids.shape
torch.Size([3, 21])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

TOKENS = (
    *("The", "team", "colour", "is", "red", "blue", "black", ".", "game", "starting"),
    *("players", "are", "on", "court", "So", "the", "wear"),
)
VOCABULARY = {token: identity for identity, token in enumerate(TOKENS)}
COLOURS = ("red", "blue", "black")


class Batch(NamedTuple):
    """Texts of different lengths in one table, padded on the right.

    ids (B, M) tokens, 0 where padded; mask (B, M), True where a token stands; last (B,) index of the token
    that asks; targets (B,) token to be named.
    """

    ids: Tensor
    mask: Tensor
    last: Tensor
    targets: Tensor


def recall_text(colour: str, *, game: bool = False, court: bool = False) -> str:
    """A text that names a colour, may say something else, and breaks off before the colour is due again.

    >>> recall_text("red", game=True)
    'The team colour is red . The game is starting . So the players wear'
    """
    between = ("The game is starting . " if game else "") + ("The players are on court . " if court else "")
    return f"The team colour is {colour} . {between}So the players wear"


def training_examples() -> tuple[list[str], list[str]]:
    """Nine texts and their targets: each colour with nothing, one sentence, or the other one in between.

    >>> texts, targets = training_examples()
    >>> len(texts), targets[:4]
    (9, ['red', 'red', 'red', 'blue'])
    """
    variants = ({}, {"game": True}, {"court": True})
    pairs = [(recall_text(colour, **variant), colour) for colour in COLOURS for variant in variants]
    return [text for text, _ in pairs], [colour for _, colour in pairs]


def validation_examples() -> tuple[list[str], list[str]]:
    """Three texts, one per colour, with both sentences in between: a length that training never shows."""
    return [recall_text(colour, game=True, court=True) for colour in COLOURS], list(COLOURS)


def encode(text: str, vocabulary: Mapping[str, int] = VOCABULARY) -> list[int]:
    """The tokens of a text (white space separates them) as their ids.

    Raises: ValueError naming a token that is not in the vocabulary, and its position counted from 0.

    >>> encode("So the players wear")
    [14, 15, 10, 16]
    """
    tokens = text.split()
    for position, token in enumerate(tokens):
        if token not in vocabulary:
            raise ValueError(f"text: expected tokens of the vocabulary, got {token!r} at position {position}")
    return [vocabulary[token] for token in tokens]


def make_batch(
    texts: Sequence[str], targets: Sequence[str], vocabulary: Mapping[str, int] = VOCABULARY
) -> Batch:
    """Texts and the token that each asks for, as one padded batch.

    >>> make_batch(["So the", "wear"], ["red", "blue"]).mask.tolist()
    [[True, True], [True, False]]
    """
    import torch  # here, as the texts alone need no PyTorch, and importing it takes long

    if not texts or len(texts) != len(targets):
        raise ValueError(
            f"targets: expected one per text and at least one, got {len(targets)} for {len(texts)}"
        )
    rows = [torch.tensor(encode(text, vocabulary)) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    if not lengths.all():
        raise ValueError("texts: expected at least one token in each, got an empty text")
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = torch.arange(ids.shape[1]) < lengths[:, None]
    return Batch(ids, mask, lengths - 1, torch.tensor([encode(target, vocabulary)[0] for target in targets]))
