"""Claims about what stops marking as a whole: one line says what is missing and what to do, and status 1."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commands import nbgrader
from course_lib.grading import sandbox
from marking import Course, answered, answers_of

NAME = "01_soft_lookup"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with one submission that was marked once."""
    course = Course.make(tmp_path_factory.mktemp("course") / "course", NAME)
    softmax = answers_of(course.source())["softmax"]
    course.submit("a", answered(course.release(), {"softmax": softmax}))
    course.run("autograde", NAME)
    return course


@pytest.fixture
def course(made: Course, tmp_path: Path) -> Course:
    shutil.copytree(made.folder, tmp_path / "course")
    return Course(tmp_path / "course", NAME)


def _said(course: Course, assignment: str = NAME) -> str:
    """What marking says where it must fail, without the course's folder."""
    option = ["--CollectAndJudge.unsandboxed=True"] if sandbox.missing() is not None else []
    done = nbgrader(course.folder, ["autograde", assignment, "--force", *option])
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_a_lost_secret_stops_marking_before_any_mark_changes(course: Course) -> None:
    before = course.points()
    (course.folder / ".course_secret").unlink()
    assert "restore it from a copy, or delete" in _said(course)
    assert course.points() == before
    (course.folder / ".course_secret.used").unlink()
    course.run("autograde", NAME, "--force")
    assert course.points() == before


def test_a_missing_solution_notebook_is_named(course: Course) -> None:
    shutil.rmtree(course.folder / "solutions")
    assert "no such solution notebook" in _said(course)


def test_an_assignment_that_was_not_generated_is_named_with_the_command(course: Course) -> None:
    (course.folder / "gradebook.db").unlink()
    assert f"first run nbgrader generate_assignment {NAME} --force" in _said(course)


@pytest.mark.parametrize(
    ("students", "says"),
    [
        ((), "nothing was handed in: there is no folder submitted/*/01_soft_lookup"),
        (("a",), "the only folder submitted/*/01_soft_lookup holds no notebook"),
        (("a", "b"), "none of the 2 folders submitted/*/01_soft_lookup holds a notebook"),
    ],
)
def test_where_nobody_handed_in_a_notebook_one_line_says_so(
    course: Course, students: tuple[str, ...], says: str
) -> None:
    shutil.rmtree(course.folder / "submitted")
    for student in students:
        (course.folder / "submitted" / student / NAME).mkdir(parents=True)
    before = course.points()
    assert says in _said(course)
    assert course.points() == before


def test_formgraders_button_marks_and_refuses_alike(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    monkeypatch.chdir(course.folder)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.folder)).load_config()
    config.CourseDirectory.root = str(course.folder)
    config.CollectAndJudge.unsandboxed = sandbox.missing() is not None
    api = NbGraderAPI(config=config)
    before = course.points()
    (course.folder / "submitted" / "b" / NAME).mkdir(parents=True)
    (course.folder / "submitted" / "b" / NAME / "mine.ipynb").write_bytes(b"no notebook")
    assert [api.autograde(NAME, student)["success"] for student in ("a", "b")] == [True, True]
    assert course.points() == before | {"b": dict.fromkeys(before["a"], 0.0)}
    (course.folder / ".course_secret").unlink()
    refused = api.autograde(NAME, "a")
    assert not refused["success"]
    assert "restore it from a copy" in refused["log"]
