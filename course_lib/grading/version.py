"""What marks and pages depend on beside the submission, as a digest: when it changes, all are made again."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]
# What marks may depend on beside the assignment: the parts that judge, and the libraries that compute.
JUDGING = ("checks", "grading", "term/late.py")
LIBRARIES = ("numpy", "torch", "ipykernel", "ipython", "nbformat", "nbgrader")


def assignment_version(solution: Path, secret: str, *, sandboxed: bool, settings: Mapping[str, Any]) -> str:
    """What marks depend on beside the submission. A change of any of it marks everyone again."""
    told = f"{secret}\n{sandboxed}\n{sys.version}\n{sorted(settings.items())}\n"
    digest = hashlib.sha256(told.encode())
    digest.update(solution.read_bytes())
    digest.update(code_version(JUDGING, LIBRARIES, but="*feedback*").encode())
    return digest.hexdigest()


def code_version(parts: Sequence[str], libraries: Sequence[str], *, but: str = "") -> str:
    """What tells the code of these parts of course_lib, and these libraries, from others.

    Parameters: but, a pattern of files that make no difference.
    """
    kinds = (".py", ".json", ".j2", ".css")
    digest = hashlib.sha256("\n".join(f"{name} {version_of(name)}" for name in libraries).encode())
    for part in parts:
        for path in sorted([PACKAGE / part, *(PACKAGE / part).rglob("*")]):
            if path.suffix in kinds and not fnmatch(path.name, but):
                digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
