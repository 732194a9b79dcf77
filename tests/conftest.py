"""Shared by all tests: where the project lies, and what to do when a program is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from programs import find_program

collect_ignore_glob = ["conftest.py", "*/conftest.py"]  # they hold no doctests, and share one name
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def require_program() -> Callable[[str, str], str]:
    """`require_program(name, package)` gives the path of a program, or skips or fails: see programs.py."""
    return find_program
