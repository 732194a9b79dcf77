"""Who started whom, on Linux."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def parents() -> dict[int, int]:
    """The process that each running process was started by, or was left to."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return found


def children(process: int) -> set[int]:
    """The processes whose parent this one is."""
    return {each for each, parent in parents().items() if parent == process}


def descendants(process: int) -> set[int]:
    """The processes that a process has started, and those that these have."""
    known, found, newest = parents(), set[int](), {process}
    while newest:
        newest = {each for each, parent in known.items() if parent in newest}
        found |= newest
    return found
