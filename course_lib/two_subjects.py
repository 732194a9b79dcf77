"""Two subjects, one of them asked: who wears which colour? Texts, and the four cases that belong together.

"The teams wear blue . The referees wear red . So the players wear" asks for the colour of the teams, "... So
the officials wear" for that of the referees. All texts have 14 tokens.

>>> text("blue", "red", asked="officials")
'The teams wear blue . The referees wear red . So the officials wear'
"""

from __future__ import annotations

import itertools

COLOURS = ("red", "blue", "black", "green")
TOKENS = ("The", "wear", ".", "So", "the", "teams", "players", "referees", "officials", *COLOURS)
VOCABULARY = {token: identity for identity, token in enumerate(TOKENS)}
GROUPS = {"teams": "players", "referees": "officials"}
COLOUR_INDICES = (3, 8)  # where the two colours stand, counted from 0
SUBJECT_INDICES = (1, 6)
ASKED_INDEX = 12
LENGTH = 14


def text(first: str, second: str, *, asked: str, teams_first: bool = True) -> str:
    """The text that gives the first subject one colour and the second subject another.

    Parameters: two colours; asked "players" or "officials"; teams_first, or referees first.
    """
    if asked not in GROUPS.values():
        raise ValueError(f"asked: expected one of {list(GROUPS.values())}, got {asked!r}")
    subjects = list(GROUPS) if teams_first else list(GROUPS)[::-1]
    return f"The {subjects[0]} wear {first} . The {subjects[1]} wear {second} . So the {asked} wear"


def answer(words: str) -> str:
    """The colour that a text asks for.

    >>> answer("The referees wear red . The teams wear blue . So the players wear")
    'blue'
    """
    tokens = words.split()
    for subject, colour in zip(SUBJECT_INDICES, COLOUR_INDICES, strict=True):
        if GROUPS.get(tokens[subject]) == tokens[ASKED_INDEX]:
            return tokens[colour]
    raise ValueError(f"words: expected a subject that goes with {tokens[ASKED_INDEX]!r}, got {words!r}")


def four_cases(one: str, other: str, *, teams_first: bool = True) -> list[str]:
    """The texts of {players, officials} asked, {one other, other one} named: four of one subject order.

    >>> [answer(each) for each in four_cases("red", "blue")]
    ['red', 'blue', 'blue', 'red']
    """
    orders = ((one, other), (other, one))
    return [
        text(*order, asked=asked, teams_first=teams_first) for order in orders for asked in GROUPS.values()
    ]


def examples() -> tuple[list[str], list[str]]:
    """All 48 texts and their targets: 12 groups of four cases, one after the other."""
    groups = itertools.product(itertools.combinations(COLOURS, 2), (True, False))
    texts = [each for pair, teams_first in groups for each in four_cases(*pair, teams_first=teams_first)]
    return texts, [answer(each) for each in texts]
