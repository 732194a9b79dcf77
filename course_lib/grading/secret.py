"""The course secret: the instructor's own file, on which all hidden inputs depend."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from course_lib.errors import CourseError

NAME = ".course_secret"
OTHER_SECRET = f"Marks were made here with another course secret; restore {NAME}, or mark everyone again."


def read_or_make(path: Path) -> str:
    """The secret in the file; a new one is made, readable by its owner only, where there is no file.

    Raises: CourseError when the file is empty or cannot be read, or is gone though marks were made with it.
    """
    if not path.exists():
        if used(path):
            raise CourseError(
                f"{path}: the course secret is gone, and marks were made with it; restore it from a copy, or "
                f"delete {_record(path)} for a new one and mark everyone again"
            )
        _make(path)
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: cannot read the course secret ({error})") from None
    if not secret:
        raise CourseError(
            f"{path}: the course secret is empty; restore it from a copy, or delete the file for a new one"
        )
    return secret


def _make(path: Path) -> None:
    """A new secret: complete when it appears, and never in place of another."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(32) + "\n")
        try:
            os.link(name, path)
        except FileExistsError:
            pass  # another marker was faster
        finally:
            os.unlink(name)
    except OSError as error:
        raise CourseError(f"{path}: cannot make the course secret ({error.strerror})") from None


def used(path: Path) -> list[str]:
    """The fingerprints of the secrets in this file with which marks were made, oldest first."""
    record = _record(path)
    return record.read_text(encoding="utf-8").split() if record.exists() else []


def record_use(path: Path, secret: str) -> bool:
    """Note that marks are made with the secret. Returns: whether others were made with another one only."""
    before, mine = used(path), fingerprint(secret)
    if mine not in before:
        with _record(path).open("a", encoding="utf-8") as file:
            file.write(mine + "\n")
    return bool(before) and mine not in before


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.used")


def fingerprint(secret: str) -> str:
    """Twelve letters that tell secrets apart and give none away; stored with the marks."""
    return hashlib.sha256(b"fingerprint of a course secret: " + secret.encode()).hexdigest()[:12]
