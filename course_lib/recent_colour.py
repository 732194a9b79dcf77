"""Two colours, the more recent one asked: texts that name one colour, then another, and break off.

The later colour is the answer. Between and after the two sentences stands nothing, one sentence, or both. The
vocabulary is that of `course_lib.recall`, with its colours.

>>> text("red", "blue")
'The team colour is red . The team colour is blue . So the players wear'
"""

from __future__ import annotations

import itertools

from course_lib.recall import COLOURS

LONGEST = 40  # no text of the task is longer
_BETWEEN = {
    "": "",
    "game": "The game is starting . ",
    "court": "The players are on court . ",
    "both": "The game is starting . The players are on court . ",
}
_TRAINING = (("", ""), ("game", ""), ("court", ""), ("", "game"), ("", "court"))
_VALIDATION = (
    *(("game", "game"), ("court", "court"), ("game", "court"), ("court", "game")),
    *(("both", ""), ("", "both"), ("both", "both")),
)
Examples = tuple[list[str], list[str]]


def text(earlier: str, later: str, between: str = "", after: str = "") -> str:
    """A text that names two colours, with more sentences between them and after them.

    Parameters: the two colours; between and after, each "", "game", "court" or "both".
    """
    for name, which in (("between", between), ("after", after)):
        if which not in _BETWEEN:
            raise ValueError(f"{name}: expected one of {list(_BETWEEN)}, got {which!r}")
    return (
        f"The team colour is {earlier} . {_BETWEEN[between]}"
        f"The team colour is {later} . {_BETWEEN[after]}So the players wear"
    )


def training_examples() -> Examples:
    """30 texts and their targets: six ordered pairs of colours, with at most one more sentence.

    >>> texts, targets = training_examples()
    >>> len(texts), sorted({len(text.split()) for text in texts}), targets[0]
    (30, [16, 21, 22], 'blue')
    """
    return _examples(_TRAINING)


def validation_examples() -> Examples:
    """42 texts, all longer than those of training: the same pairs, with two to four more sentences.

    >>> sorted({len(text.split()) for text in validation_examples()[0]})
    [26, 27, 28, 38]
    """
    return _examples(_VALIDATION)


def _examples(sentences: tuple[tuple[str, str], ...]) -> Examples:
    pairs = list(itertools.permutations(COLOURS, 2))
    cases = [(text(*pair, *more), pair[1]) for pair in pairs for more in sentences]
    return [case for case, _ in cases], [target for _, target in cases]
