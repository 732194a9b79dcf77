"""Texts that share their beginnings: compute the row of each beginning once, however many texts have it.

Under a causal mask the row of a token depends on the tokens up to it and on nothing later (chapter 4). So
texts that begin alike have equal rows there, in every layer. A `Plan` lists the different rows. In the first
layer's input a row is a token at a place. After a layer it is a beginning of a text. After the last layer
only whole texts are left, each read at its last token.

Dimension letters: R rows that a layer reads, Q rows that it makes, B texts.

>>> plan = make_plan([[5, 8, 9], [5, 8, 6]], layers=2)
>>> plan.token.tolist(), plan.place.tolist()
([5, 8, 9, 6], [0, 1, 2, 2])
>>> [(len(look.own), look.mask.int().tolist()[-1]) for look in plan.looks]
[(4, [1, 1, 0, 1]), (2, [1, 1, 0, 1])]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Look(NamedTuple):
    """Who asks whom in one layer.

    own (Q,) the row from which each new row asks; mask bool (Q, R), True where it may attend.
    """

    own: Tensor
    mask: Tensor


class Plan(NamedTuple):
    """What a model reads. token (R,) and place (R,), counted from 0, of the first rows; a look per layer."""

    token: Tensor
    place: Tensor
    looks: list[Look]


def make_plan(texts: Sequence[Sequence[int]], layers: int) -> Plan:
    """The rows of some texts (lists of token ids, of any lengths) for a model of some layers.

    The last look makes one row per text, in the order of the texts.
    """
    if layers < 1:
        raise ValueError(f"layers: expected 1 or more, got {layers}")
    if not texts or not all(texts):
        raise ValueError("texts: expected one or more, each with at least one token")
    whole = [tuple(text) for text in texts]
    beginnings = _different(text[:end] for text in whole for end in range(1, len(text) + 1))
    pairs = _different((text[at], at) for text in whole for at in range(len(text)))
    looks, rows = [], {pair: row for row, pair in enumerate(pairs)}
    for layer in range(layers):
        made = whole if layer == layers - 1 else beginnings
        seen = [[rows[_name(text, at, layer)] for at in range(len(text))] for text in made]
        looks.append(Look(torch.tensor([row[-1] for row in seen]), _mask(seen, len(rows))))
        rows = {text: row for row, text in enumerate(made)}
    token, place = torch.tensor(pairs).T
    return Plan(token, place, looks)


def distances(plan: Plan) -> Tensor:
    """How far each text's last token is from each row of the first layer's input: (B, R), 0 for itself.

    For plans of one layer. Rows after the last token, which the mask hides, have distance 0 as well.
    """
    (look,) = plan.looks
    return (plan.place[look.own][:, None] - plan.place).clamp(min=0)


def _name(text: tuple[int, ...], at: int, layer: int) -> tuple[int, ...]:
    """What identifies the row at one place of a text: token and place at first, later all tokens up to it."""
    return (text[at], at) if layer == 0 else text[: at + 1]


def _different(items: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(items))


def _mask(seen: list[list[int]], rows: int) -> Tensor:
    mask = torch.zeros(len(seen), rows, dtype=torch.bool)
    for row, allowed in enumerate(seen):
        mask[row, allowed] = True
    return mask
