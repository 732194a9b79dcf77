"""`course mark FILE`: the table it prints and its exit status."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import nbformat
import pytest

from course_lib.command import main
from course_lib.grading import sandbox

ROOT = Path(__file__).resolve().parents[1]
NAME = "01_soft_lookup"
IN_WORDS = "07_limits_of_one_layer"  # with answers that a person marks
SOLUTION = ROOT / "solutions" / NAME / f"{NAME}.ipynb"
RELEASE = ROOT / "exercises" / NAME / f"{NAME}.ipynb"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of its own, so that no secret is made in this one."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    for folder, name in itertools.product(("solutions", "exercises"), (NAME, IN_WORDS)):
        shutil.copytree(ROOT / folder / name, tmp_path / folder / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _mark(*words: str) -> int:
    unsandboxed = ["--unsandboxed"] if sandbox.missing() is not None else []
    return main(["mark", *words, *unsandboxed])


def test_the_solution_gets_all_points_and_status_0(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _mark(str(SOLUTION)) == 0
    assert capsys.readouterr().out.splitlines()[-1].strip() == "20 of 20 points"
    if os.name == "posix":  # Windows keeps no such bits
        assert (course / ".course_secret").stat().st_mode & 0o077 == 0


def test_missing_points_give_status_1_and_a_sentence(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _mark(str(RELEASE)) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[-1].strip() == "0 of 20 points"
    assert "softmax is not written yet." in said


@pytest.mark.parametrize(("folder", "status", "points"), [("solutions", 0, 16), ("exercises", 1, 0)])
def test_answers_in_words_are_named_and_the_status_is_that_of_the_automatic_points(
    course: Path, capsys: pytest.CaptureFixture[str], folder: str, status: int, points: int
) -> None:
    assert _mark(str(course / folder / IN_WORDS / f"{IN_WORDS}.ipynb")) == status
    said = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert said[-3:] == [
        "– of 2  by_order: marked by hand",
        "– of 2  by_depth: marked by hand",
        f"{points} of 16 points, and 4 that are marked by hand",
    ]


def test_without_solutions_the_visible_checks_run_and_it_says_so(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(course / "solutions")
    assert _mark(str(SOLUTION)) == 0
    said = capsys.readouterr().out
    assert said.startswith("There is no solutions/ here, so only the visible checks are run")
    assert not (course / ".course_secret").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("01_soft_lookup.ipynb", None, "no such file"),
        (f"{'n' * 300}.ipynb", None, "File name too long"),
        ("01_soft_lookup.py", "", "neither a notebook"),
        ("01_soft_lookup.ipynb", "", "an empty file"),
        ("01_soft_lookup.ipynb", "x = 1", "not a notebook"),
        (
            "01_soft_lookup.ipynb",
            '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
            "without cells",
        ),
        (
            "holiday.ipynb",
            '{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "x"}],'
            ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
            "no exercise of this course",
        ),
    ],
)
def test_what_cannot_be_marked_gives_status_2_and_one_line(
    course: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, words: str
) -> None:
    if content is not None:
        (course / name).write_text(content, encoding="utf-8")
    assert _mark(str(course / name)) == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.strip().splitlines()) == 1


def test_the_submitted_file_is_not_changed(course: Path) -> None:
    path = course / "mine.ipynb"
    notebook = nbformat.read(RELEASE, as_version=4)
    nbformat.write(notebook, path)
    before = path.read_bytes()
    assert _mark(str(path)) == 1
    assert path.read_bytes() == before


WRONG_SOFTMAX = "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum(axis=0)"
OWN_FAULT = "def sharpen(scores, temperature):\n    scores /= temperature\n    return softmax(scores)"


def test_a_function_is_blamed_for_its_own_mistake_and_not_for_an_earlier_one(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = nbformat.read(SOLUTION, as_version=4)
    for cell in notebook.cells:
        answer = {"softmax": WRONG_SOFTMAX, "sharpen": OWN_FAULT}
        cell.source = answer.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    nbformat.write(notebook, course / "mine.ipynb")
    assert _mark(str(course / "mine.ipynb")) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[-1].strip() == "12 of 20 points"
    assert "must raise ValueError; yours returned" in said
    sharpen = said[said.index("sharpen:") :]
    assert "sums to" not in sharpen
