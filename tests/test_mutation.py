"""The tests of the exercises tell every wrong change of a solution; `make mutation` tries all assignments."""

from __future__ import annotations

import signal

import pytest
from cosmic_ray.mutating import mutate_code

from course_lib.checks.assignments import MODULES, load
from mutation import judging
from mutation.__main__ import left_to_do, score, summary
from mutation.equivalent import EQUIVALENT, FREE_WORDS
from mutation.judging import SECRETS, Report, failures, report
from mutation.mutants import Mutant, mutants
from mutation.operators import AnotherName, LeaveOutArgument, LeaveOutStatement

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="needs a limit of time"),
    pytest.mark.slow,
]
FAST = [
    (name, each.function)
    for name in ("01_soft_lookup", "02_queries_keys_values")
    for each in load(name).exercises
]
FUNCTIONS = [each.function for name in MODULES for each in load(name).exercises]
HALF_WRONG = Mutant("def softmax(scores): ...", "return a", "return b")


@pytest.mark.parametrize(("assignment", "function"), FAST)
def test_every_mutant_is_killed_under_every_secret_or_known_to_be_right(assignment, function):
    judged = report(assignment, function)
    assert judged.total > 10
    assert left_to_do(judged) == []


@pytest.mark.parametrize("operator", [AnotherName, LeaveOutArgument, LeaveOutStatement])
def test_an_operator_does_what_its_examples_say(operator):
    for example in operator.examples():
        made = operator(**example.operator_args)
        changed = mutate_code(example.pre_mutation_code, made, example.occurrence)
        assert changed == example.post_mutation_code


def test_mutants_differ_from_the_code_and_from_each_other():
    found = mutants("def f(x, y):\n    return x.sum(axis=0) + y  # rows")
    codes = [each.code for each in found]
    assert len(codes) == len(set(codes)) > 10
    assert "def f(x, y):\n    return x.sum(axis=0) + y" not in codes
    assert {"return x.sum(axis=1) + y", "return x.sum() + y", "return x.sum(axis=0) - y"} <= {
        each.after for each in found
    }


def test_what_is_right_survives_and_what_is_wrong_does_not():
    body = "return softmax(Q @ K.mT / K.shape[-1] ** 0.5 / temperature)"
    right = f"def attention_weights(Q, K, temperature=1): {body}"
    wrong = right.replace("0.5", "0.4")
    judged = [failures("03_scaling", "attention_weights", Mutant(code, "", "")) for code in (right, wrong)]
    assert judged == [0, len(SECRETS)]


def test_a_solution_that_fails_its_own_tests_is_no_measure(monkeypatch):
    monkeypatch.setattr(judging, "failures", lambda *_: 1)
    with pytest.raises(RuntimeError, match="softmax: the solution fails its tests"):
        report("01_soft_lookup", "softmax")


def test_a_mutant_that_finds_no_end_counts_as_killed(monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 0.3)
    endless = Mutant("def softmax(scores):\n    while True:\n        pass", "", "")
    assert failures("01_soft_lookup", "softmax", endless) == len(SECRETS)


def test_a_survivor_without_a_reason_a_weak_kill_and_a_stale_entry_are_left_to_do():
    assert left_to_do(Report("01_soft_lookup", "softmax", 5)) == []
    (line,) = left_to_do(Report("01_soft_lookup", "softmax", 5, survivors=[HALF_WRONG]))
    assert line.split() == ["survives:", "return", "a", "as:", "return", "b"]
    (line,) = left_to_do(Report("01_soft_lookup", "softmax", 5, weak=[HALF_WRONG]))
    assert line.split()[:2] == ["by", "chance:"]
    (line,) = left_to_do(Report("02_queries_keys_values", "attention", 5))
    assert line.split()[:2] == ["is", "killed:"]


def test_the_score_leaves_out_mutants_that_are_right_and_counts_weak_ones_as_alive():
    words = Mutant("", "raise ValueError('a')", "raise ValueError()")
    one = Report("01_soft_lookup", "sharpen", 10, survivors=[words], weak=[HALF_WRONG])
    assert score([one]) == "10 mutants, 1 of them equivalent: 8 of 9 killed under every secret"
    assert summary(one).split() == ["sharpen", "10", "mutants", "8", "killed", "1", "equivalent"]


def test_every_reason_belongs_to_a_function_and_is_given_once():
    assert len(FUNCTIONS) == len(set(FUNCTIONS))
    assert {each.function for each in EQUIVALENT} | set(FREE_WORDS) <= set(FUNCTIONS)
    lines = [(each.function, line) for each in EQUIVALENT for line in each.lines]
    assert len(lines) == len(set(lines))
