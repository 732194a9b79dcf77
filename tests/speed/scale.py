"""The tables of docs/scale.md: how long classes take on machines, by arithmetic from what was measured.

Usage: python -m speed.scale [--write]   (prints the tables, or puts them into the page)
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "measured.json"
PAGE = HERE.parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- tables: make scale -->", "<!-- end of tables -->"
SIZES = (300, 3_000, 30_000)


@dataclass(frozen=True)
class Machine:
    """Where a class is marked. lanes: processes that run kernels. cores: where the gradebook is."""

    name: str
    lanes: int
    cores: int

    @property
    def shared(self) -> bool:
        """Whether kernels and the writer share one machine's cores."""
        return self.lanes == self.cores


MACHINES = (
    Machine("laptop, 2 cores", 2, 2),
    Machine("laptop, 8 cores", 8, 8),
    Machine("server, 32 cores", 32, 32),
    Machine("Dask, 8 workers of 16 cores", 128, 16),
)


@dataclass(frozen=True)
class Costs:
    """What one submission of an assignment costs, as measured.

    kernel: seconds of a lane, which has a core. writer: seconds of the process that writes. page: seconds of
    a core for its feedback. start: seconds until the first is marked. unchanged: seconds of a run that finds
    nothing to do. lane: MB of a lane. marker, held: MB of the marking process, and KB more for each.
    disk: KB on disk, by what takes it.
    """

    kernel: float
    writer: float
    page: float
    start: float
    unchanged_start: float
    unchanged: float
    lane: float
    marker: float
    held: float
    disk: Mapping[str, float]

    def marking(self, students: int, machine: Machine) -> tuple[float, str]:
        """Seconds until a class is marked, and what they are spent waiting for."""
        work = self.kernel + (self.writer if machine.shared else 0.0)
        kernels, writer = students * work / machine.lanes, students * self.writer
        return self.start + max(kernels, writer), "kernels" if kernels >= writer else "writer"

    def pages(self, students: int, machine: Machine) -> float:
        """Seconds until everybody has a page; they are made where the gradebook is."""
        return self.start + students * self.page / machine.cores

    def again(self, students: int) -> float:
        """Seconds of a run over a class in which nothing changed."""
        return self.unchanged_start + students * self.unchanged

    def memory(self, students: int, machine: Machine) -> float:
        """MB on the machine with the gradebook."""
        return (
            self.marker + students * self.held / 1024 + (machine.lanes * self.lane if machine.shared else 0)
        )

    def on_disk(self, students: int) -> float:
        """MB of the course's folder."""
        return students * sum(self.disk.values()) / 1024


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables, or write them into the page."""
    made = tables(json.loads(MEASURED.read_text(encoding="utf-8")))
    if "--write" in (sys.argv[1:] if argv is None else argv):
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    else:
        print(made)
    return 0


def with_tables(page: str, made: str) -> str:
    """The page with these tables in the place of those that it has."""
    parts = re.split(f"(?<={BEGIN}\n).*(?={END})", page, flags=re.DOTALL)
    if len(parts) != 2:
        raise ValueError(f"{PAGE.name}: expected one {BEGIN} and one {END}")
    return f"{parts[0]}\n{made}\n\n{parts[1]}"


def tables(measured: Mapping[str, Any]) -> str:
    """All tables, as Markdown."""
    costs = {name: Costs(**each["costs"]) for name, each in measured["assignments"].items()}
    grown = {name: each["grown"] for name, each in measured["assignments"].items()}
    said = [f"Measured on {measured['machine']}.", _costs(costs), _grown(grown)]
    for name, each in costs.items():
        said += [f"**{name}**: until the class is marked, and what it waits for.", _marking(each)]
    for name, each in costs.items():
        said += [f"**{name}**: what else a class takes.", _else(each)]
    return "\n\n".join(said)


def _costs(costs: Mapping[str, Costs]) -> str:
    rows = {
        "kernel, ms of a core": [f"{1000 * each.kernel:.0f}" for each in costs.values()],
        "writer, ms": [f"{1000 * each.writer:.0f}" for each in costs.values()],
        "feedback page, ms of a core": [f"{1000 * each.page:.0f}" for each in costs.values()],
        "unchanged, ms": [f"{1000 * each.unchanged:.2f}" for each in costs.values()],
        "memory of a lane, MB": [f"{each.lane:.0f}" for each in costs.values()],
        "memory of the marking process, KB": [f"{each.held:.0f}" for each in costs.values()],
        "on disk, KB": [f"{sum(each.disk.values()):.0f}" for each in costs.values()],
        "lanes that one writer keeps busy": [f"{each.kernel / each.writer:.0f}" for each in costs.values()],
    }
    return _table(["one submission", *costs], [[name, *row] for name, row in rows.items()])


def _grown(grown: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    rows = [
        [
            name,
            f"{step['students']:,}",
            *(f"{step[what]:.1f}" for what in ("each", "writer", "transaction", "unchanged", "memory")),
            *(f"{step['disk'][what] * step['students'] / 1024:.0f}" for what in step["disk"]),
        ]
        for name, steps in grown.items()
        for step in steps
    ]
    disk = [f"{what}, MB" for what in next(iter(grown.values()))[0]["disk"]]
    heads = ["ms by the clock", "ms of the writer", "of them in the gradebook", "unchanged, s", "memory, MB"]
    return _table(["simulated", "students", *heads, *disk], rows)


def _marking(costs: Costs) -> str:
    rows = []
    for machine in MACHINES:
        found = [costs.marking(size, machine) for size in SIZES]
        rows.append([machine.name, *(f"{spoken(seconds)}, {what}" for seconds, what in found)])
    return _table(["", *(f"{size:,}" for size in SIZES)], rows)


def _else(costs: Costs) -> str:
    rows = [["again, unchanged", *(spoken(costs.again(size)) for size in SIZES)]]
    for machine in MACHINES:
        pages = [spoken(costs.pages(size, machine)) for size in SIZES]
        rows.append([f"feedback: {machine.name}", *pages])
    for machine in MACHINES:
        memory = [sized(costs.memory(size, machine)) for size in SIZES]
        rows.append([f"memory: {machine.name}", *memory])
    rows.append(["on disk", *(sized(costs.on_disk(size)) for size in SIZES)])
    return _table(["", *(f"{size:,}" for size in SIZES)], rows)


def spoken(seconds: float) -> str:
    """A time in the unit that fits."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 1 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def sized(megabytes: float) -> str:
    """A size in the unit that fits."""
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1024:.1f} GB"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
