"""The solution answers in a kernel as it would here, and the process that marks does without PyTorch."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.checks.assignments import MODULES
from course_lib.grading import execute
from course_lib.grading.execute import JudgedExecute
from course_lib.grading.references import difference
from course_lib.grading.source import Source
from programs import find_program

ROOT = Path(__file__).resolve().parents[1]
MARK = """
import sys
from pathlib import Path
from course_lib.grading.catalogue import read
from course_lib.grading.execute import JudgedExecute
from course_lib.grading.source import Source
path = Path(sys.argv[1])
source = Source(path, "a secret of this test")
verdicts = JudgedExecute().mark(source.notebook, source)
print({each.cell: each.sentence for each in verdicts.values() if each.points != each.max_points})
mistakes = read(path.parents[2], path.stem).mistakes
wrong = {each.function: str(each.code) for each in mistakes}
for cell in source.notebook.cells:
    cell.source = wrong.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
verdicts = JudgedExecute().mark(source.notebook, source)
print({each.function for each in verdicts.values() if each.points != each.max_points} == set(wrong))
print("torch" in sys.modules)
"""


@pytest.fixture(autouse=True)
def bubblewrap() -> None:
    find_program("bwrap", "bubblewrap")


def _source(name: str) -> Source:
    return Source(ROOT / "solutions" / name / f"{name}.ipynb", "a secret of this test")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each[:2] == "05" else pytest.mark.slow) for each in MODULES]
)
def test_a_process_that_marks_never_imports_torch(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MARK, str(_source(name).path)], capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.stderr) == ("{}\nTrue\nFalse\n", "")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each[:2] == "05" else pytest.mark.slow) for each in MODULES]
)
def test_a_kernel_draws_and_answers_as_this_process_does(name: str) -> None:
    here, there = _source(name), _source(name)
    JudgedExecute().prepare(there)
    assert there.is_answered
    assert not here.is_answered
    for exercise in here.assignment.exercises:
        for behaviour in exercise.behaviours:
            one, other = here.hidden(exercise, behaviour), there.hidden(exercise, behaviour)
            assert difference(one.request, other.request, "the request") is None
            assert difference(one.reference, other.reference, "the answer") is None
    assert here.is_answered


def test_nothing_is_asked_twice_nor_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "answer_in_kernel", None)
    source = _source("01_soft_lookup")
    JudgedExecute(sandboxed=False).prepare(source)
    JudgedExecute(warm=False).prepare(source)
    assert not source.is_answered
    for exercise in source.assignment.exercises:
        for behaviour in exercise.behaviours:
            source.hidden(exercise, behaviour)
    JudgedExecute().prepare(source)


@pytest.mark.parametrize("code", ["import os\nos._exit(1)", "1 / 0", "import json\njson.dumps = None"])
def test_a_solution_that_gives_no_answers_in_a_kernel_is_asked_here(
    code: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = _source("01_soft_lookup")
    source.notebook.cells[1].source += f"\n{code}"
    JudgedExecute(log=logging.getLogger("course.mark")).prepare(source)
    assert "the solution is asked here, as it did not answer in a kernel" in caplog.text
    assert not source.is_answered
