"""Change every solution in every small way, have each change judged, and say which the tests do not tell."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from course_lib.checks.assignments import MODULES, load

from .equivalent import is_equivalent, stale
from .judging import Report, report


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each function and the score. Returns: 1 where something is left to do."""
    parser = argparse.ArgumentParser(prog="make mutation", description=__doc__)
    parser.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="such as 03_scaling; default: all"
    )
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes; default: 2")
    args = parser.parse_args(argv)
    unknown = sorted(set(args.assignments) - set(MODULES))
    if unknown:
        parser.error(f"no such assignment: {', '.join(unknown)}; there are {', '.join(MODULES)}")
    functions = [
        (name, each.function) for name in args.assignments or MODULES for each in load(name).exercises
    ]
    reports, to_do = [], 0
    with ProcessPoolExecutor(args.workers, multiprocessing.get_context("spawn")) as pool:
        for each in pool.map(report, *zip(*functions, strict=True)):
            reports.append(each)
            lines = left_to_do(each)
            to_do += len(lines)
            print("\n".join([summary(each), *lines]), flush=True)
    print(score(reports))
    return 1 if to_do else 0


def summary(each: Report) -> str:
    """One function in a line."""
    known = sum(is_equivalent(each.function, mutant) for mutant in each.survivors)
    return f"{each.function:<22}{each.total:5} mutants {each.killed:5} killed {known:3} equivalent"


def left_to_do(each: Report) -> list[str]:
    """Survivors without a reason, mutants that not every secret tells, and entries without a survivor."""
    survivors = [mutant for mutant in each.survivors if not is_equivalent(each.function, mutant)]
    lines = [f"    survives:   {mutant.before}\n           as:  {mutant.after}" for mutant in survivors]
    lines += [f"    by chance:  {mutant.before}\n           as:  {mutant.after}" for mutant in each.weak]
    return lines + [f"    is killed:  {line}" for line in stale(each.function, each.survivors)]


def score(reports: Sequence[Report]) -> str:
    """How many of the mutants that are wrong the tests tell from right, under every secret."""
    known = sum(is_equivalent(each.function, mutant) for each in reports for mutant in each.survivors)
    total, killed = sum(each.total for each in reports), sum(each.killed for each in reports)
    return (
        f"{total} mutants, {known} of them equivalent: {killed} of {total - known} killed under every secret"
    )


if __name__ == "__main__":
    sys.exit(main())
