"""Which known mistakes a student's marks show, by name.

The source is the gradebook: marking writes there, beside each answer, what the judge said, and `nbgrader
autograde` and `course mark` write the same. Where the judge knew the mistake, the catalogue's own question
stands in the sentence word for word, and that is looked up; nothing is guessed from other words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.checks.assignments import load
from course_lib.checks.store import visible
from course_lib.grading.catalogue import Mistake, read

TITLES = re.compile(r"^“[^”]+”(?:, “[^”]+”)*: ")  # the behaviours that a sentence is about
UNWRITTEN = "is not written yet."


@dataclass(frozen=True)
class Named:
    """One question that students are asked, and the mistakes that it leads to: mostly one, or its kin."""

    function: str
    ids: tuple[str, ...]
    cause: str
    question: str


class Names:
    """The questions of an assignment's catalogue.

    Parameters: mistakes; recognised, by function and question those that the checks ask where an output is
    exactly a mistake's. Others are told in the judge's own words, which may stand beside such a question.
    """

    def __init__(self, mistakes: Sequence[Mistake], recognised: Collection[tuple[str, str]]) -> None:
        self._recognised = frozenset(recognised)
        groups: dict[tuple[str, str], list[Mistake]] = defaultdict(list)
        for mistake in mistakes:
            groups[mistake.function, mistake.question].append(mistake)
        self._known: dict[str, list[Named]] = defaultdict(list)
        for (function, question), alike in groups.items():
            causes = "; or ".join(dict.fromkeys(each.cause for each in alike))
            ids = tuple(each.id for each in alike)
            self._known[function].append(Named(function, ids, causes, question))

    def in_comment(self, function: str, sentences: Sequence[str]) -> list[Named]:
        """The mistakes that the sentences on one function ask about, two where they come together.

        Where a question of the catalogue is asked as a whole, the judge's own words beside it, on this or on
        another input, say the same in general. Alone they may be those of several mistakes: all are named.
        """
        found = [
            each for each in self._known[function] if any(_core(each) in sentence for sentence in sentences)
        ]
        asked = [each for each in found if self._is_whole(each)] or found
        return [each for each in asked if not any(_core(each) in _core(o) for o in asked if o is not each)]

    def _is_whole(self, named: Named) -> bool:
        """Whether the checks ask this question in full, and not words of the judge that happen to fit."""
        return (named.function, named.question) in self._recognised and named.question.endswith(("?", "."))


def names_of(root: Path, assignment: str) -> Names:
    """The questions of an assignment, with those that its checks have stored."""
    recognised = {
        (exercise.function, mistake["question"])
        for exercise in load(assignment).exercises
        for behaviour in exercise.behaviours
        for mistake in visible(assignment, exercise.function, behaviour.name).mistakes
    }
    return Names(read(root, assignment).mistakes, recognised)


def sentences(comment: str) -> list[str]:
    """What a comment of the marking says beyond the points.

    >>> sentences("softmax: 2 of 6 points.\\n“large scores”, “any input”: It overflows.")
    ['It overflows.']
    """
    return [TITLES.sub("", line) for line in comment.splitlines()[1:]]


def without_numbers(sentence: str) -> str:
    """A sentence that can be counted: what differs from student to student is left out.

    >>> without_numbers("On “a table” (scores (3, 5)), weights[0, 1] should be 0.25; yours is -1e-05.")
    'On “a table” (scores …), weights[…] should be …; yours is ….'
    """
    return re.sub(r"(?:\((?:\d+, ?)+\d*\))|(?<![\w.])-?\d+(?:[.,]? ?\d+)*(?:e[+-]?\d+)?", "…", sentence)


def _core(named: Named) -> str:
    return named.question.rstrip(".")  # a sentence may end in another way
