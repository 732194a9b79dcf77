"""Claims about a marker that is killed: nothing written is lost, and the next run completes the class."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.grading import sandbox
from course_lib.grading.leftovers import remove_leftovers
from marking import Course, answered, answers_of

NAME = "01_soft_lookup"
STUDENTS = ("a", "b", "c", "d")
pytestmark = [pytest.mark.skipif(os.name != "posix", reason="kill -9"), pytest.mark.slow]


def _start(course: Course) -> subprocess.Popen[bytes]:
    words = ["--CollectAndJudge.unsandboxed=True"] if sandbox.missing() is not None else []
    return subprocess.Popen(
        [sys.executable, "-m", "nbgrader", "autograde", NAME, *words],
        cwd=course.folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _kill_when(course: Course, happened: Callable[[], bool]) -> None:
    process = _start(course)
    end = time.monotonic() + 240
    while not happened():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_killed_at_any_moment_nothing_is_lost_and_a_rerun_completes_the_class(tmp_path: Path) -> None:
    course = Course.make(tmp_path / "course", NAME)
    half = {name: answers_of(course.source())[name] for name in ("softmax", "sharpen")}
    for student in STUDENTS:
        course.submit(student, answered(course.release(), half))
    done = {student: course.folder / "autograded" / student / NAME / f"{NAME}.ipynb" for student in STUDENTS}
    _kill_when(course, done["a"].parent.exists)  # before it is made whole
    _kill_when(course, done["a"].exists)  # made whole, and about to run
    _kill_when(course, lambda: "output_type" in _text(done["a"]))  # while it is written, or just after
    _kill_when(course, done["b"].exists)
    assert sum(course.points()["a"].values()) == 9
    stamp = done["a"].stat().st_mtime_ns
    _kill_when(course, done["d"].parent.exists)
    course.run("autograde", NAME)
    assert {student: sum(cells.values()) for student, cells in course.points().items()} == dict.fromkeys(
        STUDENTS, 9.0
    )
    assert done["a"].stat().st_mtime_ns == stamp
    assert {course.comments(student)["softmax"] for student in STUDENTS} == {"softmax: 6 of 6 points."}
    course.run("generate_feedback", NAME)
    assert all("6 of 6" in course.feedback(student) for student in STUDENTS)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_what_a_killed_marker_leaves_in_the_temporary_folder_goes_with_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    mine = [f"marking-{os.getpid()}-abc", "marking-x-abc", "other"]
    for name in (f"marking-{dead.pid}-a_b", *mine):
        (tmp_path / name / "folder").mkdir(parents=True)
    removed = remove_leftovers(str(tmp_path))
    assert removed == [f"marking-{dead.pid}-a_b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(mine)


def test_a_resubmission_replaces_every_score_also_where_nothing_can_be_read_any_more(tmp_path: Path) -> None:
    course = Course.make(tmp_path / "course", NAME)
    folder = course.folder / "submitted" / "a" / NAME
    course.submit("a", answered(course.release(), answers_of(course.source())))
    (folder / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC", encoding="utf-8")
    course.run("autograde", NAME)
    assert sum(course.points()["a"].values()) == 20
    (folder / f"{NAME}.ipynb").write_bytes(b"")
    (folder / "timestamp.txt").write_text("2026-01-02 10:00:00 UTC", encoding="utf-8")
    course.run("autograde", NAME)
    assert set(course.points()["a"].values()) == {0.0}
    assert "an empty file" in course.comments("a")["softmax"]
