"""A class whose answers are made from the catalogue of mistakes, so that what a report must say is known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course_lib.checks.assignments import load
from course_lib.grading.catalogue import Mistake, read
from marking import Course, answered, answers_of

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Student:
    """What one student handed in, which mistakes were put in, and which functions were left as they were."""

    id: str
    notebook: NotebookNode
    mistakes: tuple[Mistake, ...]
    unwritten: tuple[str, ...] = ()

    def points(self, assignment: str) -> float:
        """The automatic points that the catalogue says are left."""
        fails = {mistake.function: mistake.fails for mistake in self.mistakes}
        return float(
            sum(
                behaviour.points
                for exercise in load(assignment).exercises
                if exercise.function not in self.unwritten
                for behaviour in exercise.behaviours
                if behaviour.name not in fails.get(exercise.function, ())
            )
        )


def class_of(course: Course, release: NotebookNode, students: int, seed: int = 0) -> Iterator[Student]:
    """Students with up to three mistakes each, in different functions; every ninth leaves the last function
    unwritten. Mistakes are only in functions that no other calls, so that each costs its own points alone.

    Parameters: release, the exercise as students received it."""
    rng = random.Random(f"{course.assignment} {seed}")
    exercises = load(course.assignment).exercises
    used = {name for exercise in exercises for name in exercise.predecessors}
    known = [each for each in read(ROOT, course.assignment).mistakes if each.function not in used]
    common = rng.sample(known, min(8, len(known)))  # what many get wrong
    right = answers_of(course.source())
    for number in range(students):
        chosen = rng.sample([*common * 3, *known], rng.choice((0, 1, 1, 2, 3)))
        mistakes = {mistake.function: mistake for mistake in chosen}
        left = (exercises[-1].function,) if number % 9 == 4 else ()
        mistakes = {name: each for name, each in mistakes.items() if name not in left}
        answers = right | {name: str(each.code) for name, each in mistakes.items()}
        answers = {name: code for name, code in answers.items() if name not in left}
        notebook = answered(release, answers)
        yield Student(f"s{number:03d}", notebook, tuple(mistakes.values()), left)


def asked(students: list[Student]) -> Counter[tuple[str, str]]:
    """By function and question, how many students must be asked it."""
    pairs = {(s.id, m.function, m.question) for s in students for m in s.mistakes}
    return Counter((function, question) for _, function, question in pairs)
