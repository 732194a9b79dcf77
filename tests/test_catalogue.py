"""The catalogues of mistakes and of unusual right answers, marked as a class with a submission for each.

`make test` takes one mistake and one right answer for every function, `make catalogue` all of them; all are
judged without a gradebook in test_mistakes.py. Marks and feedback are those of `course mark` and `course
feedback`, which test_class_marking.py finds equal to nbgrader's own. Every submission holds the solution with
one function exchanged: its points show that a mistake costs what it should and nothing of another function's,
and its feedback page asks the mistake's own question.
"""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from course_lib.checks.assignments import MODULES, load
from course_lib.grading.catalogue import Catalogue, Mistake, RightAnswer, read
from marking import Course, answered, answers_of

ROOT = Path(__file__).resolve().parents[1]
WHOLE = "COURSE_WHOLE_CATALOGUE"  # `make catalogue` sets it, for some nine hundred submissions


@dataclass(frozen=True)
class Class:
    """A course in which every student handed in one entry of the catalogue."""

    course: Course
    students: dict[str, Mistake | RightAnswer]

    @property
    def mistakes(self) -> dict[str, Mistake]:
        return {student: each for student, each in self.students.items() if isinstance(each, Mistake)}


def _class(name: str, folder: Path) -> Class:
    course, catalogue = Course.make(folder, name), read(ROOT, name)
    answers = answers_of(course.source())
    students = dict(_students(catalogue))
    for student, entry in students.items():
        course.submit(student, answered(course.release(), answers | {entry.function: str(entry.code)}))
    course.mark()
    course.give_feedback()
    return Class(course, students)


def _students(catalogue: Catalogue) -> list[tuple[str, Mistake | RightAnswer]]:
    """The entries by the name of the student who hands them in."""
    entries: list[Mistake | RightAnswer] = [*catalogue.mistakes, *catalogue.right]
    if WHOLE not in os.environ:  # each kind of entry once for every function
        entries = list({(type(each), each.function): each for each in entries}.values())
    return [
        (f"{number:03d}-{re.sub(r'[^a-z0-9]+', '-', each.id)}", each) for number, each in enumerate(entries)
    ]


@pytest.fixture(scope="module", params=MODULES)
def marked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Class:
    """The catalogue of one assignment, marked, with feedback."""
    return _class(request.param, tmp_path_factory.mktemp("catalogue") / request.param)


def _costs(name: str, mistake: Mistake) -> dict[str, float]:
    """The points of every function when this mistake is made."""
    return {
        exercise.function: float(
            sum(
                behaviour.points
                for behaviour in exercise.behaviours
                if exercise.function != mistake.function or behaviour.name not in mistake.fails
            )
        )
        for exercise in load(name).exercises
    }


def _text(page: str) -> str:
    """What a reader sees of an HTML page, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_every_mistake_costs_its_own_points_and_no_other_functions(marked: Class) -> None:
    points, name = marked.course.functions(), marked.course.assignment
    expected = {student: _costs(name, each) for student, each in marked.mistakes.items()}
    wrong = {student: points.get(student) for student in expected if points.get(student) != expected[student]}
    assert wrong == {}


def test_every_mistake_has_its_own_question_in_the_feedback(marked: Class) -> None:
    silent = [
        student
        for student, each in marked.mistakes.items()
        if " ".join(each.question.split()) not in _text(marked.course.feedback(student))
    ]
    assert silent == []


def test_every_unusual_right_answer_gets_all_points(marked: Class) -> None:
    points, full = (
        marked.course.functions(),
        sum(e.points for x in load(marked.course.assignment).exercises for e in x.behaviours),
    )
    right = [student for student, each in marked.students.items() if isinstance(each, RightAnswer)]
    assert {student: points[student] for student in right if sum(points[student].values()) != full} == {}
    assert right
