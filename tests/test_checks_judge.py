"""The ladder: its order, the sentence of each rung, and what a sentence about hidden inputs must not tell."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from course_lib.checks.collect import collect
from course_lib.checks.judge import Verdict, judge
from course_lib.checks.spec import Behaviour, Case, Exercise, Returned, request
from course_lib.checks.values import BadRecord

TABLE = np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 0.0]])
RUNGS = [
    "exists",
    "takes these arguments",
    "runs",
    "type",
    "shape",
    "finite",
    "rows sum to 1",
    "property",
    "inputs unchanged",
    "value",
]


def first_weight_is_small(arguments: dict, outputs: dict) -> str | None:
    """A property for these tests."""
    return "The first weight is too large." if outputs["weights"].flat[0] > 0.9 else None


def halves_agree(outputs: list[dict]) -> str | None:
    """What must hold between the two calls of a case."""
    first, second = (each["weights"] for each in outputs)
    return (
        None
        if np.allclose(first, second)
        else "Doubling all scores must not change the weights; yours change."
    )


SHARES = Exercise(
    function="shares",
    parameters=("scores",),
    returns=(Returned("weights", "... M", weights=True),),
    refused=("course_lib.attention.softmax",),
    behaviours=(
        Behaviour(
            "ordinary",
            "parts of a whole",
            3,
            unchanged=True,
            properties=(first_weight_is_small,),
            cases=(
                Case("a table", lambda draw: {"scores": TABLE}),
                Case("doubled", lambda draw: [{"scores": TABLE}, {"scores": 2 * TABLE}], across=halves_agree),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError below 0",
            1,
            cases=(Case("negative", lambda draw: {"scores": -TABLE}, raises=True),),
        ),
    ),
)
SPLIT = Exercise(
    function="split",
    parameters=("scores", "parts"),
    returns=(Returned("largest", ""), Returned("rest", "... M")),
    behaviours=(
        Behaviour(
            "ordinary", "two", 1, cases=(Case("a row", lambda draw: {"scores": TABLE[0], "parts": 2}),)
        ),
    ),
)
RIGHT = """
def shares(scores):
    if (scores < 0).any():
        raise ValueError("scores")
    return scores / scores.sum(axis=-1, keepdims=True)

def split(scores, parts):
    return scores.max(), scores / parts
"""


def _verdict(
    code: str, exercise: Exercise = SHARES, behaviour: str = "ordinary", *, reveal: bool = True, diagnose=None
) -> Verdict:
    """The verdict on a cell's code, compared with the right answer."""
    asked = request("an assignment", exercise, exercise.behaviour(behaviour))
    answers = []
    for each in (code, RIGHT):
        names = {"__name__": "__main__", "np": np}
        exec(compile(each, "<cell>", "exec"), names)
        answers.append(collect(asked, names))
    return judge(exercise, exercise.behaviour(behaviour), asked, *answers, reveal=reveal, diagnose=diagnose)


def _shares(body: str) -> str:
    return f"def shares(scores):\n    total = scores.sum(axis=-1, keepdims=True)\n    {body}"


def test_a_right_answer_passes_every_rung_in_order_and_gets_all_points() -> None:
    verdict = _verdict(RIGHT)
    assert verdict.passed == RUNGS
    assert (verdict.failed, verdict.sentence, verdict.points, verdict.written) == (None, "", 3.0, True)


PLACE = "On “a table” (scores (2, 3)),"
# Each rung: what fails it and nothing before it, and the sentence. Every piece of code fails all later rungs
# that it can, so that the order is tested, too.
FAILURES = [
    (
        "exists",
        "",
        "There is no shares yet. Run the cell that defines it. Does that cell end without an error?",
    ),
    (
        "exists",
        "shares = np.ones(3)",
        "shares is a value of type ndarray, not a function. Run the cell that defines shares again.",
    ),
    (
        "takes these arguments",
        "def shares():\n    pass",
        "It is called as shares(scores), and yours does not take that: too many positional arguments.",
    ),
    (
        "not written",
        _shares("raise NotImplementedError('shares is not written yet')"),
        "shares is not written yet.",
    ),
    ("not written", _shares("raise NotImplementedError"), "shares is not written yet."),
    (
        "not written",
        _shares("raise NotImplementedError('softmax is not written yet')"),
        "shares needs softmax, which is not written yet.",
    ),
    (
        "runs",
        _shares("raise NotImplementedError('Could not run on this device')"),
        f"{PLACE} it raised NotImplementedError: Could not run on this device (line 3 of shares).",
    ),
    (
        "runs",
        _shares("return scores / undefined"),
        f"{PLACE} it raised NameError: name 'undefined' is not defined (line 3 of shares).",
    ),
    ("runs", _shares("assert False"), f"{PLACE} it raised AssertionError (line 3 of shares)."),
    (
        "runs",
        _shares("raise SystemExit('Bye\\n\\tbye.')"),
        f"{PLACE} it raised SystemExit: Bye bye (line 3 of shares).",
    ),
    (
        "runs",
        _shares("raise KeyboardInterrupt"),
        f"{PLACE} it was stopped before it came to an end. Is there a loop without end?",
    ),
    (
        "runs",
        "from course_lib.attention import softmax\ndef shares(scores):\n    return softmax(scores)",
        "Not your own work yet: it calls course_lib.attention.softmax; "
        "this exercise is to write that yourself.",
    ),
    ("type", _shares("print(scores)"), "Your function returns nothing (None). Does it end with a return?"),
    (
        "type",
        _shares("return (scores / total)[0].tolist()"),
        "Return weights as a NumPy array of floats, not a list.",
    ),
    ("type", _shares("return scores,"), "Return weights as a NumPy array of floats, not a tuple."),
    ("type", _shares("return 3"), "Return weights as a NumPy array of floats, not a number."),
    ("type", _shares("return True"), "Return weights as a NumPy array of floats, not True or False."),
    ("type", _shares("return 'x'"), "Return weights as a NumPy array of floats, not a text."),
    (
        "type",
        _shares("return (s for s in scores)"),
        "Return weights as a NumPy array of floats, not a value of type generator.",
    ),
    (
        "type",
        _shares("return scores.astype(complex)"),
        "Return weights as a NumPy array of floats, not an array of complex128.",
    ),
    (
        "type",
        _shares("return np.array([[7]])"),
        f"{PLACE} weights must hold real numbers (floats); yours holds integers.",
    ),
    (
        "type",
        _shares("return scores > 1"),
        f"{PLACE} weights must hold real numbers (floats); yours holds booleans.",
    ),
    (
        "shape",
        _shares("return np.full((3, 2), np.nan)"),
        f"{PLACE} weights with axes (..., M) has the wrong shape: expected (2, 3), got (3, 2).",
    ),
    (
        "finite",
        _shares("scores[1] = 0; return scores / scores"),
        f"{PLACE} weights contains NaN. Which step can overflow, or divide by 0?",
    ),
    (
        "finite",
        _shares("return scores + np.inf"),
        f"{PLACE} weights contains infinity. Which step can overflow, or divide by 0?",
    ),
    (
        "rows sum to 1",
        _shares("scores[1, 0] = 0.25; return scores + total - total"),
        f"{PLACE} row [0] of weights sums to 7.000, not 1. What must each row be divided by?",
    ),
    (
        "property",
        _shares("scores[...] = 0; scores[:, 0] = 1; return scores.copy()"),
        "The first weight is too large.",
    ),
    (
        "property",
        _shares("scores += 1; e = np.exp(-scores * [0, 2, 3]); return e / e.sum(-1, keepdims=True)"),
        "The first weight is too large.",
    ),
    (
        "property",
        _shares("e = np.exp(scores / 10); scores += 1; return e / e.sum(-1, keepdims=True)"),
        "Doubling all scores must not change the weights; yours change.",
    ),
    (
        "inputs unchanged",
        _shares("scores[...] = 0.5; return scores / scores.sum(axis=-1, keepdims=True)"),
        "Your function changes its input scores. Work on a copy: the caller still needs it.",
    ),
    (
        "inputs unchanged",
        "count = 0\n" + _shares(
            "global count; count += 1; w = scores / total; return w if count % 2 else w[:, ::-1]"
        ),
        "Called twice with the same input, your function gives two different answers.",
    ),
    (
        "value",
        _shares("return np.full(scores.shape, 1 / 3)"),
        f"{PLACE} weights[0, 0] should be 0.1429; yours is 0.3333.",
    ),
    (
        "value",
        _shares("w = scores / total; w[0] += np.array([2e-5, -2e-5, 0]); return w"),
        f"{PLACE} weights[0, 0] should be 0.14286; yours is 0.14288.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rung", "code", "sentence"), FAILURES)
def test_the_first_rung_that_fails_is_told_in_a_sentence(rung: str, code: str, sentence: str) -> None:
    verdict = _verdict(code)
    assert (verdict.failed, verdict.sentence) == (rung, sentence)
    assert verdict.points == 0.0
    assert verdict.written == (rung != "not written")
    below = RUNGS.index("runs" if rung == "not written" else rung)
    assert verdict.passed == RUNGS[:below]


def test_every_rung_has_a_fixture_that_fails_it() -> None:
    assert set(RUNGS) - {rung for rung, _, _ in FAILURES} == set()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "def shares(scores):\n    return scores",
            "On “negative” (scores (2, 3)), it must raise ValueError; yours returned a NumPy array.",
        ),
        (
            "def shares(scores):\n    pass",
            "On “negative” (scores (2, 3)), it must raise ValueError; yours returned nothing (None).",
        ),
        (
            "def shares(scores):\n    return ValueError()",
            "On “negative” (scores (2, 3)), it must raise ValueError; "
            "yours returned a value of type ValueError.",
        ),
        (
            "def shares(scores):\n    raise TypeError('no.')",
            "On “negative” (scores (2, 3)), it raised TypeError: no (line 2 of shares), not ValueError.",
        ),
    ],
)
def test_a_call_that_must_raise_must_raise_that(code: str, sentence: str) -> None:
    verdict = _verdict(code, behaviour="refuses")
    assert (verdict.failed, verdict.sentence) == ("runs", sentence)


@pytest.mark.parametrize(
    "error", ["ValueError", "UnicodeError", "np.linalg.LinAlgError", "type('Mine', (ValueError,), {})"]
)
def test_every_kind_of_value_error_is_one(error: str) -> None:
    assert _verdict(f"def shares(scores):\n    raise {error}", behaviour="refuses").points == 1.0


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return scores", "Return 2 values, (largest, rest); yours gave one, a NumPy array."),
        ("return 1.0, scores, 2", "Return 2 values, (largest, rest); yours gave a tuple of 3."),
        ("return []", "Return 2 values, (largest, rest); yours gave a list of 0."),
        ("return {}", "Return 2 values, (largest, rest); yours gave one, a value of type dict."),
        ("return scores.max(), [1]", "Return rest as a NumPy array of floats, not a list."),
        ("return 'all', scores", "Return largest as a number, not a text."),
        ("return True, scores", "Return largest as a number, not True or False."),
        (
            "return scores, scores",
            "On “a row” (scores (3,), parts 2), largest has the wrong shape: expected (), got (3,).",
        ),
        ("return 5, scores / 2", "On “a row” (scores (3,), parts 2), largest should be 4; yours is 5."),
    ],
)
def test_sentences_about_several_outputs_name_the_output(body: str, sentence: str) -> None:
    assert _verdict(f"def split(scores, parts):\n    {body}", SPLIT).sentence == sentence


@pytest.mark.parametrize(
    "body",
    [
        "return scores.max(), scores / parts",
        "return [float(scores.max()), (scores / 2).astype('f4')]",
        "return 4, scores / 2",
    ],
)
def test_a_number_may_be_plain_and_a_pair_a_list(body: str) -> None:
    assert _verdict(f"def split(scores, parts):\n    {body}", SPLIT).points == 1.0


NUMBERS = re.compile(r"\d")


@pytest.mark.parametrize(("rung", "code"), [(rung, code) for rung, code, _ in FAILURES])
def test_a_hidden_sentence_fails_at_the_same_rung_and_tells_no_numbers(rung: str, code: str) -> None:
    verdict = _verdict(code, reveal=False)
    assert verdict.failed == rung
    told = re.sub(
        r"\(line \d+ of \w+\)|row \[\d\] |to something else than 1|divide by 0",
        "",
        verdict.sentence,
    )
    assert not NUMBERS.search(told), verdict.sentence


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError(str(scores))",
        "raise type('E' + str(scores.tolist()), (Exception,), {})",
        "raise type('Refused', (Exception,), {})(str(scores.tolist()))",
        "raise NotImplementedError(str(scores.tolist()))",
        "return type('E' + str(scores.tolist()), (), {})()",
    ],
)
def test_a_hidden_sentence_tells_no_input_that_the_function_puts_into_names_and_messages(body: str) -> None:
    for behaviour in ("ordinary", "refuses"):
        sentence = _verdict(f"def shares(scores):\n    {body}", behaviour=behaviour, reveal=False).sentence
        assert not re.search(r"[\d.]+[,\]]", sentence), sentence


def test_a_hidden_sentence_names_the_kind_of_input() -> None:
    sentence = _verdict(_shares("return np.full(scores.shape, 1 / 3)"), reveal=False).sentence
    assert sentence == "On another input of the kind “a table”, some values of weights are wrong."


def test_a_known_mistake_is_told_by_its_question_instead_of_the_general_one() -> None:
    def diagnose(call: str, outputs: dict) -> str | None:
        return "Is that a share?" if call == "doubled" and outputs["weights"].value[0, 0] == 2.0 else None

    sentence = _verdict(_shares("return scores"), diagnose=diagnose).sentence
    assert sentence == f"{PLACE} row [0] of weights sums to 7.000, not 1. Is that a share?"


def test_a_known_mistake_is_recognised_by_its_error() -> None:
    def diagnose(call: str, outputs: dict) -> str | None:
        return "Who is she?" if outputs["error"].value == "NameError: name 'she' is not defined" else None

    assert _verdict(_shares("return she"), diagnose=diagnose).sentence.endswith(
        "(line 3 of shares). Who is she?"
    )


def test_a_question_that_is_asked_already_is_not_asked_twice() -> None:
    sentence = _verdict(_shares("return she"), diagnose=lambda call, outputs: "it raised NameError.").sentence
    assert sentence.count("it raised NameError") == 1


def _forged(change) -> Verdict:
    """The verdict on a right answer's bundle after a change."""
    behaviour = SHARES.behaviour("ordinary")
    asked = request("an assignment", SHARES, behaviour)
    names = {"__name__": "__main__", "np": np}
    exec(RIGHT, names)
    bundle, reference = collect(asked, names), collect(asked, names)
    change(bundle)
    return judge(SHARES, behaviour, asked, bundle, reference, reveal=False)


FORGERIES = {
    "a call left out": lambda bundle: bundle["calls"].pop(),
    "no calls": lambda bundle: bundle.update(calls=[]),
    "calls twice": lambda bundle: bundle["calls"].extend(bundle["calls"][:1]),
    "another id": lambda bundle: bundle["calls"][0].update(id="a chair #0"),
    "a call that is no object": lambda bundle: bundle["calls"].append(3),
    "nothing returned": lambda bundle: bundle["calls"][0].pop("returned"),
    "an unknown kind": lambda bundle: bundle["calls"][0].update(returned={"kind": "entry"}),
    "a shape that lies": lambda bundle: bundle["calls"][0]["returned"].update(shape=[0, 2**20, 2**20]),
    "an error of numbers": lambda bundle: bundle["calls"][0].update(error={"type": 1, "message": 2}),
    "an error that is a text": lambda bundle: bundle["calls"][0].update(error="ValueError"),
    "an error without a line": lambda bundle: bundle["calls"][0].update(error={"type": "E", "message": ""}),
    "an error of endless text": lambda bundle: bundle["calls"][0].update(
        error={"type": "E\n" * 10**6, "message": "\n" * 10**6, "line": "\x1b" * 10**6}
    ),
    "changed as number": lambda bundle: bundle["calls"][0].update(changed=1),
    "changed left out": lambda bundle: bundle["calls"][0].pop("changed"),
    "missing as list": lambda bundle: bundle.update(missing=["absent"]),
    "missing of endless text": lambda bundle: bundle.update(missing="x\n" * 10**6),
    "no missing": lambda bundle: bundle.pop("missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_bundle_gets_no_points_and_one_short_sentence(name: str) -> None:
    verdict = _forged(FORGERIES[name])
    assert verdict.points == 0.0
    assert 0 < len(verdict.sentence) < 1000
    assert verdict.sentence.isprintable()


def test_the_bundle_that_is_forged_above_is_right_when_left_alone() -> None:
    assert _forged(lambda bundle: None).points == 3.0


def test_what_cannot_be_read_says_so() -> None:
    sentence = _forged(FORGERIES["calls twice"]).sentence
    assert sentence == "What the notebook sent back could not be read."
    assert issubclass(BadRecord, ValueError)


@pytest.mark.parametrize("difference", [9e-6, -9e-6])
def test_differences_within_the_tolerance_are_rounding(difference: float) -> None:
    body = f"w = scores / total; w[0, :2] += [{difference}, {-difference}]; return w"
    assert _verdict(_shares(body)).points == 3.0


def test_a_behaviour_may_compare_values_in_its_own_way() -> None:
    def above_the_right_ones(arguments: dict, outputs: dict, reference: dict) -> str | None:
        return None if (outputs["rest"] > reference["rest"]).all() else "too small."

    (case,) = SPLIT.behaviours[0].cases
    own = Behaviour("own", "larger", 1, cases=(case,), compare=above_the_right_ones)
    exercise = replace(SPLIT, behaviours=(*SPLIT.behaviours, own))
    larger = RIGHT.replace("scores / parts", "scores / parts + 1")
    assert _verdict(larger, exercise, "own").failed is None
    assert _verdict(larger, exercise, "ordinary").failed == "value"
    assert "too small." in _verdict(RIGHT, exercise, "own").sentence
