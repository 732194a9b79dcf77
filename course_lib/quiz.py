"""Predictions and self-check questions: folded HTML that needs no script, no network and no mouse.

Both are display objects with a text twin, so that they also read well where HTML is not shown.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Folded:
    """Blocks of text of which some are folded away until the reader opens them.

    question: the first line; folds: what each fold is called, and what it says.
    """

    question: str
    folds: Mapping[str, str] = field(default_factory=dict)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text()}

    def html(self) -> str:
        """The question, then a `details` element for each fold; keyboard and screen reader know it."""
        folds = "".join(
            f'<details style="margin: 0.3em 0 0.3em 1em"><summary>{_inline(label)}</summary>'
            f'<p style="margin: 0.3em 0 0.6em 1.2em">{_inline(words)}</p></details>'
            for label, words in self.folds.items()
        )
        return f'<div><p style="margin: 0.5em 0"><strong>{_inline(self.question)}</strong></p>{folds}</div>'

    def text(self) -> str:
        """The same as plain text, folds indented."""
        folds = "".join(f"\n  {label}\n    {words}" for label, words in self.folds.items())
        return self.question + folds


def predict(question: str, answer: str) -> Folded:
    """Ask for a prediction before a result is shown; the answer is folded away.

    >>> predict("Which key gets more?", "The first.").text().splitlines()[0]
    'Predict: Which key gets more?'
    """
    return Folded(f"Predict: {question}", {"Open after you have written your guess down": answer})


def question(text: str, options: Mapping[str, str], right: str) -> Folded:
    """A self-check question: each option unfolds into whether it is right and why.

    Parameters: options maps each option to its explanation, right or wrong; `right` is the right option.
    Raises: ValueError when `right` is not an option, or an option has no explanation.

    >>> print(question("2 + 2?", {"4": "Count.", "5": "One too many."}, right="4").text())
    Check yourself: 2 + 2?
      4
        Right. Count.
      5
        Not quite. One too many.
    """
    if right not in options:
        raise ValueError(f"right: expected one of {list(options)}, got {right!r}")
    if not all(options.values()):
        raise ValueError("options: expected an explanation for every option, got an empty one")
    folds = {
        option: ("Right. " if option == right else "Not quite. ") + words for option, words in options.items()
    }
    return Folded(f"Check yourself: {text}", folds)


def _inline(words: str) -> str:
    """Escaped text in which `code` between backticks is set as code."""
    parts = html.escape(words).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
