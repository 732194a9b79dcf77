"""Claims about a disk that is full while a class is marked: nothing is lost, and one line says what to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.grading import sandbox
from marking import Course, answered, answers_of

NAME = "01_soft_lookup"
STUDENTS = [f"s{number}" for number in range(6)]
A_STUDENT = 60_000  # bytes of a marked notebook, its result and its marks, about
pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own, which is gone afterwards."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs Linux, and root to mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if subprocess.run(options, capture_output=True).returncode != 0:
        pytest.skip("this machine does not let root mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("room", [0, A_STUDENT // 2, 2 * A_STUDENT, 7 * A_STUDENT // 2])
def test_a_full_disk_costs_no_marks_and_is_told_in_one_line(disk: Path, room: int) -> None:
    course = Course.make(disk / "course", NAME)
    half = {name: answers_of(course.source())[name] for name in ("softmax", "sharpen")}
    for student in STUDENTS:
        course.submit(
            student, answered(course.release(), half | {"sharpen": f"{half['sharpen']}\n# {student}"})
        )
    filled = disk / "filled"
    filled.write_bytes(bytes(shutil.disk_usage(disk).free - room))
    first = _mark(course)
    assert first.returncode == 2, first.stderr
    (said,) = first.stderr.splitlines()
    assert "disk is full" in said
    assert said.startswith("course: ")
    written = {path.parents[1].name: path.stat().st_ino for path in _marked(course)}
    for path in _marked(course):  # none is half
        json.loads(path.read_text(encoding="utf-8"))
    recorded = _recorded(course)
    assert not list(course.folder.rglob(f"{NAME}.[0-9]*"))  # what was begun and could not be written
    filled.unlink()
    second = _mark(course)
    assert second.returncode == 0, second.stderr
    done = {each["student"]: each for each in json.loads(second.stdout)}
    assert {student: each["points"] for student, each in done.items()} == dict.fromkeys(STUDENTS, 9.0)
    assert {student: sum(cells.values()) for student, cells in course.points().items()} == dict.fromkeys(
        STUDENTS, 9.0
    )
    assert {student for student, each in done.items() if each["again"]} == recorded  # not marked twice
    again = {path.parents[1].name: path.stat().st_ino for path in _marked(course)}
    assert {student: again[student] for student in recorded} == {
        student: written[student] for student in recorded
    }


def _mark(course: Course) -> subprocess.CompletedProcess[str]:
    unsandboxed = ["--unsandboxed"] if sandbox.missing() is not None else []
    return subprocess.run(
        [sys.executable, "-m", "course_lib.command", "mark", NAME, "--json", "--workers=1", *unsandboxed],
        cwd=course.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )


def _marked(course: Course) -> list[Path]:
    return sorted((course.folder / "autograded").glob(f"*/{NAME}/{NAME}.ipynb"))


def _recorded(course: Course) -> set[str]:
    record = course.folder / ".course_marks" / f"{NAME}.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines() if record.is_file() else []
    return {json.loads(line)["student"] for line in lines}  # each of them whole
