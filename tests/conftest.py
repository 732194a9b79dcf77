"""Shared by all tests: where the project lies, what to do when a program is missing, and who runs what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs import find_program

collect_ignore_glob = ["conftest.py", "*/conftest.py"]  # they hold no doctests, and share one name
ROOT = Path(__file__).resolve().parents[1]
# What takes longest is begun first, so that no worker is left alone with it at the end.
LONGEST = ("tests/test_catalogue.py", "notebooks/", "tests/test_pipeline.py", "tests/browser/")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def require_program() -> Callable[[str, str], str]:
    """`require_program(name, package)` gives the path of a program, or skips or fails: see programs.py."""
    return find_program


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes longest in front; the cells of a notebook stay in order."""

    def rank(item: pytest.Item) -> int:
        return next((i for i, each in enumerate(LONGEST) if item.nodeid.startswith(each)), len(LONGEST))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers take whole files, in that order, but of a file that marks all assignments one at a time."""
    import re

    from xdist.scheduler import LoadFileScheduling

    class ByFileAndAssignment(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            assignment = re.search(r"\[(0\d_\w+)\]$", nodeid)
            return super()._split_scope(nodeid) + (assignment[0] if assignment else "")

    config.option.loadscopereorder = False
    return ByFileAndAssignment(config, log)
