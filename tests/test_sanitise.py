"""A submission is made whole before it runs, and every repair is named."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib.checks.assignments import MODULES, load
from course_lib.grading.sanitise import SourceCell, cells_of, name_of, sanitise
from course_lib.grading.submission import parse_submission

ROOT = Path(__file__).resolve().parents[1]
NAME = "01_soft_lookup"
FOLLOWS = {
    f"{exercise.function}-{behaviour.slug}": exercise.function
    for exercise in load(NAME).exercises
    for behaviour in exercise.behaviours
}


@pytest.fixture
def release() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


@pytest.fixture
def source() -> list[SourceCell]:
    return cells_of(nbformat.read(ROOT / "solutions" / NAME / f"{NAME}.ipynb", as_version=4))


def _find(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if name_of(cell) == name)


def _names(notebook: NotebookNode) -> list[str | None]:
    return [name_of(cell) for cell in notebook.cells]


@pytest.mark.parametrize("name", MODULES)
def test_no_untouched_release_needs_a_repair(name: str) -> None:
    made = nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)
    cells = cells_of(nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4))
    assert sanitise(made, cells, {})[1] == []


def test_a_test_cell_is_written_anew_with_its_own_metadata(
    release: NotebookNode, source: list[SourceCell]
) -> None:
    cell = _find(release, "softmax-ordinary")
    cell.source = "print('full marks')\n100.0"
    cell.metadata["tags"] = ["skip-execution"]
    cell.metadata["nbgrader"]["points"] = 100
    made, repairs = sanitise(release, source, FOLLOWS)
    assert repairs == [
        "Of the cell softmax-ordinary, its points had been changed and set right.",
        "The text of the cell softmax-ordinary had been changed and is the exercise's own again.",
    ]
    again = _find(made, "softmax-ordinary")
    assert again.source == next(each.source for each in source if each.name == "softmax-ordinary")
    assert "tags" not in again.metadata
    assert again.metadata.nbgrader.points == 2


def test_a_deleted_test_cell_comes_back_behind_its_predecessor(
    release: NotebookNode, source: list[SourceCell]
) -> None:
    release.cells.remove(_find(release, "softmax-large-scores"))
    made, repairs = sanitise(release, source, FOLLOWS)
    names = _names(made)
    assert names.index("softmax-large-scores") == names.index("softmax-ordinary") + 1
    assert repairs == ["The cell softmax-large-scores was missing and was put back."]


def test_a_copied_test_cell_goes_and_a_copied_answer_counts_last(
    release: NotebookNode, source: list[SourceCell]
) -> None:
    first = _find(release, "softmax")
    first.source = "def softmax(scores): return 'first'"
    second = copy.deepcopy(first)
    second.source = "def softmax(scores): return 'second'"
    release.cells.insert(release.cells.index(first) + 1, second)
    release.cells.append(copy.deepcopy(_find(release, "softmax-ordinary")))
    made, repairs = sanitise(release, source, FOLLOWS)
    assert _names(made).count("softmax-ordinary") == 1
    assert _find(made, "softmax").source.endswith("'second'")
    assert any(cell.source.endswith("'first'") for cell in made.cells)  # still runs, as a plain cell
    assert len(repairs) == 2


def test_an_answer_turned_into_text_is_code_again(release: NotebookNode, source: list[SourceCell]) -> None:
    cell = _find(release, "softmax")
    cell["cell_type"] = "markdown"
    made, repairs = sanitise(release, source, FOLLOWS)
    assert _find(made, "softmax").cell_type == "code"
    assert repairs == ["The cell softmax was a markdown cell; it is a code cell again."]


def test_a_test_before_its_answer_moves_behind_it(release: NotebookNode, source: list[SourceCell]) -> None:
    cell = _find(release, "softmax-ordinary")
    release.cells.remove(cell)
    release.cells.insert(0, cell)
    made, repairs = sanitise(release, source, FOLLOWS)
    names = _names(made)
    assert names.index("softmax-ordinary") > names.index("softmax")
    assert repairs == ["The cell softmax-ordinary stood before softmax and was moved behind it."]


def test_a_students_own_cells_stay_where_they_are_without_metadata(
    release: NotebookNode, source: list[SourceCell]
) -> None:
    own = new_code_cell("x = 1", metadata={"tags": ["raises-exception"], "nbgrader": {"grade_id": "mine"}})
    release.cells.insert(3, own)
    made, _ = sanitise(release, source, FOLLOWS)
    assert made.cells[3].source == "x = 1"
    assert made.cells[3].metadata == {}


IN_WORDS = "07_limits_of_one_layer"


@pytest.fixture
def words() -> NotebookNode:
    """A released notebook with answers in words, which a person marks."""
    return nbformat.read(ROOT / "exercises" / IN_WORDS / f"{IN_WORDS}.ipynb", as_version=4)


@pytest.mark.parametrize("cell_type", ["markdown", "code", "raw"])
def test_an_answer_in_words_keeps_its_text_whatever_its_cell_has_become(
    words: NotebookNode, cell_type: str
) -> None:
    source = cells_of(words)
    cell = _find(words, "by_order")
    cell["cell_type"], cell.source = cell_type, "The query is the same."
    made, repairs = sanitise(words, source, {})
    again = _find(made, "by_order")
    assert (again.cell_type, again.source) == ("markdown", "The query is the same.")
    assert (again.metadata.nbgrader.grade, again.metadata.nbgrader.points) == (True, 2)
    assert len(repairs) == (cell_type != "markdown")


def test_a_deleted_answer_in_words_comes_back_as_it_was_handed_out(words: NotebookNode) -> None:
    handed_out = SourceCell("by_order", "markdown", "YOUR ANSWER HERE", grade=True, solution=True, points=2.0)
    words.cells.remove(_find(words, "by_order"))
    made, _ = sanitise(words, [handed_out], {})
    assert _find(made, "by_order").source == "YOUR ANSWER HERE"


def test_a_model_answer_never_gets_into_a_submission(words: NotebookNode) -> None:
    solution = nbformat.read(ROOT / "solutions" / IN_WORDS / f"{IN_WORDS}.ipynb", as_version=4)
    words.cells.remove(_find(words, "by_order"))
    made, _ = sanitise(words, cells_of(solution), {})
    assert _find(made, "by_order").source == ""


@pytest.mark.parametrize("marks", ["text", {"grade_id": 7}, {}, {"schema_version": 1}])
def test_odd_metadata_is_dropped(release: NotebookNode, source: list[SourceCell], marks: object) -> None:
    release.cells.append(new_code_cell("y = 2"))
    release.cells[-1]["metadata"]["nbgrader"] = marks
    made, _ = sanitise(release, source, FOLLOWS)
    assert made.cells[-1].metadata == {}


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ({"grade": False}, "its flags"),
        ({"solution": True, "locked": False}, "its flags"),
        ({"task": True}, "its flags"),
        ({"points": 1000}, "its points"),
        ({"schema_version": 1}, "its format"),
        ({"schema_version": 99}, "its format"),
    ],
)
def test_changed_marks_of_a_cell_are_set_right_and_named(
    release: NotebookNode, source: list[SourceCell], marks: dict[str, object], words: str
) -> None:
    names = _names(release)
    _find(release, "softmax-ordinary").metadata["nbgrader"].update(marks)
    made, repairs = sanitise(release, source, FOLLOWS)
    assert repairs == [f"Of the cell softmax-ordinary, {words} had been changed and set right."]
    assert _names(made) == names
    assert _find(made, "softmax-ordinary").metadata.nbgrader == _marks(source, "softmax-ordinary")


def _marks(source: list[SourceCell], name: str) -> dict[str, object]:
    return next(cell for cell in source if cell.name == name).metadata()["nbgrader"]


def test_cells_that_lost_their_ids_are_recognised_by_their_text(
    release: NotebookNode, source: list[SourceCell]
) -> None:
    names = _names(release)
    for cell in release.cells:
        cell.metadata.clear()
    made, repairs = sanitise(release, source, FOLLOWS)
    assert _names(made) == names
    assert len(repairs) == len(names)
    assert "The cell softmax had lost its id and was recognised by its text." in repairs


def test_a_renamed_answer_is_recognised_by_the_function_it_defines(
    release: NotebookNode, source: list[SourceCell]
) -> None:
    cell = _find(release, "softmax")
    cell.metadata["nbgrader"]["grade_id"], cell.source = "mine", "def softmax(scores):\n    return 1"
    made, repairs = sanitise(release, source, FOLLOWS)
    assert _find(made, "softmax").source.endswith("return 1")
    assert repairs == ["The cell softmax had lost its id and was recognised by its text."]


def test_an_answer_in_words_that_was_split_is_put_together(words: NotebookNode) -> None:
    first = _find(words, "by_order")
    second = copy.deepcopy(first)
    first.source, second.source = "The query", "is the same."
    words.cells.insert(words.cells.index(first) + 1, second)
    made, repairs = sanitise(words, cells_of(words), {})
    assert _find(made, "by_order").source == "The query\n\nis the same."
    assert repairs == ["The answer by_order stood in several cells and was put together."]


def test_html_in_a_students_words_becomes_text(words: NotebookNode) -> None:
    _find(words, "by_order").source = "a < b <script>alert(1)</script>"
    made, _ = sanitise(words, cells_of(words), {})
    assert _find(made, "by_order").source == "a < b &lt;script>alert(1)&lt;/script>"


def _nested(depth: int) -> Any:
    """Objects in objects."""
    return json.loads('{"a":' * depth + "0" + "}" * depth)


@pytest.mark.parametrize(
    "odd",
    [
        {"attachments": {"a.png": {"image/png": [1]}}},
        {"attachments": {"a.png": {"image/png": [["aGk="]]}}},
        {"attachments": {"\ud800.png": {"image/png": "aGk="}}},
        {"attachments": {"a.png": {"\ud800": "aGk=", "image/png": "\ud800"}}},
        {"attachments": {"a.png": _nested(600)}},
        {"source": "half a letter: \ud800"},
        {"source": ["half a letter: ", "\ud800"]},
        {"id": "\ud800"},
        {"metadata": {"nbgrader": {"grade_id": "\ud800", "\ud800": "\ud800"}}},
        {"metadata": {"nbgrader": {"grade_id": "softmax", "points": _nested(600)}}},
        {"metadata": {"nbgrader": {"grade_id": "softmax", "points": 10**4000}}},
    ],
    ids=lambda odd: ascii(odd)[:60],
)
@pytest.mark.parametrize("kind", ["code", "markdown", "raw"])
def test_no_cell_is_too_odd_for_the_marked_copy(
    source: list[SourceCell], kind: str, odd: dict[str, Any]
) -> None:
    cell = {"cell_type": kind, "metadata": {}, "source": "x"} | odd
    data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).encode()
    made, repairs = sanitise(parse_submission(data), source, FOLLOWS)
    made.metadata = nbformat.from_dict({"repairs": repairs})
    nbformat.validate(made)
    assert len(json.loads(nbformat.writes(made).encode())["cells"]) >= len(source)
