"""What to teach again: sections of a chapter by how many students lost points in what they teach."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .chapters import Section
from .named import Named
from .taught import TAUGHT


@dataclass(frozen=True)
class Shown:
    """A known mistake, who shows it, and the section that answers it."""

    named: Named
    students: tuple[str, ...]
    section: Section


@dataclass(frozen=True)
class Teach:
    """The section that teaches some functions, and who lost points in any of them, by which mistakes.

    also: other sections that answer one of these mistakes better, and how many students made it.
    """

    section: Section
    students: tuple[str, ...]
    functions: tuple[str, ...]
    mistakes: tuple[Named, ...]
    also: tuple[tuple[Section, int], ...]


def teach_again(
    mistakes: Sequence[Shown],
    lost: Mapping[str, Iterable[str]],
    sections: Mapping[str, Section],
    assignment: str,
) -> tuple[Teach, ...]:
    """An entry for each section that is the first to teach a function, the one that most students need first.

    So every function belongs to one entry, however many sections answer its mistakes.
    Parameters: mistakes, the most frequent first; lost, by student the functions that lost points; sections,
    those of the chapter by their cells' ids.
    """
    who: dict[str, set[str]] = defaultdict(set)
    for student, functions in lost.items():
        for function in functions:
            who[function].add(student)
    taught_in: dict[str, list[str]] = defaultdict(list)
    for function in TAUGHT[assignment].exercises:
        if function in who:
            taught_in[TAUGHT[assignment].section_of(function)].append(function)
    found = [
        _entry(
            sections[cell], functions, who, [each for each in mistakes if each.named.function in functions]
        )
        for cell, functions in taught_in.items()
    ]
    return tuple(sorted(found, key=lambda each: -len(each.students)))


def _entry(
    section: Section, functions: Sequence[str], who: Mapping[str, set[str]], shown: Sequence[Shown]
) -> Teach:
    students = set().union(*(who[function] for function in functions))
    elsewhere: dict[Section, set[str]] = defaultdict(set)
    for each in shown:
        if each.section != section:
            elsewhere[each.section].update(each.students)
    counted = sorted(((each, len(made)) for each, made in elsewhere.items()), key=lambda pair: -pair[1])
    return Teach(
        section,
        tuple(sorted(students)),
        tuple(functions),
        tuple(each.named for each in shown),
        tuple(counted),
    )
