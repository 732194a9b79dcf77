"""Many repairs of one kind, said in one line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

MANY = 3


def in_few_lines(repairs: Sequence[str], names: Collection[str]) -> list[str]:
    """Sentences that differ in a cell's name only, from the third on, as one with a count.

    >>> in_few_lines(["The cell a was gone.", "The cell b was gone.", "The cell c was gone."], "abc")
    ['The cell a was gone. The same holds for 2 more cells.']
    >>> in_few_lines(["The cell a was gone.", "The cell b was gone."], "abc")
    ['The cell a was gone.', 'The cell b was gone.']
    """
    alike: dict[str, list[str]] = {}
    for repair in repairs:
        words = ["" if word in names else word for word in repair.split(" ")]
        alike.setdefault(" ".join(words), []).append(repair)
    few: list[str] = []
    for sentences in alike.values():
        more = f"{sentences[0]} The same holds for {len(sentences) - 1} more cells."
        few += sentences if len(sentences) < MANY else [more]
    return few
