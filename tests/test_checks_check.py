"""What a student meets: `check` prints a line per rung, returns a plain float, and never raises."""

from __future__ import annotations

import nbformat
import numpy as np
import pytest

from course_lib.checks import check as check_module
from course_lib.checks import checks_for
from course_lib.checks.assignments import MODULES, load
from course_lib.checks.store import visible

NAME = "01_soft_lookup"
SETUP = f'import numpy as np\nfrom course_lib.checks import checks_for\ncheck = checks_for("{NAME}")\n'
SOFTMAX = """
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
STUB = 'def softmax(scores):\n    raise NotImplementedError("softmax is not written yet")\n'


def _run(code: str, capsys: pytest.CaptureFixture[str], call: str = 'check("softmax", "ordinary")'):
    """What a notebook's test cell gives after a cell with this code: its value, and what was printed."""
    names = {"__name__": "__main__"}
    exec(SETUP, names)
    exec(code, names)
    value = eval(call, names)
    captured = capsys.readouterr()
    assert captured.err == ""
    return value, captured.out


def test_a_right_function_gets_its_points_as_a_plain_float(capsys) -> None:
    value, printed = _run(SOFTMAX, capsys)
    assert type(value) is float
    assert value == 2.0
    assert printed.splitlines() == [
        "softmax: weights of one row and of a table of scores",
        "  ✓ exists",
        "  ✓ takes these arguments",
        "  ✓ runs",
        "  ✓ type",
        "  ✓ shape",
        "  ✓ finite",
        "  ✓ rows sum to 1",
        "  ✓ property",
        "  ✓ value",
        "  2 of 2 points",
    ]


def test_a_wrong_function_is_told_up_to_the_first_rung_that_fails(capsys) -> None:
    value, printed = _run("def softmax(scores):\n    return scores.tolist()", capsys)
    assert type(value) is float
    assert value == 0.0
    assert printed.splitlines()[1:] == [
        "  ✓ exists",
        "  ✓ takes these arguments",
        "  ✓ runs",
        "  ✗ type: Return weights as a NumPy array of floats, not a list.",
    ]


def test_a_fresh_exercise_says_not_written_yet(capsys) -> None:
    value, printed = _run(STUB, capsys)
    assert value == 0.0
    assert printed.splitlines()[1:] == ["  … softmax is not written yet."]


def test_a_function_that_builds_on_an_unwritten_one_says_which(capsys) -> None:
    code = STUB + "def sharpen(scores, temperature):\n    return softmax(scores / temperature)\n"
    _, printed = _run(code, capsys, 'check("sharpen", "ordinary")')
    assert printed.splitlines()[1:] == ["  … sharpen needs softmax, which is not written yet."]


def test_where_a_syntax_error_left_nothing_the_cell_is_named(capsys) -> None:
    value, printed = _run("", capsys)
    assert value == 0.0
    assert printed.splitlines()[1:] == [
        "  ✗ exists: There is no softmax yet. Run the cell that defines it. "
        "Does that cell end without an error?"
    ]


def test_a_behaviour_presupposes_the_ordinary_one_and_says_so(capsys) -> None:
    value, printed = _run("def softmax(scores):\n    return scores", capsys, 'check("softmax", "any input")')
    assert value == 0.0
    assert printed.splitlines()[:2] == [
        "softmax: batches, integers, and inputs left as they are",
        "  First “weights of one row and of a table of scores”:",
    ]


def test_a_narrow_mistake_costs_its_own_behaviour_only(capsys) -> None:
    code = "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum(axis=-1, keepdims=True)"
    values = [
        _run(code, capsys, f'check("softmax", "{behaviour}")')[0]
        for behaviour in ("ordinary", "large scores", "any input")
    ]
    assert values == [2.0, 0.0, 2.0]


def test_the_function_is_taken_from_the_notebook_that_calls(capsys) -> None:
    exec(SOFTMAX, {"np": np, "__name__": "another notebook"})
    assert _run("", capsys)[0] == 0.0


STRANGE = {
    "SystemExit": "def softmax(scores):\n    raise SystemExit",
    "KeyboardInterrupt": "def softmax(scores):\n    raise KeyboardInterrupt",
    "an endless recursion": "def softmax(scores):\n    return softmax(scores)",
    "no function": "softmax = np.ones(3)",
    "a class": "class softmax:\n    pass",
    "a module": "import math as softmax",
    "no arguments": "def softmax():\n    pass",
    "a generator": "def softmax(scores):\n    yield scores",
    "a coroutine": "async def softmax(scores):\n    return scores",
    "objects": "def softmax(scores):\n    return np.array([object()] * 3)",
    "np replaced": SOFTMAX + "np = None",
    "print replaced": SOFTMAX + "print = np = len = None",
    "itself": "def softmax(scores):\n    return softmax",
    "an odd error": (
        "class E(Exception):\n    def __str__(self):\n        return 1 / 0\ndef softmax(scores):\n    raise E"
    ),
    "a hostile value": (
        "class V:\n    __class__ = property(lambda self: 1 / 0)\ndef softmax(scores):\n    return V()"
    ),
    "an endless list": "def softmax(scores):\n    a = []\n    a.append(a)\n    return a",
    "deleted": "def softmax(scores):\n    global softmax\n    del softmax\n    return scores",
    "the library's": "from course_lib.attention import softmax",
}


@pytest.mark.parametrize("code", STRANGE.values(), ids=STRANGE)
def test_check_never_raises_and_tells_one_thing(code: str, capsys) -> None:
    value, printed = _run(code, capsys)
    assert value == 0.0
    told = [line for line in printed.splitlines() if line.startswith("  ✗")]
    assert len(told) == 1
    assert "Traceback" not in printed
    assert "course_lib/" not in printed


RIGHT_BUT_STRANGE = {
    "a lambda": "softmax = lambda s: np.exp(s - np.logaddexp.reduce(s, axis=-1, keepdims=True))",
    "printing": SOFTMAX.replace("    e =", "    print(scores)\n    e ="),
    "another first parameter": SOFTMAX.replace("scores", "s"),
    "more parameters": SOFTMAX.replace("(scores)", "(scores, axis=-1, *, keepdims=True)"),
    "vectorised": SOFTMAX.replace("softmax", "row") + 'softmax = np.vectorize(row, signature="(m)->(m)")',
}


@pytest.mark.parametrize("code", RIGHT_BUT_STRANGE.values(), ids=RIGHT_BUT_STRANGE)
def test_unusual_right_functions_pass_and_are_not_heard(code: str, capsys) -> None:
    value, printed = _run(code, capsys)
    assert value == 2.0
    assert len(printed.splitlines()) == 11


def test_a_name_that_does_not_exist_is_told_not_raised(capsys) -> None:
    value, printed = _run(SOFTMAX, capsys, 'check("sofmax", "ordinary")')
    assert (value, "has no exercise 'sofmax'" in printed) == (0.0, True)
    value, printed = _run(SOFTMAX, capsys, 'check("softmax", "extraordinary")')
    assert (value, "has no behaviour 'extraordinary'" in printed) == (0.0, True)


def test_a_defect_of_the_check_itself_is_told_not_raised(capsys, monkeypatch) -> None:
    monkeypatch.setattr(check_module, "visible", lambda *words: 1 / 0)
    value, printed = _run(SOFTMAX, capsys)
    assert value == 0.0
    assert printed.startswith(
        "This check did not work (ZeroDivisionError: division by zero). Restart the kernel"
    )


def test_an_unknown_assignment_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of"):
        checks_for("99_nothing")


def test_the_place_where_marking_collects_is_worth_nothing_here(capsys) -> None:
    value, printed = _run(SOFTMAX, capsys, 'check.collect("softmax", "ordinary")')
    assert value == 0.0
    assert type(value) is float
    assert printed.startswith("No points: this cell is marked by the course's own plug-ins")


def test_checking_leaves_the_notebook_as_it_was(capsys) -> None:
    names = {"__name__": "__main__"}
    exec(SETUP + SOFTMAX + "from course_lib.attention import softmax as library", names)
    before = dict(names)
    names["check"]("softmax", "any input")
    capsys.readouterr()
    assert names == before


@pytest.mark.parametrize("name", MODULES)
def test_every_check_of_a_released_exercise_runs_and_says_not_written_yet(root, name: str, capsys) -> None:
    path = root / "exercises" / name / f"{name}.ipynb"
    names = {"__name__": "__main__"}
    checked = []
    for cell in nbformat.read(path, as_version=4).cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code":
            continue
        if not marks.get("grade"):
            exec(cell.source, names)
            continue
        assert eval(cell.source, names) == 0.0
        checked.append(marks["grade_id"])
        assert capsys.readouterr().out.endswith("is not written yet.\n")
    behaviours = [b for exercise in load(name).exercises for b in exercise.behaviours]
    assert len(checked) == len(behaviours)


@pytest.mark.parametrize("name", MODULES)
def test_every_behaviour_has_stored_cases_with_answers(name: str) -> None:
    for exercise in load(name).exercises:
        for behaviour in exercise.behaviours:
            stored = visible(name, exercise.function, behaviour.name)
            asked = [call["id"] for call in stored.request["calls"]]
            assert asked, (exercise.function, behaviour.name)
            assert asked == [record["id"] for record in stored.reference["calls"]]


def test_a_function_that_builds_on_a_wrong_one_names_it_as_a_suspect(capsys) -> None:
    wrong = "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(axis=0)\n"
    sharpen = "def sharpen(scores, temperature):\n    return softmax(scores / temperature)\n"
    call = 'check("sharpen", "ordinary")'
    value, printed = _run(wrong + sharpen, capsys, call)
    assert value == 0.0
    suspect = "  If sharpen calls your softmax: that does not pass its own checks yet. Mend softmax first."
    assert printed.splitlines()[-1] == suspect
    _, printed = _run(SOFTMAX + sharpen.replace("/ temp", "* temp"), capsys, call)
    assert "Mend softmax" not in printed


def test_a_suspect_may_fail_in_a_later_check_of_its_own(capsys) -> None:
    unstable = "def softmax(x):\n    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)\n"
    sharpen = "def sharpen(scores, temperature):\n    return softmax(scores / temperature)\n"
    assert _run(unstable, capsys, 'check("softmax", "ordinary")')[0] > 0
    value, printed = _run(unstable + sharpen, capsys, 'check("sharpen", "any input")')
    assert value == 0.0
    assert printed.splitlines()[-1].endswith("Mend softmax first.")


@pytest.mark.parametrize("code", [SOFTMAX, STUB], ids=["right", "stub"])
def test_validate_is_told_what_is_missing_where_it_looks_for_an_error(code, capsys, monkeypatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    names = {"__name__": "__main__"}
    exec(SETUP + code, names)
    value = eval('check("softmax", "ordinary")', names)
    printed = capsys.readouterr()
    assert ("not written yet" in printed.err) == (value == 0)
    assert (printed.err == "") == (printed.out != "")


@pytest.mark.slow
def test_nbgraders_validate_shows_our_words_and_not_its_own(root, tmp_path) -> None:
    from nbgrader.validator import Validator

    (tmp_path / "a.ipynb").write_bytes((root / f"exercises/{NAME}/{NAME}.ipynb").read_bytes())
    failed = Validator().validate(str(tmp_path / "a.ipynb"))["failed"]
    assert len(failed) == 12
    assert all("not written yet" in each["raw_error"] for each in failed)
    assert "Partial credit" not in str(failed)
