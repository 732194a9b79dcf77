"""The course's map: from what a chapter promises, over its sections and exercises, to tests and mistakes.

What is missing is part of it: a promise that nothing asks for, a section that serves none, a test that no
known mistake fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.checks.assignments import MODULES, load
from course_lib.grading.catalogue import Catalogue, read

from . import chapters
from .chapters import Links, Section
from .taught import TAUGHT


@dataclass(frozen=True)
class Test:
    """One behaviour that is tested, or one answer in words: its points, and the mistakes that it finds."""

    name: str
    title: str
    points: float
    mistakes: tuple[str, ...]
    by_hand: bool = False


@dataclass(frozen=True)
class Exercise:
    """One function, or one answer in words: where it is taught, and its tests."""

    name: str
    sections: tuple[Section, ...]
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Goal:
    """What a reader can do after a chapter, the sections that lead there, the exercises that ask for it."""

    text: str
    sections: tuple[Section, ...]
    exercises: tuple[Exercise, ...]


@dataclass(frozen=True)
class Chapter:
    """One chapter with its assignment, and what is missing, in words."""

    name: str
    title: str
    goals: tuple[Goal, ...]
    exercises: tuple[Exercise, ...]
    holes: tuple[str, ...]


def overview(root: Path) -> list[Chapter]:
    """The map of every chapter."""
    return [chapter(root, name) for name in MODULES]


def chapter(root: Path, name: str) -> Chapter:
    """The map of one chapter."""
    sections, taught = chapters.sections(root, name), TAUGHT[name]
    exercises = _exercises(root, name, sections)
    goals = tuple(
        Goal(
            text,
            tuple(sections[cell] for cell in cells),
            tuple(each for each in exercises if {s.cell for s in each.sections} & set(cells)),
        )
        for text in chapters.goals(root, name)
        for cells in [next((c for begin, c in taught.goals.items() if text.startswith(begin)), ())]
    )
    return Chapter(name, load(name).title, goals, exercises, _holes(goals, exercises, sections))


def _exercises(root: Path, name: str, sections: Mapping[str, Section]) -> tuple[Exercise, ...]:
    taught, catalogue = TAUGHT[name].exercises, read(root, name)
    found = [
        Exercise(
            exercise.function,
            tuple(sections[cell] for cell in taught.get(exercise.function, ())),
            tuple(
                Test(
                    f"{exercise.function}-{each.slug}",
                    each.title,
                    float(each.points),
                    _failing(catalogue, exercise.function, each.name),
                )
                for each in exercise.behaviours
            ),
        )
        for exercise in load(name).exercises
    ]
    in_words = chapters.in_words(root, name)
    return (
        *found,
        *(
            Exercise(
                cell,
                tuple(sections[each] for each in taught.get(cell, ())),
                (Test(cell, "in words", points, (), by_hand=True),),
            )
            for cell, points in in_words.items()
        ),
    )


def _failing(catalogue: Catalogue, function: str, behaviour: str) -> tuple[str, ...]:
    """The mistakes that this behaviour is there to find: those that are recognised in it."""
    return tuple(
        each.id
        for each in catalogue.mistakes
        if each.function == function and (each.behaviour == behaviour or each.fails == (behaviour,))
    )


def _holes(
    goals: tuple[Goal, ...], exercises: tuple[Exercise, ...], sections: Mapping[str, Section]
) -> tuple[str, ...]:
    served = {section for goal in goals for section in goal.sections}
    return (
        *(f"no section leads to the goal “{goal.text}”" for goal in goals if not goal.sections),
        *(f"no exercise asks for the goal “{goal.text}”" for goal in goals if not goal.exercises),
        *(f"the section “{each.title}” serves no goal" for each in sections.values() if each not in served),
        *(f"no section teaches {each.name}" for each in exercises if not each.sections),
        *(
            f"no known mistake is found by {test.name} alone"
            for each in exercises
            for test in each.tests
            if not test.mistakes and not test.by_hand
        ),
    )


def as_data(made: list[Chapter], links: Links) -> list[dict[str, Any]]:
    """The map as plain data, for JSON."""

    def section(each: Section) -> dict[str, str]:
        return {"heading": each.heading, "link": links.to(each)}

    return [
        {
            "chapter": each.name,
            "goals": [
                {
                    "goal": goal.text,
                    "sections": [section(one) for one in goal.sections],
                    "exercises": [one.name for one in goal.exercises],
                }
                for goal in each.goals
            ],
            "exercises": [
                {
                    "exercise": one.name,
                    "sections": [section(s) for s in one.sections],
                    "tests": [vars(test) for test in one.tests],
                }
                for one in each.exercises
            ],
            "holes": list(each.holes),
        }
        for each in made
    ]
