"""Files, with care: what a student handed in is read within bounds, what is kept is written whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from course_lib.errors import CourseError

MAX_BYTES = 20 * 2**20


def read_bytes(path: Path) -> bytes:
    """What a student's file holds: no link is followed, and not more is read than a notebook may have.

    Raises: CourseError in one line.
    """
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            raise CourseError(f"{path}: a link, not a file; submit the notebook itself")
        if stat.S_ISDIR(found.st_mode):
            raise CourseError(f"{path}: a folder, not a notebook")
        if not stat.S_ISREG(found.st_mode):
            raise CourseError(f"{path}: not a regular file")
        if found.st_size > MAX_BYTES:
            raise CourseError(f"{path}: {too_large(found.st_size)}")
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise CourseError(f"{path}: no such file") from None
    except OSError as error:
        raise CourseError(f"{path}: cannot be read ({error.strerror})") from None


def too_large(size: int) -> str:
    """What is wrong with a file of more than `MAX_BYTES`, and what to do about it."""
    mib, most = round(size / 2**20), MAX_BYTES // 2**20
    return f"{mib} MB, and at most {most} MB can be read; clear its outputs, save it and submit it again"


def write_whole(path: Path, text: str) -> None:
    """Write a file that is never seen half: it is replaced when all of the text is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        if os.name == "nt" and path.exists():
            path.chmod(0o600)  # Windows replaces no file that is read-only
        os.replace(temporary, path)
    except OSError:  # such as a full disk
        temporary.unlink(missing_ok=True)
        raise
