"""Every mistake fails what it must, with its own question; every right answer gets all points."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import pytest

from course_lib.checks.answer import answer_in
from course_lib.checks.assignments import MODULES
from course_lib.checks.judge import Verdict
from course_lib.grading.catalogue import Mistake, RightAnswer, define
from course_lib.grading.source import Source

ROOT = Path(__file__).resolve().parents[1]
SECRETS = ("first", "second", "third")


def _module(name: str):
    path = ROOT / "tests" / "mistakes" / f"{MODULES[name]}.py"
    spec = importlib.util.spec_from_file_location(f"mistakes_{MODULES[name]}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CATALOGUE = {name: _module(name) for name in MODULES}
MISTAKES = [pytest.param(name, each, id=each.id) for name in CATALOGUE for each in CATALOGUE[name].MISTAKES]
RIGHT = [pytest.param(name, each, id=each.id) for name in CATALOGUE for each in CATALOGUE[name].RIGHT]


@cache
def _source(name: str, secret: str) -> Source:
    return Source(ROOT / "solutions" / name / f"{name}.ipynb", secret)


def _verdicts(name: str, secret: str, function: str, code: str) -> dict[str, Verdict]:
    """The verdicts on all tests of an assignment in which one answer is replaced."""
    source = _source(name, secret)
    names = define(code, function, source.namespace)
    return {
        cell: source.judge(test, answer_in(source.requests(test), names))
        for cell, test in source.tests.items()
        if test.exercise.function == function
    }


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_fails_exactly_the_behaviours_it_should(name: str, mistake: Mistake, secret: str) -> None:
    verdicts = _verdicts(name, secret, mistake.function, mistake.code)
    failed = tuple(verdict.behaviour for verdict in verdicts.values() if verdict.failed is not None)
    assert failed == mistake.fails, [verdict.sentence for verdict in verdicts.values()]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_is_told_by_its_own_question(name: str, mistake: Mistake) -> None:
    verdicts = _verdicts(name, SECRETS[0], mistake.function, mistake.code)
    sentences = [verdict.sentence for verdict in verdicts.values() if verdict.behaviour == mistake.behaviour]
    assert mistake.question in sentences[0]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(("name", "right"), RIGHT)
def test_an_unusual_right_answer_gets_all_points(name: str, right: RightAnswer, secret: str) -> None:
    verdicts = _verdicts(name, secret, right.function, right.code)
    assert [verdict.sentence for verdict in verdicts.values() if verdict.failed is not None] == []


@pytest.mark.parametrize("name", CATALOGUE)
def test_ids_of_the_catalogue_are_unique(name: str) -> None:
    ids = [each.id for each in (*CATALOGUE[name].MISTAKES, *CATALOGUE[name].RIGHT)]
    assert len(ids) == len(set(ids))
