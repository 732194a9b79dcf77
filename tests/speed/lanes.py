"""Whether so many processes take the time that arithmetic says, with lanes that sleep instead of marking.

A thing takes a lane `kernel` seconds, and then the one writer `writer` seconds, so that N things on W lanes
take max(N kernel / W, N writer). What waits needs no processor, so this can be seen on any machine.

Usage: python -m speed.lanes [--kernel SECONDS] [--writer SECONDS]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

from course_lib.grading.processes import Processes

LANES = (1, 2, 4, 8, 16)
TOLERANCE = 0.25  # of the time that arithmetic says


def main(argv: Sequence[str] | None = None) -> int:
    """Print each number of lanes. Returns: 1 where one took more, or less, than the tolerance allows."""
    parser = argparse.ArgumentParser(prog="speed.lanes", description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", type=float, default=0.06)
    parser.add_argument("--writer", type=float, default=0.006)
    parser.add_argument("--things", type=int, default=160)
    args = parser.parse_args(argv)
    return 0 if report(compared(args.things, args.kernel, args.writer)) else 1


def compared(things: int, kernel: float, writer: float) -> list[tuple[int, float, float]]:
    """For each number of lanes the seconds that arithmetic says, and those that it took."""
    return [
        (lanes, max(things * kernel / lanes, things * writer), taken(things, kernel, writer, lanes))
        for lanes in LANES
    ]


def report(rows: Sequence[tuple[int, float, float]]) -> bool:
    """Print a line for each. Returns: whether all are within the tolerance."""
    for lanes, said, took in rows:
        print(f"{lanes:>3} lanes: {said:6.2f} s by arithmetic, {took:6.2f} s by the clock", flush=True)
    worst = max(abs(took / said - 1) for _, said, took in rows)
    print(f"{worst:.0%} is the largest difference, of {TOLERANCE:.0%} that are allowed")
    return worst <= TOLERANCE


def taken(things: int, kernel: float, writer: float, lanes: int) -> float:
    """Seconds until the last thing is written, from when all lanes have started."""
    with Processes(lanes, [__name__]) as processes:
        for _ in processes.each(partial(_sleep, seconds=0.05), dict.fromkeys(range(2 * lanes))):
            pass
        start = time.perf_counter()
        for _ in processes.each(partial(_sleep, seconds=kernel), dict.fromkeys(range(things))):
            time.sleep(writer)
        return time.perf_counter() - start


def _sleep(thing: object, seconds: float) -> None:
    time.sleep(seconds)


if __name__ == "__main__":
    sys.exit(main())
