"""What marks say about questions: how difficult each was, and how well it tells strong from weak.

Difficulty and discrimination as in L. Crocker and J. Algina, Introduction to Classical and Modern Test Theory
(1986), chapter 14.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .marks import Marks

FEW, TOO_FEW = 10, 5  # students, below which the numbers say little, and below which none is given


@dataclass(frozen=True)
class Item:
    """One question of a class.

    difficulty: the share of its points that the class reached, 0 to 1; so a high one means easy.
    discrimination: the correlation between its points and those of all other questions that are marked for
    everybody, -1 to 1; None where too few were marked or all have the same. full, none: students with all
    points and with none; waits: not marked yet.
    """

    question: str
    function: str
    title: str
    max_points: float
    students: int
    difficulty: float | None
    discrimination: float | None
    full: int
    none: int
    waits: int
    by_hand: bool


def item(marks: Sequence[Marks], cell: str, title: str) -> Item:
    """One question over the class; students whose answer has no points yet are left out."""
    asked = [(each, question) for each in marks for question in each.questions if question.cell == cell]
    first = asked[0][1]
    marked = [(each, question) for each, question in asked if question.scored]
    left_out = {cell, *(each.cell for mine in marks for each in mine.questions if not each.scored)}
    points = [question.points for _, question in marked]
    most = first.max_points
    return Item(
        question=cell,
        function=first.function,
        title=title,
        max_points=most,
        students=len(marked),
        difficulty=statistics.fmean(points) / most if points and most else None,
        discrimination=discrimination(points, [_others(each, left_out) for each, _ in marked]),
        full=sum(each >= most for each in points),
        none=sum(each == 0 for each in points),
        waits=len(asked) - len(marked),
        by_hand=first.by_hand,
    )


def discrimination(points: Sequence[float], others: Sequence[float]) -> float | None:
    """The corrected item-total correlation: of a question's points with the points of all other questions.

    >>> round(discrimination([0, 0, 1, 1, 1], [3, 2, 8, 9, 9]), 2)
    0.99
    >>> discrimination([0, 1], [1, 2]) is None
    True
    """
    if len(points) < TOO_FEW or len(set(points)) == 1 or len(set(others)) == 1:
        return None
    return statistics.correlation(points, others)


def _others(marks: Marks, left_out: Collection[str]) -> float:
    """A student's points in all other questions: the same ones for the whole class."""
    return sum(each.points for each in marks.questions if each.cell not in left_out)
