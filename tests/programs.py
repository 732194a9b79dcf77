"""Programs that not every machine has: skip the test, or fail it where they must be there."""

import os
import shutil
import sys

import pytest


def find_program(name: str, package: str) -> str:
    """The path of a program of a Debian package.

    Where it is missing the test is skipped, naming the install command; on a CI machine with Linux, which
    installs it, the test fails instead. Other systems skip: these tests are for Linux.
    """
    found = shutil.which(name)
    if found and sys.platform == "linux":
        return found
    reason = f"needs {name} on Linux: apt-get install {package}"
    if sys.platform == "linux" and os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI installs it, so its absence is an error)")
    pytest.skip(reason)
