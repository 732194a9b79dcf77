"""Shared by all tests: where the project lies, and what to do when a program is missing."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def require_program() -> Callable[[str, str], str]:
    """`require_program(name, package)` gives the path of a program that not every machine has.

    Where it is missing the test is skipped, naming the install command; on a CI machine with Linux, which
    installs it, the test fails instead. Other systems skip: these tests are for Linux.
    """
    return find_program


def find_program(name: str, package: str) -> str:
    """See require_program."""
    found = shutil.which(name)
    if found and sys.platform == "linux":
        return found
    reason = f"needs {name} on Linux: apt-get install {package}"
    if sys.platform == "linux" and os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI installs it, so its absence is an error)")
    pytest.skip(reason)
