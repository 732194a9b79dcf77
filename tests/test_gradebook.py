"""Claims about opening an assignment in nbgrader's gradebook."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import event

from course_lib.errors import CourseError
from course_lib.grading.gradebook import AssignmentGradebook, Marks
from course_lib.grading.recorded import recorded

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


def test_no_submission_takes_longer_because_there_are_others(url: str) -> None:
    with AssignmentGradebook(url, "", NAME) as gradebook, closing(sqlite3.connect(url[10:])) as database:
        asked: list[Any] = []
        event.listen(
            gradebook._gradebook.engine, "before_cursor_execute", lambda *told: asked.append(told[2:4])
        )
        for _ in ("new", "known"):
            gradebook.save("anna", Marks({"softmax-ordinary": 1.0}, {}))
        plans = [
            (step[3], statement)
            for statement, values in asked
            for step in database.execute(f"explain query plan {statement}", values)
        ]
    assert 10 < len(asked) < 18  # for both together; with autoflush there are more
    searched = [plan for plan, _ in plans if plan.startswith("SEARCH grade USING INDEX course_")]
    assert searched
    scanned = {
        f"SCAN {table}" for table in ("submitted_assignment", "submitted_notebook", "grade", "comment")
    }
    assert [(plan, statement) for plan, statement in plans if plan in scanned] == []


def test_a_new_submission_has_a_place_for_the_marks_of_each_notebook_of_the_assignment(url: str) -> None:
    with Gradebook(url) as gradebook:
        gradebook.add_notebook("more", NAME)
        for name in ("more-ordinary", "more-other"):
            gradebook.add_grade_cell(name, "more", NAME, max_score=1, cell_type="code")
        gradebook.add_solution_cell("more", "more", NAME)
        gradebook.add_notebook("words alone", NAME)
    with AssignmentGradebook(url, "", NAME) as gradebook:
        assert gradebook.save("anna", Marks({"softmax-ordinary": 1.0}, {})) == (1.0, 4.0, 0.0)
    with Gradebook(url) as gradebook:
        notebooks = gradebook.find_submission(NAME, "anna").notebooks
        found = {
            each.name: ({grade.name for grade in each.grades}, {comment.name for comment in each.comments})
            for each in notebooks
        }
    assert found == {
        NAME: ({"softmax-ordinary"}, set()),
        "more": ({"more-ordinary", "more-other"}, {"more"}),
        "words alone": (set(), set()),
    }


def test_what_lateness_takes_off_is_that_of_all_notebooks_as_read_without_nbgrader(url: str) -> None:
    marks, late = Marks({"softmax-ordinary": 2.0}, {}), datetime(2026, 3, 2)
    with Gradebook(url) as nbgraders:
        nbgraders.find_assignment(NAME).duedate = datetime(2026, 3, 1)
        nbgraders.add_notebook("more", NAME)
        with AssignmentGradebook(url, "", NAME) as gradebook:
            saved = gradebook.save("anna", marks, timestamp=late, penalty=lambda *told: 0.5)
            assert saved == (2.0, 2.0, 0.5)
            nbgraders.find_submission_notebook("more", NAME, "anna").late_submission_penalty = 0.25
            nbgraders.db.commit()
            assert gradebook.save("anna", marks, timestamp=late) == (2.0, 2.0, 0.75)
            gradebook.save("ben", marks)
    root = Path(url.removeprefix("sqlite:///")).parent
    (root / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.db_url = {url!r}\n")
    assert recorded(root, NAME).taken_off == {"anna": 0.75}


def test_an_assignment_that_is_generated_anew_meanwhile_leaves_no_mark_without_a_cell(url: str) -> None:
    marks = Marks({"softmax-ordinary": 1.0, "softmax-other": 1.0}, {})
    with Gradebook(url) as nbgraders:
        nbgraders.add_grade_cell("softmax-other", NAME, NAME, max_score=1, cell_type="code")
        with AssignmentGradebook(url, "", NAME) as gradebook:
            nbgraders.db.delete(nbgraders.find_grade_cell("softmax-other", NAME, NAME))
            nbgraders.db.commit()
            assert gradebook.save("anna", marks) == (1.0, 2.0, 0.0)
    with AssignmentGradebook(url, "", NAME) as gradebook:
        assert gradebook.save("anna", marks) == (1.0, 2.0, 0.0)
