"""Claims about opening an assignment in nbgrader's gradebook."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.gradebook import AssignmentGradebook

NAME = "01_soft_lookup"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A gradebook that has the assignment, with one test."""
    # A new one calls a program that is installed beside nbgrader.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    made = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(made) as gradebook:
        gradebook.add_assignment(NAME)
        gradebook.add_notebook(NAME, NAME)
        gradebook.add_grade_cell("softmax-ordinary", NAME, NAME, max_score=2, cell_type="code")
        gradebook.add_source_cell("softmax-ordinary", NAME, NAME, cell_type="code", source="")
    return made


def test_its_cells_are_those_of_the_source(url: str) -> None:
    with AssignmentGradebook(url, "", NAME) as gradebook:
        assert [(cell.name, cell.points) for cell in gradebook.cells] == [("softmax-ordinary", 2.0)]


def test_a_task_cell_is_refused_by_name_before_anything_is_marked(url: str) -> None:
    with Gradebook(url) as gradebook:
        gradebook.add_task_cell("explore", NAME, NAME, max_score=3, cell_type="markdown")
    with pytest.raises(CourseError, match=r"manually graded task \(explore\)") as refused:
        AssignmentGradebook(url, "", NAME)
    assert "\n" not in str(refused.value)
