"""When a submission was handed in, as nbgrader's collectors write it into timestamp.txt."""

from __future__ import annotations

import os
import stat
from datetime import datetime
from pathlib import Path

NAME = "timestamp.txt"
MAX_BYTES = 1000


def read_timestamp(folder: Path) -> str | None:
    """What the file says, or None where there is none, or no collector wrote it: a link, a folder."""
    path = folder / NAME
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return None
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace").strip()
    except OSError:
        return None


def handed_in_at(folder: Path) -> datetime | None:
    """The time in UTC; None where it is not known."""
    from nbgrader.utils import parse_utc

    try:
        return parse_utc(read_timestamp(folder) or None)
    except (ValueError, OverflowError):
        return None
