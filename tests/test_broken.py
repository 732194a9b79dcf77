"""What is broken is repaired or gets no points with the reason, and nobody else notices.

One run of nbgrader over all entries of the catalogue, with time limits of a few seconds.
"""

from __future__ import annotations

import html
import re

import pytest

from broken.catalogue import BROKEN
from cheats.arena import HONEST, NO_CHEAT, Arena
from cheats.arenas import OURS, ours, solution
from course_lib.grading import sandbox
from marking import answers_of
from programs import find_program

pytestmark = pytest.mark.slow

LIMITS = "\nc.JudgedExecute.timeout = 4\nc.JudgedExecute.total = 40\n"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """A class in which every submission but three is broken."""
    find_program("bwrap", "bubblewrap")
    assert sandbox.missing() is None  # or hostile code would run with our own rights
    made = ours(tmp_path_factory.mktemp("broken") / "ours")
    made.config, made.answers = OURS + LIMITS, answers_of(solution())
    made.outcomes = made.run([broken.entry for broken in BROKEN.values()])
    return made


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_repaired_or_refused_in_words(arena: Arena, name: str) -> None:
    broken = BROKEN[name]
    assert arena.points.get(name) == broken.points, broken.what
    assert not arena.outcomes[name].harmed
    assert re.search(broken.says, html.unescape(arena.page(name)))


def test_honest_work_beside_them_keeps_all_its_points(arena: Arena) -> None:
    assert [arena.points[student] for student in (*HONEST, NO_CHEAT)] == [20, 20, 0]


def test_no_traceback_of_ours_reaches_a_page_or_the_log(arena: Arena) -> None:
    assert "Traceback" not in arena.said
    ours = ("course_lib/grading", "course_lib/checks")
    assert not [name for name in BROKEN if any(each in arena.page(name) for each in ours)]


def test_the_catalogue_has_a_hundred_entries() -> None:
    assert len(BROKEN) >= 100
    assert all(name == each.id and each.what for name, each in BROKEN.items())
