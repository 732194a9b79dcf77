"""Every mistake fails what it must, with its own question; every right answer gets all points."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from course_lib.checks.assignments import MODULES
from course_lib.checks.collect import collect
from course_lib.checks.judge import Verdict, judge
from course_lib.checks.spec import Exercise
from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, define, read
from course_lib.grading.source import Part, Source

ROOT = Path(__file__).resolve().parents[1]
SECRETS = ("first", "second", "third")

# Two mistakes that together give what one mistake gives, whose question is then asked and true of them, too.
SAME_AS_ONE = {
    "attention-mixed-on-the-way-in + attention-mixed-on-the-way-out": "attention-mixed-both-ways",
    "causal-no-diagonal + causal-true-means-hidden": "causal-upper-triangle",
}

CATALOGUE = {name: read(ROOT, name) for name in MODULES}


@cache
def _source(name: str, secret: str) -> Source:
    return Source(ROOT / "solutions" / name / f"{name}.ipynb", secret)


class Judged:
    """An answer in the place of the solution's. It meets each set of cases once, and only if that decides."""

    def __init__(self, name: str, answer: Mistake | RightAnswer) -> None:
        self.name, self.answer = name, answer
        self._names = define(answer.code, answer.function, _source(name, SECRETS[0]).namespace)
        self._found: dict[tuple[str, str], Verdict] = {}

    def verdicts(self, secret: str, *, hidden_only: bool = False) -> list[Verdict]:
        """The verdicts on the function's behaviours, as marking gives them, or on the hidden cases alone."""
        source = _source(self.name, secret)
        return [
            self._verdict(
                test.exercise,
                [part for part in source.parts(test) if not (hidden_only and part.reveal)],
                secret,
            ).as_part_of(test.behaviour)
            for test in source.tests.values()
            if test.exercise.function == self.answer.function
        ]

    def _verdict(self, exercise: Exercise, parts: list[Part], secret: str) -> Verdict:
        for part in parts:
            key = part.behaviour.name, "" if part.reveal else secret
            if key not in self._found:
                self._found[key] = judge(
                    exercise,
                    part.behaviour,
                    part.request,
                    collect(part.request, self._names),
                    part.reference,
                    reveal=part.reveal,
                    diagnose=part.diagnose,
                )
            if self._found[key].failed is not None:
                break
        return self._found[key]


def _asked(wrong: Judged) -> Mistake:
    """The mistake whose question is asked: itself, or the one that gives the same."""
    same = SAME_AS_ONE.get(wrong.answer.id, wrong.answer.id)
    return next((each for each in CATALOGUE[wrong.name].mistakes if each.id == same), wrong.answer)


def _failed(verdicts: list[Verdict]) -> tuple[str, ...]:
    return tuple(verdict.behaviour for verdict in verdicts if verdict.failed is not None)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, mistake), id=mistake.id)
        for name, catalogue in CATALOGUE.items()
        for mistake in (*catalogue.mistakes, *catalogue.combinations)
    ],
)
def wrong(request: pytest.FixtureRequest) -> Judged:
    """A mistake, or two frequent ones at once."""
    return Judged(*request.param)


def test_a_mistake_fails_exactly_the_behaviours_it_should(wrong: Judged) -> None:
    for secret in SECRETS:
        verdicts = wrong.verdicts(secret)
        assert _failed(verdicts) == wrong.answer.fails, [verdict.sentence for verdict in verdicts]


def test_a_mistake_is_told_by_its_own_question(wrong: Judged) -> None:
    told = {verdict.behaviour: verdict.sentence for verdict in wrong.verdicts(SECRETS[0])}
    assert _asked(wrong).question in told[wrong.answer.behaviour]


def test_hidden_cases_alone_catch_what_the_visible_ones_do(wrong: Judged) -> None:
    for secret in SECRETS:
        assert _failed(wrong.verdicts(secret, hidden_only=True)) == wrong.answer.fails


@pytest.mark.parametrize(
    ("name", "right"),
    [
        pytest.param(name, right, id=right.id)
        for name, catalogue in CATALOGUE.items()
        for right in catalogue.right
    ],
)
def test_an_unusual_right_answer_gets_all_points(name: str, right: RightAnswer) -> None:
    judged = Judged(name, right)
    for secret in SECRETS:
        assert [each.sentence for each in judged.verdicts(secret) if each.failed is not None] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CATALOGUE)
def test_right_answers_get_all_points_under_ten_secrets(name: str) -> None:
    for right in CATALOGUE[name].right:
        judged = Judged(name, right)
        for secret in (f"secret {number}" for number in range(10)):
            refused = [each.sentence for each in judged.verdicts(secret) if each.failed is not None]
            assert refused == [], (right.id, secret)


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_plain_answers_that_frequent_mistakes_change_are_right(name: str) -> None:
    edits = {
        (each.function, each.code.plain) for each in CATALOGUE[name].mistakes if isinstance(each.code, Edit)
    }
    assert edits
    for function, plain in edits:
        judged = Judged(name, RightAnswer(f"{function}-plain", function, plain))
        assert [each.sentence for each in judged.verdicts(SECRETS[0]) if each.failed is not None] == []


@pytest.mark.parametrize("name", CATALOGUE)
def test_ids_of_the_catalogue_are_unique(name: str) -> None:
    ids = [each.id for each in (*CATALOGUE[name].mistakes, *CATALOGUE[name].right)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_assignment_has_its_share_of_causes_and_combinations(name: str) -> None:
    causes = {(each.function, each.cause) for each in CATALOGUE[name].mistakes}
    assert len(causes) >= 12
    assert len(CATALOGUE[name].combinations) >= 3
