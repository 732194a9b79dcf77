"""exercises/ is what nbgrader makes of solutions/, and holds nothing that students must not have."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib.checks.assignments import MODULES, load
from course_lib.checks.store import visible
from course_lib.checks.values import encode
from course_lib.grading.references import difference, out_of_date
from course_lib.grading.release import generate
from course_lib.grading.source import Source
from marking import Course, phrases, schemes_of, words_of

ROOT = Path(__file__).resolve().parents[1]


def _notebook(folder: str, name: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", MODULES)
def test_generating_the_release_again_leaves_nodifference(name: str, tmp_path: Path) -> None:
    made = Course.make(tmp_path / "course", name).folder / "exercises" / name / f"{name}.ipynb"
    kept = ROOT / "exercises" / name / f"{name}.ipynb"
    assert made.read_bytes().replace(b"\r\n", b"\n") == kept.read_bytes()


def test_the_command_generates_what_nbgrader_does(tmp_path: Path) -> None:
    name = next(iter(MODULES))
    kept = ROOT / "exercises" / name / f"{name}.ipynb"
    assert generate(ROOT, name, tmp_path).read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("name", MODULES)
def test_the_stored_right_answers_are_those_of_the_solution(name: str) -> None:
    assert out_of_date(ROOT, name) is None


@pytest.mark.parametrize(
    ("stored", "now", "same"),
    [
        (float(np.float32(2.7)), float(np.nextafter(np.float32(2.7), np.float32(3))), True),
        (float(np.float32(2.7)), float(np.float32(2.7001)), False),
        (float(np.float32(2.7)), 2.7 + 1e-8, False),
        (2.7, 2.7 + 1e-12, True),
        (2.7, 2.7 + 1e-8, False),
        (np.nan, np.nan, True),
        (1e300, 1e300, True),
        (200000, 200001, False),
    ],
)
def test_processors_may_round_as_numbers_of_their_precision_are_rounded(
    stored: float, now: float, same: bool
) -> None:
    assert (difference({"it": stored}, {"it": now}, "") is None) is same
    arrays = (encode(np.array([0, each])) for each in (stored, now))
    assert (difference(*arrays, "") is None) is same


@pytest.mark.parametrize("name", MODULES)
def test_no_solution_and_no_hidden_line_is_in_the_release(name: str) -> None:
    released = "\n".join(cell.source for cell in _notebook("exercises", name).cells)
    assert not re.search(r"BEGIN (SOLUTION|HIDDEN|MARK)|check\.collect", released)
    for cell in _notebook("solutions", name).cells:
        for solution in re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", cell.source, flags=re.DOTALL):
            assert solution.strip() not in released
    source = _notebook("solutions", name)
    for text in (*words_of(source).values(), *schemes_of(source)):
        assert phrases(text)
        assert not [each for each in phrases(text) if each in released]


@pytest.mark.parametrize("name", MODULES)
def test_only_the_notebook_lies_in_the_folders_that_nbgrader_copies(name: str) -> None:
    for folder in ("solutions", "exercises"):
        files = [path.name for path in (ROOT / folder / name).iterdir() if path.name != ".ipynb_checkpoints"]
        assert files == [f"{name}.ipynb"]


@pytest.mark.parametrize("name", MODULES)
def test_every_behaviour_has_one_test_cell_with_its_points_behind_its_answer(name: str) -> None:
    marks = [cell.metadata.get("nbgrader", {}) for cell in _notebook("solutions", name).cells]
    order = [each["grade_id"] for each in marks if each]
    points = {
        each["grade_id"]: each["points"] for each in marks if each.get("grade") and not each["solution"]
    }
    wanted = {
        f"{exercise.function}-{behaviour.slug}": behaviour.points
        for exercise in load(name).exercises
        for behaviour in exercise.behaviours
    }
    assert points == wanted
    assert all(order.index(test) > order.index(test.split("-", 1)[0]) for test in wanted)


@pytest.mark.parametrize("name", MODULES)
def test_hidden_inputs_depend_on_the_secret_and_on_nothing_else(name: str) -> None:
    path = ROOT / "solutions" / name / f"{name}.ipynb"
    first, again, other = Source(path, "one"), Source(path, "one"), Source(path, "another")
    test = next(iter(first.tests))
    assert first.requests(first.tests[test]) == again.requests(again.tests[test])
    assert first.requests(first.tests[test]) != other.requests(other.tests[test])


@pytest.mark.parametrize("name", MODULES)
def test_the_request_for_a_test_holds_no_answer_and_no_secret(name: str) -> None:
    source = Source(ROOT / "solutions" / name / f"{name}.ipynb", "a secret word")
    for test in source.tests.values():
        request = source.requests(test)
        assert set(request) <= {"function", "parameters", "refused", "calls"}
        assert "a secret word" not in repr(request)
        for call in request["calls"]:
            assert set(call) <= {"id", "arguments", "raises", "twice", "probe"}


def test_visible_cases_are_stored_for_every_behaviour() -> None:
    for name in MODULES:
        for exercise in load(name).exercises:
            for behaviour in exercise.behaviours:
                assert visible(name, exercise.function, behaviour.name).request["calls"]
