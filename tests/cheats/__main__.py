"""Try every cheat on stock nbgrader, on the course's marking, and where its own defence is missing: a table.

The exit status is 1 when one gains something from the course's marking, or works nowhere.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .arena import HONEST, NO_CHEAT, Arena, Outcome
from .arenas import ARENAS, ours
from .catalogue import CHEATS, LIMITS
from .cheat import Cheat

WIDTHS = (22, 12, 12, 50)
HEAD = ("cheat", "stock", "ours", "seen to work on")


def shown(cheat: Cheat, outcome: Outcome, possible: int) -> str:
    """An outcome in a few letters: points of those possible, or whether it leaks or harms."""
    if cheat.goal == "points":
        return f"{outcome.points:g} of {possible}"
    return {"leak": "leaks", "harm": "harms"}[cheat.goal] if outcome.gains(cheat.goal) else "nothing"


def line(*words: str) -> str:
    """A line of the table."""
    return "".join(f"{word:<{width}}" for word, width in zip(words, WIDTHS, strict=True)).rstrip()


def run(name: str, arena: Arena, cheats: list[Cheat]) -> dict[str, Outcome]:
    """Try cheats in one arena, and say so."""
    print(f"{name}: {len(cheats)} cheats …", file=sys.stderr, flush=True)
    return arena.run(cheats)


def main() -> int:
    """Print the table. Returns: the exit status."""
    everything = [*CHEATS.values(), *LIMITS.values()]
    with tempfile.TemporaryDirectory(prefix="cheats-") as name:
        folder = Path(name)
        arenas = {where: make(folder / str(number)) for number, (where, make) in enumerate(ARENAS.items())}
        arenas["ours"] = arena = ours(folder / "ours")
        entered = {
            where: [cheat for cheat in everything if where in ("ours", "stock", cheat.works_on)]
            for where in arenas
        }
        with ThreadPoolExecutor(2) as pool:  # they wait for nbgrader's processes
            order = sorted(arenas, key=lambda where: -len(entered[where]))
            outcomes = pool.map(lambda where: run(where, arenas[where], entered[where]), order)
            proofs = dict(zip(order, outcomes, strict=True))
        mine = proofs["ours"]
        honest = [arena.points.get(student) for student in (*HONEST, NO_CHEAT)]
    print(line(*HEAD))
    failures = [] if honest == [20.0, 20.0, 0.0] else [f"honest work beside them got {honest}"]
    for cheat in everything:
        where, limit = cheat.works_on, cheat.id in LIMITS
        works, gains = proofs[where][cheat.id].gains(cheat.goal), mine[cheat.id].gains(cheat.goal)
        stock = shown(cheat, proofs["stock"][cheat.id], 6)
        print(line(cheat.id, stock, shown(cheat, mine[cheat.id], 20), "known limit" if limit else where))
        failures += [] if works or limit else [f"{cheat.id} does not work on {where}"]
        failures += [] if gains == limit else [f"{cheat.id} {'gains' if gains else 'no longer gains'}"]
    print("\n".join(failures) or f"{len(CHEATS)} cheats gain nothing; {len(LIMITS)} known limits do.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
