"""When a submission was handed in, as nbgrader's collectors write it into timestamp.txt."""

from __future__ import annotations

import os
import stat
from datetime import datetime
from pathlib import Path

NAME = "timestamp.txt"
MAX_BYTES = 1000


def read_small(path: Path) -> bytes | None:
    """What a small file holds, or None where there is none, or no collector wrote it: a link, a folder."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return None
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return None


def read_timestamp(folder: Path) -> str | None:
    """What the file of a submission says, or None where there is none that a collector wrote."""
    data = read_small(folder / NAME)
    return None if data is None else data.decode("utf-8", errors="replace").strip()


def keep_timestamp(submitted: Path, marked: Path) -> None:
    """Put the time of a submission beside its marked copy, where nbgrader tells a newer one from it."""
    time = read_timestamp(submitted)
    if time is not None:
        marked.mkdir(parents=True, exist_ok=True)
        (marked / NAME).write_text(f"{time}\n", encoding="utf-8")


def handed_in_at(folder: Path) -> datetime | None:
    """The time in UTC; None where it is not known."""
    from nbgrader.utils import parse_utc

    try:
        return parse_utc(read_timestamp(folder) or None)
    except (ValueError, OverflowError):
        return None
