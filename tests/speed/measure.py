"""Measure what submissions cost and write it down; docs/scale.md is made from that (`make scale`).

Usage: python -m speed.measure [--submissions N N] [--run N] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from marking import Course
from process_table import descendants

from .__main__ import COURSE, timed, work
from .most import Most
from .scale import MEASURED, Costs
from .simulated import VARIANTS, Step, differing, in_a_line, run_once, simulated_course, steps

ASSIGNMENTS = {"01_soft_lookup": 10_000, "05_multi_head": 500}  # to how many students each class grows


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each assignment; stops where a simulated student's marks are not those that were recorded."""
    parser = argparse.ArgumentParser(prog="speed.measure", description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, nargs=2, default=list(ASSIGNMENTS.values()))
    parser.add_argument("--run", type=int, default=32, help="submissions whose code is run")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args(argv)
    measured: dict[str, Any] = {
        "machine": f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"{args.workers} lanes, in the simulated classes one; {os.getloadavg()[0]:.1f} other processes ran",
        "assignments": {},
    }
    for name, students in zip(ASSIGNMENTS, args.submissions, strict=True):
        with tempfile.TemporaryDirectory() as place:
            measured["assignments"][name] = measure(
                simulated_course(Path(place), name), students, args.run, args.workers
            )
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(course: Course, students: int, run: int, workers: int) -> dict[str, Any]:
    """What a submission of an assignment costs, and how a simulated class of it grew."""
    notebooks = list(islice(work(course), run))
    with Most(_memory) as memory:
        alone = Course.make(course.folder.parent / "run", course.assignment)
        results, times = run_once(alone, notebooks, workers)
    kernel = workers * (times[-1] - times[0]) / (run - 1)
    print(
        f"{course.assignment}: {1000 * kernel:.0f} ms of a lane, {memory.most / workers:.0f} MB", flush=True
    )
    recorded = results[:VARIANTS]
    grown: list[Step] = []
    for step in steps(course, notebooks[:VARIANTS], recorded, students, 1):
        print(in_a_line(step), flush=True)
        grown.append(step)
    if wrong := differing(course, recorded):
        raise SystemExit(f"{len(wrong)} students have other points than were recorded")
    sizes = [step.students for step in grown]
    unchanged, unchanged_start = np.polyfit(sizes, [step.unchanged for step in grown], 1)
    held, marker = np.polyfit(sizes, [step.memory for step in grown], 1)
    page, kilobytes = pages(course, workers)
    print(f"{1000 * page:.0f} ms of a lane for a feedback page", flush=True)
    costs = Costs(
        kernel=kernel,
        writer=grown[-1].writer / 1000,
        page=page,
        start=times[0],
        unchanged_start=float(unchanged_start),
        unchanged=float(unchanged),
        lane=memory.most / workers,
        marker=float(marker),
        held=1024 * float(held),
        disk={**grown[-1].disk, "feedback": kilobytes},
    )
    return {"costs": asdict(costs), "grown": [asdict(step) for step in grown]}


def pages(course: Course, workers: int) -> tuple[float, float]:
    """Seconds of a lane, and KB, of a feedback page: what ten times as many take longer."""
    command = [*COURSE, "feedback", course.assignment, f"--workers={workers}"]
    few, _ = timed(course, [*command, "--students=student-00000[0-9]"])
    many, _ = timed(course, [*command, "--students=student-0000*"])
    made = list((course.folder / "feedback").rglob("*.html"))
    return workers * (many - few) / (len(made) - 20), sum(each.stat().st_size for each in made) / 1024 / len(
        made
    )


def _memory() -> float:
    """MB that all processes below this one have; what several share counts once."""
    return sum(map(_share, descendants(os.getpid())))


def _share(process: int) -> float:
    """A process's part of the memory, in MB; 0 when it has ended."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.exit(main())
