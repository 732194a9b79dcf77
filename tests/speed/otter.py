"""Mark a class with otter-grader, without containers, and with `course mark`; compare times and points.

otter-grader gets an environment of its own, build/otter, which is made on first use: its packages stand in
front of this course's. It grades one submission after another in one process, as its documentation shows. Its
tests ask the same cases as ours and judge them in the student's kernel.

Usage: python -m speed.otter ASSIGNMENT [--students N] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from marking import ROOT, Course

from .__main__ import COURSE, SECRET, find_each_other, judge_in_kernel, timed, work

VERSION = "7.0.0"
ENVIRONMENT = ROOT / "build" / "otter"
PYTHON = ENVIRONMENT / "bin" / "python"
TEST = """OK_FORMAT = False
from otter.test_files import test_case
from speed.in_kernel import points as judged

name = {cell!r}


@test_case(points={points!r})
def test_as_we_judge(env):
    assert judged(name, env) == {points!r}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Time both ways. Returns: 1 where points differ."""
    parser = argparse.ArgumentParser(prog="speed.otter", description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="05_multi_head")
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args(argv)
    if (why := build()) is not None:
        print(f"skipped: otter-grader {VERSION} cannot be installed here ({why})")
        return 0
    name = args.assignment
    find_each_other()
    with tempfile.TemporaryDirectory() as place:
        course = Course.make(Path(place) / "course", name, secret=SECRET)
        notebooks = {f"student-{n:04d}": each for n, each in enumerate(islice(work(course), args.students))}
        for student, notebook in notebooks.items():
            course.submit(student, notebook)
        quick = timed(course, [*COURSE, "mark", name, f"--workers={args.workers}"])
        ours = course.points()
        slow, theirs = graded(course, Path(place) / "otter", notebooks)
    for what, (wall, cpu) in {f"otter-grader {VERSION}": slow, "course mark": quick}.items():
        each = 1000 * wall / args.students
        print(f"{what:<22}{wall:8.1f} s{cpu:8.1f} s of processor{each:10.0f} ms a submission")
    print(f"{slow[0] / quick[0]:.1f} times faster")
    different = [
        f"{student}, {cell}: {points:g} here, {theirs[student].get(cell)} with otter-grader"
        for student, cells in ours.items()
        for cell, points in cells.items()
        if theirs[student].get(cell) != points
    ]
    print("\n".join(different) or "points are equal, test by test")
    return 1 if different else 0


def graded(
    course: Course, place: Path, notebooks: Mapping[str, NotebookNode]
) -> tuple[tuple[float, float], dict[str, dict[str, float]]]:
    """Let otter-grader grade these. Returns: the time it took, and each student's points by test."""
    tests = place / "tests"
    tests.mkdir(parents=True)
    prepared = judge_in_kernel(course, place)
    judged = {cell.name: cell.points for cell in prepared.cells if cell.grade and cell.cell_type == "code"}
    for cell, points in judged.items():
        (tests / f"{cell}.py").write_text(TEST.format(cell=cell, points=points), encoding="utf-8")
    otter = [str(PYTHON), "-m", "otter"]
    subprocess.run([*otter, "generate", "-t", "tests", "-o", "autograder.zip"], cwd=place, check=True)
    paths = []
    for student, notebook in notebooks.items():
        paths.append(place / f"{student}.ipynb")
        nbformat.write(without_tests(notebook, judged), paths[-1])
    said = place / "points"
    words = [str(PYTHON), "-m", "speed.in_otter", str(said), str(place / "autograder.zip"), *map(str, paths)]
    took = timed(course, words)
    lines = said.read_text(encoding="utf-8").splitlines()
    return took, dict(zip(notebooks, map(json.loads, lines), strict=True))


def without_tests(notebook: NotebookNode, tests: Collection[str]) -> NotebookNode:
    """A submission as otter-grader's students have it: its tests stand in files of their own."""
    mine = nbformat.from_dict(notebook)
    mine.cells = [
        cell for cell in mine.cells if cell.metadata.get("nbgrader", {}).get("grade_id") not in tests
    ]
    return mine


def build() -> str | None:
    """Make the environment where it is not there yet. Returns: why there is none, in a line."""
    if sys.platform == "win32":
        return "this benchmark is for Linux and macOS"
    if not (ENVIRONMENT / "made").is_file():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        packages = subprocess.run(
            [str(PYTHON), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        (Path(packages) / "course.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        wanted = ["-c", str(ROOT / "constraints.txt"), f"otter-grader=={VERSION}"]
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", *wanted]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode != 0:
            return (done.stderr.strip() or "pip failed").splitlines()[-1]
        (ENVIRONMENT / "made").touch()
    return None


if __name__ == "__main__":
    sys.exit(main())
