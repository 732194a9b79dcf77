"""Claims about what may lie in a student's folder, all of it through nbgrader's commands, in one class."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from course_lib.grading import sandbox
from course_lib.grading.class_marking import mark_class
from marking import Course, answered, answers_of

NAME = "01_soft_lookup"
FILE = f"{NAME}.ipynb"


def _json(notebook: NotebookNode, **changes: object) -> str:
    return json.dumps({**json.loads(nbformat.writes(notebook)), **changes})


def _stripped(notebook: NotebookNode) -> str:
    """As programs write it that keep no metadata and no ids of cells."""
    content = json.loads(nbformat.writes(notebook))
    for cell in content["cells"]:
        cell["metadata"] = {"_uuid": "8f2839f25d086af736a60e9eeb907d3b93b6e0e5", "trusted": True}
        cell.pop("id", None)
    metadata = {"kernelspec": {"name": "kaggle", "language": "python"}, "kaggle": {"accelerator": "gpu"}}
    return json.dumps({**content, "metadata": metadata, "nbformat_minor": 4})


def _colab(notebook: NotebookNode) -> str:
    content = json.loads(nbformat.writes(notebook))
    for number, cell in enumerate(content["cells"]):
        cell["metadata"] |= {"id": f"x{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        cell.pop("id", None)
    return json.dumps({**content, "metadata": {"colab": {"provenance": []}}, "nbformat_minor": 0})


def _code(notebook: NotebookNode) -> str:
    content = json.loads(nbformat.writes(notebook))
    for cell in content["cells"]:
        cell["metadata"] |= {"vscode": {"languageId": "python"}}
        cell["id"] = "same"
    return json.dumps({**content, "nbformat_minor": 2})


def _old(notebook: NotebookNode) -> str:
    return nbformat.writes(nbformat.convert(copy.deepcopy(notebook), 3), version=3)


def _accented(notebook: NotebookNode) -> NotebookNode:
    changed = copy.deepcopy(notebook)
    changed.cells[0].source += "\né"
    return changed


# What lies in the folder of a student whose answers are right: file name and bytes, and a word of the report.
RIGHT: dict[str, tuple[str, Callable[[NotebookNode], bytes], str]] = {
    "bom": (FILE, lambda nb: b"\xef\xbb\xbf" + _json(nb).encode(), ""),
    "utf16": (FILE, lambda nb: _json(nb).encode("utf-16"), "UTF-16"),
    "latin1": (FILE, lambda nb: nbformat.writes(_accented(nb)).encode("latin-1", "replace"), "Latin-1"),
    "format3": (FILE, lambda nb: _old(nb).encode(), "old format 3"),
    "minor99": (FILE, lambda nb: _json(nb, nbformat_minor=99, new={}).encode(), ""),
    "colab": (FILE, lambda nb: _colab(nb).encode(), ""),
    "kaggle": (FILE, lambda nb: _stripped(nb).encode(), "recognised by its text"),
    "vscode": (FILE, lambda nb: _code(nb).encode(), ""),
    "browser": (f"{NAME} (1).ipynb", lambda nb: _json(nb).encode(), "was called"),
    "browser2": (f"{NAME}-1.ipynb", lambda nb: _json(nb).encode(), "was called"),
    "copied": (f"Copy of {FILE}", lambda nb: _json(nb).encode(), "was called"),
    "platform": (f"jdoe_12345_{FILE}", lambda nb: _json(nb).encode(), "was called"),
    "ownname": ("homework.ipynb", lambda nb: _json(nb).encode(), "was called"),
}
WRONG: dict[str, tuple[str, bytes, str]] = {
    "empty": (FILE, b"", "an empty file"),
    "text": (FILE, b"print('hello')", "not a notebook"),
    "zip": (FILE, b"PK\x03\x04" + bytes(50), "a ZIP archive"),
    "cut": (FILE, b'{"cells": [{"cell_type": "code", "sou', "only the beginning"),
    "list": (FILE, b"[1, 2]", "though it is JSON"),
    "other": (FILE, b'{"a": 1}', "though it is JSON"),
    "format5": (FILE, b'{"nbformat": 5, "nbformat_minor": 0, "cells": []}', "newer than can be read"),
    "nocells": (FILE, b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "without cells"),
    "deep": (FILE, b"[" * 100_000, "not a notebook"),
    "nothing": ("answers.py", b"x = 1", "no notebook in the folder"),
}


def _odd_times(course: Course, notebook: bytes) -> None:
    """Students with right answers and a timestamp.txt that is none, and one with a file for a folder."""
    for student in TIMES:
        _hand_in(course, student, FILE, notebook)
    times = {student: course.folder / "submitted" / student / NAME / "timestamp.txt" for student in TIMES}
    times["time-link"].symlink_to("/dev/zero")
    os.mkfifo(times["time-pipe"])
    times["time-folder"].mkdir()
    times["time-huge"].write_bytes(b"2026-01-01 " * 3_000_000)
    times["time-words"].write_text("yesterday, I think", encoding="utf-8")
    (course.folder / "submitted" / "file").mkdir()
    (course.folder / "submitted" / "file" / NAME).write_bytes(notebook)


TIMES = ("time-link", "time-pipe", "time-folder", "time-huge", "time-words") if os.name == "posix" else ()


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, str]:
    """A class of students who hand in odd files, and two honest ones; marked, and with feedback. Also what
    marking said."""
    made = Course.make(tmp_path_factory.mktemp("course") / "odd", NAME)
    solved = answered(made.release(), answers_of(made.source()))
    for student in ("aaa", "zzz"):
        made.submit(student, solved)
    for student, (name, write, _) in RIGHT.items():
        _hand_in(made, student, name, write(solved))
    for student, (name, content, _) in WRONG.items():
        _hand_in(made, student, name, content)
    _hand_in(made, "large", FILE, b"{")
    with open(made.folder / "submitted" / "large" / NAME / FILE, "r+b") as file:
        file.truncate(100 * 2**20)  # no real megabytes: a hole
    _hand_in(made, "more", FILE, _json(solved).encode())
    _hand_in(made, "more", "numpy.py", b"raise SystemExit")
    if os.name == "posix":
        target = made.folder / "solutions" / NAME / FILE
        _hand_in(made, "link", "notes.txt", b"")
        (made.folder / "submitted" / "link" / NAME / FILE).symlink_to(target)
        os.mkfifo(made.folder / "submitted" / "more" / NAME / "pipe")
        (made.folder / "submitted" / "more" / NAME / "zero.txt").symlink_to("/dev/zero")
        _odd_times(made, _json(solved).encode())
    before = _files(made)
    said = made.run("autograde", NAME).stderr
    made.run("generate_feedback", NAME)
    assert _files(made) == before
    return made, said


@pytest.fixture
def course(marked: tuple[Course, str]) -> Course:
    return marked[0]


def _hand_in(course: Course, student: str, name: str, content: bytes) -> None:
    folder = course.folder / "submitted" / student / NAME
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def _files(course: Course) -> dict[Path, int]:
    return {path: path.lstat().st_size for path in (course.folder / "submitted").rglob("*")}


def test_every_student_has_marks_and_honest_ones_all_of_them(course: Course) -> None:
    points = {student: sum(cells.values()) for student, cells in course.points().items()}
    right = {"aaa", "zzz", "more", *RIGHT, *TIMES}
    wrong = {"large", *WRONG, *(["link", "file"] if os.name == "posix" else [])}
    assert points == dict.fromkeys(right, 20.0) | dict.fromkeys(wrong, 0.0)


@pytest.mark.parametrize("student", RIGHT)
def test_what_was_odd_about_a_file_is_said_in_the_feedback(course: Course, student: str) -> None:
    word, page = RIGHT[student][2], course.feedback(student)
    assert word in page
    assert ("Noticed and repaired" in page) == bool(word)


@pytest.mark.parametrize("student", [*WRONG, "large"])
def test_the_feedback_and_the_log_say_in_one_line_why_there_are_no_points(
    marked: tuple[Course, str], student: str
) -> None:
    course, said = marked
    word = WRONG[student][2] if student in WRONG else "at most 20 MB"
    assert word in course.feedback(student)
    assert len([line for line in said.splitlines() if word in line and f"/{student}/" in line]) == 1
    assert "Traceback" not in said


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_links_are_refused_and_other_files_are_named_and_left_alone(course: Course) -> None:
    assert "a link, not a file" in course.feedback("link")
    assert "numpy.py" in course.feedback("more")
    autograded = course.folder / "autograded" / "more" / NAME
    assert [path.name for path in autograded.iterdir()] == [FILE]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_a_time_that_is_none_is_named_and_costs_nothing(marked: tuple[Course, str]) -> None:
    course, said = marked
    for student in TIMES[:-1]:
        assert "“timestamp.txt”; it was not looked at" in course.feedback(student)
        assert f"{student}: Besides the notebook there was “timestamp.txt”" in said
    assert "time-words/01_soft_lookup/timestamp.txt: not a time" in said
    assert "its folder cannot be read" in course.feedback("file")


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_marking_a_class_in_parallel_treats_odd_files_alike(course: Course, tmp_path: Path) -> None:
    other = Course(tmp_path / "course", NAME)
    shutil.copytree(course.folder, other.folder, ignore=shutil.ignore_patterns("submitted", "autograded"))
    solved = answered(other.release(), answers_of(other.source()))
    _odd_times(other, _json(solved).encode())
    before = _files(other)
    done = mark_class(other.folder, NAME, workers=2, sandboxed=sandbox.missing() is None)
    assert {each.student: each.points for each in done} == dict.fromkeys(TIMES, 20) | {"file": 0}
    assert [each.trouble for each in done if each.trouble] == []
    assert _files(other) == before
    for student in TIMES:
        mine, theirs = other.marked(student).metadata.course, course.marked(student).metadata.course
        assert mine.repairs == theirs.repairs


def test_a_class_in_which_no_file_can_be_read_is_marked_all_the_same(tmp_path: Path) -> None:
    course = Course.make(tmp_path / "course", NAME)
    folder = course.folder / "submitted" / "ann" / NAME
    folder.mkdir(parents=True)
    (folder / FILE).write_text("half a note", encoding="utf-8")
    (done,) = course.mark()
    assert done.points == 0
    assert "not a notebook" in str(done.note)
