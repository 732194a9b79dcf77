"""The course secret: the instructor's own file, on which all hidden inputs depend."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from course_lib.errors import CourseError

NAME = ".course_secret"


def read_or_make(path: Path) -> str:
    """The secret in the file; a new one is made, readable by its owner only, where there is no file.

    Raises: CourseError when the file is empty or cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise CourseError(f"{path}: cannot make the course secret ({error.strerror})") from None
    else:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(32) + "\n")
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: cannot read the course secret ({error})") from None
    if not secret:
        raise CourseError(
            f"{path}: the course secret is empty; restore it from a copy, or delete the file for a new one"
        )
    return secret


def fingerprint(secret: str) -> str:
    """Twelve letters that tell secrets apart and give none away; stored with the marks."""
    return hashlib.sha256(b"fingerprint of a course secret: " + secret.encode()).hexdigest()[:12]
