"""The processes that mark a class here: as many warm parents as they need, and what becomes of dead ones."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from course_lib.grading import workers
from course_lib.grading.workers import FORKS_FOR, Local
from programs import find_program

MODULES = ["json"]


class Parent:
    """In place of a warm parent: it counts."""

    made: list[Parent]

    def __init__(self, modules: Any) -> None:
        self.alive, self.closed, self.lines = True, False, 0
        Parent.made.append(self)

    def line(self) -> Any:
        self.lines += 1
        return _Line()

    def close(self) -> None:
        self.alive, self.closed = False, True


class _Line:
    def __init__(self) -> None:
        self.control = open(os.devnull, "rb")  # noqa: SIM115


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Parent]:
    """The parents that were made."""
    Parent.made = []
    monkeypatch.setattr(workers, "WarmParent", Parent)
    monkeypatch.setattr(workers, "sys", SimpleNamespace(platform="linux"))
    return Parent.made


@pytest.mark.parametrize(
    ("processes", "parents"), [(1, 1), (FORKS_FOR, 1), (FORKS_FOR + 1, 2), (20, 5), (500, 15)]
)
def test_there_is_a_parent_for_every_four_processes_and_they_take_turns(
    made: list[Parent], processes: int, parents: int
) -> None:
    with Local(processes, MODULES, sandboxed=True) as local:
        assert len(made) == parents
        for _ in range(local.workers):
            with local._with_line():
                pass
        assert max(each.lines for each in made) <= FORKS_FOR
    assert all(each.closed for each in made)


def test_a_parent_that_died_is_replaced_when_a_process_starts(made: list[Parent]) -> None:
    with Local(2, MODULES, sandboxed=True) as local:
        made[0].alive = False
        with local._with_line():
            pass
        assert [(each.closed, each.lines) for each in made] == [(True, 0), (False, 1)]


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_where_there_is_no_sandbox_no_parent_is_tried(
    made: list[Parent], monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(workers, "sys", SimpleNamespace(platform=platform))
    with Local(2, MODULES, sandboxed=True):
        assert made == []


def test_processes_whose_marker_stops_early_say_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    find_program("bwrap", "bubblewrap")
    with pytest.raises(KeyboardInterrupt):
        _stop_early()
    assert "cold" not in "".join(capfd.readouterr())


def _stop_early() -> None:
    with Local(3, ["torch"], sandboxed=True) as local:
        local.start()
        raise KeyboardInterrupt
