"""A class of thousands, with recorded results in the place of students' code: what the rest of marking costs.

A few submissions are run, once. Their results then stand for a class of that many students, each with a
notebook of their own, and go through the real processes, store, writer, gradebook and folders (`recorded`).

Usage: python -m speed.simulated ASSIGNMENT [--submissions N] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from unittest.mock import patch

from nbformat import NotebookNode

from course_lib.checks.assignments import load
from course_lib.grading.class_marking import mark_class
from course_lib.grading.class_record import Done
from course_lib.grading.recorded import recorded as gradebook_of
from course_lib.grading.store import Result, Store
from marking import Course

from .__main__ import COURSE, SECRET, find_each_other, timed, work
from .recorded import COMMAND, of_student, prepare

VARIANTS = 8
AGAIN = 5  # runs over an unchanged class, of which the quickest counts: they are short, and start alike


@dataclass(frozen=True)
class Step:
    """What it cost when the class had grown to so many students.

    each: milliseconds by the clock for each that was new; writer: of the process that writes; transaction:
    of these in the gradebook. unchanged: seconds of the quickest run after it. memory: MB of the marking
    process. disk: KB for each student, by what takes it.
    """

    students: int
    each: float
    writer: float
    transaction: float
    unchanged: float
    memory: float
    disk: Mapping[str, float]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print. Returns: 1 where a mark is not the recorded one."""
    parser = argparse.ArgumentParser(prog="speed.simulated", description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="01_soft_lookup")
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as place:
        course = simulated_course(Path(place), args.assignment)
        notebooks = list(islice(work(course), VARIANTS))
        results, _ = run_once(Course.make(Path(place) / "run", args.assignment), notebooks, args.workers)
        print(f"{args.assignment}: {VARIANTS} submissions were run; their results stand for all others.")
        for step in steps(course, notebooks, results, args.submissions, args.workers):
            print(in_a_line(step), flush=True)
        wrong = differing(course, results)
        print(f"{len(wrong)} of {args.submissions} students have other points than were recorded")
    return 1 if wrong else 0


def simulated_course(place: Path, name: str) -> Course:
    """A course, and what programs of this package need to find each other."""
    find_each_other()
    return Course.make(place / "course", name, secret=SECRET)


def run_once(
    course: Course, notebooks: Sequence[NotebookNode], workers: int
) -> tuple[list[Result], list[float]]:
    """Mark these notebooks as a class. Returns: their results, and the seconds until each was written."""
    found: dict[str, Result] = {}
    times: list[float] = []
    newest: list[Result] = []
    keep = Store.put

    def put(store: Store, key: str, result: Result) -> None:
        newest[:] = [result]
        keep(store, key, result)

    def tell(done: Done) -> None:
        if done.trouble or not newest:
            raise SystemExit(f"{done.student}: {done.trouble or 'marked without being run'}")
        found[done.student] = newest.pop()
        times.append(time.perf_counter() - begun)

    for number, notebook in enumerate(notebooks):
        course.submit(f"run-{number:03d}", notebook)
    begun = time.perf_counter()
    with patch.object(Store, "put", put):
        mark_class(course.folder, course.assignment, workers=workers, tell=tell)
    return [result for _, result in sorted(found.items())], times


def steps(
    course: Course, notebooks: Sequence[NotebookNode], results: Sequence[Result], most: int, workers: int
) -> Iterator[Step]:
    """Let the class grow tenfold and tenfold, from 100 students on, and mark who is new."""
    place, before = course.folder.parent / "recorded", 0
    prepare(place, results)
    mark = ["mark", course.assignment, "--json", f"--workers={workers}"]
    for size in [size for size in (100, 1_000, 10_000) if size < most] + [most]:
        hand_in(course, notebooks, range(before, size))
        wall, _ = timed(course, [*COMMAND, str(place), *mark])
        again = min(timed(course, [*COURSE, *mark])[0] for _ in range(AGAIN))
        told = json.loads((place / "told.json").read_text(encoding="utf-8"))
        seconds = told["seconds"]
        transaction = seconds.pop("AssignmentGradebook.save")  # which is a part of Writer.write
        a_student = 1000 / (size - before)
        yield Step(
            size,
            a_student * wall,
            a_student * sum(seconds.values()),
            a_student * transaction,
            again,
            told["memory"],
            {what: kilobytes / size for what, kilobytes in on_disk(course.folder).items()},
        )
        before = size


def in_a_line(step: Step) -> str:
    """A step in a line."""
    disk = ", ".join(f"{what} {size:.1f}" for what, size in step.disk.items())
    return (
        f"{step.students:>6} students: {step.each:.1f} ms each, {step.writer:.1f} of the writer, of them "
        f"{step.transaction:.1f} in the gradebook; unchanged {step.unchanged:.2f} s; {step.memory:.0f} MB; "
        f"KB each on disk: {disk}"
    )


def hand_in(course: Course, notebooks: Sequence[NotebookNode], numbers: Sequence[int]) -> None:
    """Put notebooks of these students, in turns, into submitted/."""
    name = course.assignment
    function = load(name).exercises[0].function
    for number in numbers:
        student, kind = f"student-{number:06d}", number % len(notebooks)
        folder = course.folder / "submitted" / student / name
        folder.mkdir(parents=True)
        text = of_student(notebooks[kind], function, student, kind)
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")


def on_disk(folder: Path) -> dict[str, float]:
    """KB that the course takes, by folder and file; what lies in blocks counts with the whole block."""
    sizes = {}
    for name in ("submitted", "autograded", ".course_marks", "gradebook.db"):
        said = subprocess.run(["du", "-sk", name], cwd=folder, capture_output=True, text=True, check=True)
        sizes[name] = float(said.stdout.split()[0])
    return sizes


def differing(course: Course, results: Sequence[Result]) -> list[str]:
    """Students whose points in the gradebook are not those of the result that was handed out for them."""
    recorded = [sum(verdict.points for verdict in each.verdicts.values()) for each in results]
    return [
        student
        for student, points in points_by_student(course).items()
        if points != recorded[int(student.removeprefix("student-")) % len(recorded)]
    ]


def points_by_student(course: Course) -> dict[str, float]:
    """Each student's automatic points."""
    scores = gradebook_of(course.folder, course.assignment).scores
    return {student: sum(score or 0.0 for score in cells.values()) for student, cells in scores.items()}


if __name__ == "__main__":
    sys.exit(main())
