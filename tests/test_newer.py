"""Who has handed in what is not marked yet is told, whoever marked the rest; nobody else is."""

import shutil

import pytest

from course_lib.command import main
from course_lib.term import newer
from marking import ROOT, Course, answered, answers_of

NAME = "01_soft_lookup"
LINE = (
    "1 handed in what is not marked yet, or not under the present nbgrader_config.py: {who}; run course mark"
)


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """Two students who were marked by `course mark`."""
    course = Course.make(tmp_path_factory.mktemp("newer") / "course", NAME)
    right = answered(course.release(), answers_of(course.source()))
    for student in ("ann", "ben"):
        course.submit(student, right)
    course.mark()
    return course


@pytest.fixture
def course(marked, tmp_path):
    """The same course, to change."""
    shutil.copytree(marked.folder, tmp_path / "course")
    return Course(tmp_path / "course", NAME)


def test_nobody_is_named_when_all_is_marked(course):
    assert newer.not_marked(course.folder, NAME) == []
    assert newer.note([], NAME) == []


def test_who_handed_in_again_or_for_the_first_time_is_named(course):
    course.resubmit("ben", course.release())
    course.submit("new", course.release())
    assert newer.not_marked(course.folder, NAME) == ["ben", "new"]


def test_another_time_or_another_policy_counts_too(course):
    (course.folder / f"submitted/ann/{NAME}/timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    assert newer.not_marked(course.folder, NAME) == ["ann"]
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("c.LatePolicy.per_day = 0.5\n")
    assert newer.not_marked(course.folder, NAME) == ["ann", "ben"]


def test_where_nbgrader_marked_last_the_time_decides(course):
    """What `course mark` has recorded says nothing of a marked notebook that another program wrote."""
    folder = course.folder / f"submitted/ben/{NAME}"
    (folder / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC\n")
    marked = course.folder / f"autograded/ben/{NAME}"
    with (marked / f"{NAME}.ipynb").open("a") as notebook:
        notebook.write("\n")
    assert newer.not_marked(course.folder, NAME) == ["ben"]
    (marked / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    assert newer.not_marked(course.folder, NAME) == []


def test_without_what_was_handed_in_there_is_nothing_to_say(course):
    shutil.rmtree(course.folder / "submitted")
    assert newer.not_marked(course.folder, NAME) == []


@pytest.mark.parametrize("words", [["report", NAME], ["export", "questions"], ["export", "feedback", NAME]])
def test_report_and_export_say_it(course, words, capsys, monkeypatch):
    for each in ("notebooks", "tests/mistakes"):
        shutil.copytree(ROOT / each, course.folder / each)
    monkeypatch.chdir(course.folder)
    course.resubmit("ben", course.release())
    course.give_feedback()
    assert main(words) == 0
    assert f"{LINE.format(who='ben')} {NAME}" in capsys.readouterr().out
