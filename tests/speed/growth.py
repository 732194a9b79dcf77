"""How the time of `course mark` and `course feedback` grows with the class, and what one submission takes.

Prints for each size the seconds of a first run, of a run over the unchanged class and of the feedback pages;
the slope, which is the time of one submission more; the processor time of the students' own code, which is
the floor; and the memory that a running submission has to itself.

Usage: python -m speed.growth ASSIGNMENT [--sizes N N ...] [--workers N]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from course_lib.checks.answer import answer_in
from course_lib.grading.source import Source
from marking import ROOT, Course
from process_table import descendants

from .__main__ import COURSE, SECRET, timed, work
from .most import Most


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="speed.growth", description=__doc__.splitlines()[0])
    parser.add_argument("assignment", nargs="?", default="05_multi_head")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args(argv)
    name, floor = args.assignment, _floor(args.assignment)
    print(f"{name}, {args.workers} workers; seconds by the clock, in brackets of processor time")
    print(f"{'students':>8}  {'mark':>14}  {'unchanged':>14}  {'feedback':>14}  {'MB a kernel':>11}")
    marks, pages = [], []
    for size in args.sizes:
        with tempfile.TemporaryDirectory() as place:
            course = Course.make(Path(place) / "course", name, secret=SECRET)
            for number, notebook in enumerate(islice(work(course), size)):
                course.submit(f"student-{number:05d}", notebook)
            with Most(_largest_kernel) as memory:
                mark = timed(course, [*COURSE, "mark", name, f"--workers={args.workers}"])
            again = timed(course, [*COURSE, "mark", name])
            page = timed(course, [*COURSE, "feedback", name, f"--workers={args.workers}"])
        marks.append(mark[0])
        pages.append(page[0])
        cells = [f"{wall:7.2f} ({cpu:5.1f})" for wall, cpu in (mark, again, page)]
        print(f"{size:>8}  {cells[0]:>14}  {cells[1]:>14}  {cells[2]:>14}  {memory.most / 2**20:11.0f}")
    if len(args.sizes) > 1:
        for what, walls in (("marking", marks), ("feedback", pages)):
            slope, start = np.polyfit(args.sizes, walls, 1)
            print(f"{what}: {1000 * slope:.0f} ms a submission and {start:.1f} s to begin with")
    print(f"floor: {1000 * floor:.0f} ms of processor time for what one submission's functions are asked")
    return 0


def _floor(name: str) -> float:
    """Processor time that the solution's own functions need for all questions of marking, warm."""
    source = Source(ROOT / "solutions" / name / f"{name}.ipynb", SECRET)
    requests = [source.requests(test) for test in source.tests.values()]
    for _ in range(2):  # the second time counts
        start = time.process_time()
        for request in requests:
            answer_in(request, dict(source.namespace))
        taken = time.process_time() - start
    return taken


def _largest_kernel() -> float:
    """The most memory that a forked kernel has to itself, in bytes."""
    return max((_own_memory(Path(f"/proc/{each}")) for each in descendants(os.getpid())), default=0)


def _own_memory(process: Path) -> int:
    """What a kernel does not share with the parent that it was forked from; 0 for any other process."""
    try:
        if b"inside.warm_parent" not in (process / "cmdline").read_bytes():
            return 0
        if "\t1\n" not in (process / "status").read_text().split("NSpid:", 1)[1][:60]:
            return 0  # the parent, or what it is forking
        lines = (process / "smaps_rollup").read_text().splitlines()[1:]
    except (OSError, IndexError):
        return 0
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return 1024 * (sizes["Private_Clean"] + sizes["Private_Dirty"])


if __name__ == "__main__":
    sys.exit(main())
