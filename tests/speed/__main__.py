"""Mark the same class with stock nbgrader and with `course mark`, print both times, and compare all marks.

Usage: python -m speed ASSIGNMENT [--students N] [--pairs N] [--workers N]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from nbformat import NotebookNode

from course_lib.grading.catalogue import read
from course_lib.grading.source import Source
from course_lib.grading.task import Assignment
from marking import ROOT, Course, answered, answers_of
from process_table import children
from test_pipeline import STOCK

from .in_kernel import PREPARED

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
SECRET = "a secret of the benchmark"
COURSE = [sys.executable, "-m", "course_lib.command"]
NBGRADER = [sys.executable, "-m", "nbgrader"]


def main(argv: Sequence[str] | None = None) -> int:
    """Time both ways in turns. Returns: 1 where a mark differs."""
    parser = argparse.ArgumentParser(prog="speed", description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="05_multi_head")
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args(argv)
    ratios, same = [], True
    for pair in range(args.pairs):
        with tempfile.TemporaryDirectory() as place:
            stock, ours = courses(Path(place), args.assignment, args.students)
            slow = timed(stock, [*NBGRADER, "autograde", args.assignment])
            mark = [*COURSE, "mark", args.assignment]
            quick = timed(ours, [*mark, f"--workers={args.workers}"])
            again = timed(ours, mark)
            same = same and stock.points() == ours.points()
        ratios.append(slow[0] / quick[0])
        for name, (wall, cpu) in {
            "stock nbgrader": slow,
            "course mark": quick,
            "again, unchanged": again,
        }.items():
            print(
                f"pair {pair + 1}  {name:<18}{wall:8.1f} s{cpu:8.1f} s of processor"
                f"{1000 * wall / args.students:10.0f} ms a submission"
            )
    spread = f"{min(ratios):.1f} to {max(ratios):.1f} in {len(ratios)} pairs"
    print(f"{args.assignment}, {args.students} submissions, {args.workers} workers:")
    print(f"{statistics.median(ratios):.1f} times faster ({spread}); marks are {'' if same else 'NOT '}equal")
    return 0 if same else 1


def courses(place: Path, name: str, students: int) -> tuple[Course, Course]:
    """One course of stock nbgrader, with our cases in its test cells, and ours; the same work is handed in to
    both."""
    ours = Course.make(place / "ours", name, secret=SECRET)
    stock = Course(place / "stock", name)
    (stock.folder / "solutions" / name).mkdir(parents=True)
    (stock.folder / "nbgrader_config.py").write_text(STOCK, encoding="utf-8")
    judge_in_kernel(ours, place)
    find_each_other()
    stock.write_source(_judged_in_kernel(ours.source()))
    stock.run("generate_assignment", name)
    for number, notebook in enumerate(islice(work(ours), students)):
        for course in (ours, stock):
            course.submit(f"student-{number:04d}", notebook)
    return stock, ours


def judge_in_kernel(course: Course, place: Path) -> Assignment:
    """Put the cases of a course, with their right answers, where `in_kernel` finds them. Returns: them."""
    solution = course.folder / "solutions" / course.assignment / f"{course.assignment}.ipynb"
    prepared = Assignment.of(Source(solution, SECRET), "speed", sandboxed=False)
    (place / "prepared").write_bytes(pickle.dumps(prepared))
    os.environ[PREPARED] = str(place / "prepared")
    return prepared


def find_each_other() -> None:
    """Let programs that are started from here import this package and the course."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])


def work(course: Course) -> Iterator[NotebookNode]:
    """Right and wrong submissions in turn, without end; mistakes only in functions on which no other builds,
    whose marks need no correct predecessors."""
    source = Source(ROOT / "solutions" / course.assignment / f"{course.assignment}.ipynb", SECRET)
    used = {name for exercise in source.assignment.exercises for name in exercise.predecessors}
    right = answers_of(course.source())
    for mistake in cycle(
        each for each in read(ROOT, course.assignment).mistakes if each.function not in used
    ):
        yield answered(course.release(), right)
        yield answered(course.release(), right | {mistake.function: str(mistake.code)})


def _judged_in_kernel(notebook: NotebookNode) -> NotebookNode:
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and marks.get("grade"):
            cell.source = (
                "### BEGIN HIDDEN TESTS\nfrom speed.in_kernel import points\n"
                f"### END HIDDEN TESTS\npoints({marks['grade_id']!r}, globals())"
            )
    return notebook


def timed(course: Course, command: list[str]) -> tuple[float, float]:
    """Seconds by the clock and of processor time that a command takes with all its processes.

    On Linux also those count that outlive the process that started them: they become children of this one.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others = children(os.getpid())
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=course.folder, capture_output=True, encoding="utf-8", errors="replace")
    wall = time.perf_counter() - start
    while orphans := children(os.getpid()) - others:
        for process in orphans:
            os.waitpid(process, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
