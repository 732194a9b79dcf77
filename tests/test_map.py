"""The course's map names what there is, and shows what is missing."""

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from course_lib.checks.assignments import MODULES, load
from course_lib.command import main
from course_lib.grading.catalogue import read
from course_lib.term import chapters, overview, overview_page
from course_lib.term.taught import TAUGHT

ROOT = Path(__file__).resolve().parents[1]
NAME = "01_soft_lookup"


@pytest.mark.parametrize("name", MODULES)
def test_what_is_written_by_hand_names_goals_sections_exercises_and_mistakes_that_exist(name):
    taught, sections = TAUGHT[name], chapters.sections(ROOT, name)
    goals = chapters.goals(ROOT, name)
    assert goals
    assert [sum(goal.startswith(begin) for goal in goals) for begin in taught.goals] == [1] * len(goals)
    named = {cell for cells in (*taught.goals.values(), *taught.exercises.values()) for cell in cells}
    assert named | set(taught.mistakes.values()) <= set(sections)
    functions = [exercise.function for exercise in load(name).exercises]
    assert list(taught.exercises) == [*functions, *chapters.in_words(ROOT, name)]
    ids = [each.id for each in read(ROOT, name).mistakes]
    assert [pattern for pattern in taught.mistakes if not any(fnmatchcase(id, pattern) for id in ids)] == []


@pytest.fixture(scope="module")
def made():
    return overview.chapter(ROOT, NAME)


def test_a_goal_leads_over_sections_and_exercises_to_tests_and_mistakes(made):
    goal = made.goals[0]
    assert "How do scores become weights?" in [section.heading for section in goal.sections]
    softmax = next(each for each in goal.exercises if each.name == "softmax")
    assert sum(test.points for test in softmax.tests) == 6
    assert "softmax-axis-0" in softmax.tests[0].mistakes
    assert "softmax-no-maximum" in softmax.tests[1].mistakes


def test_answers_in_words_are_in_it_and_are_no_hole():
    found = overview.chapter(ROOT, "07_limits_of_one_layer")
    words = {each.name: each.tests[0] for each in found.exercises if each.tests[0].by_hand}
    assert {name: test.points for name, test in words.items()} == {"by_order": 2, "by_depth": 2}
    assert not any("by_order" in hole or "by_depth" in hole for hole in found.holes)


def test_what_is_taken_away_shows_as_a_hole(monkeypatch, made):
    taught = TAUGHT[NAME]
    goals = dict(list(taught.goals.items())[1:])
    exercises = taught.exercises | {"sharpen": ()}
    monkeypatch.setitem(TAUGHT, NAME, replace(taught, goals=goals, exercises=exercises))
    catalogue = read(ROOT, NAME)
    fewer = tuple(each for each in catalogue.mistakes if each.function != "softmax")
    monkeypatch.setattr(overview, "read", lambda *_: replace(catalogue, mistakes=fewer))
    new = set(overview.chapter(ROOT, NAME).holes) - set(made.holes)
    goal = made.goals[0].text
    assert {f"no section leads to the goal “{goal}”", f"no exercise asks for the goal “{goal}”"} <= new
    assert {
        "no section teaches sharpen",
        "the section “1 · How do scores become weights?” serves no goal",
    } <= new
    assert "no known mistake is found by softmax-ordinary alone" in new


def test_the_page_links_to_sections_and_lists_the_holes(made, tmp_path):
    links = chapters.Links(tmp_path, tmp_path / "exports" / "map.html")
    page = overview_page.as_page([made], links)
    assert 'href="../notebooks/01_soft_lookup.ipynb#How-do-scores-become-weights?"' in page
    assert all(
        hole.replace("“", "").split(" · ")[-1].rstrip("”") in page.replace("“", "") for hole in made.holes
    )
    assert page == overview_page.as_page([made], links)


def test_every_kind_of_hole_is_explained_at_the_end_of_the_page(made, tmp_path):
    page = overview_page.as_page([made], chapters.Links(tmp_path, tmp_path / "map.html"))
    explained = page.partition("What a hole means")[2]
    kinds = {
        "no section leads to": "No section leads to a goal",
        "no exercise asks for": "No exercise asks for a goal",
        "serves no goal": "A section serves no goal",
        "no section teaches": "No section teaches a function",
        "no known mistake is found by": "No known mistake is found by a test alone",
    }
    assert [each for each in kinds.values() if each not in explained] == []
    every = [hole for name in MODULES for hole in overview.chapter(ROOT, name).holes]
    assert [hole for hole in every if not any(kind in hole for kind in kinds)] == []


def test_links_lead_to_the_site_where_it_is_built(tmp_path):
    (section, *_) = chapters.sections(ROOT, NAME).values()
    built = tmp_path / "build/site/01_soft_lookup.html"
    built.parent.mkdir(parents=True)
    built.touch()
    links = chapters.Links(tmp_path, tmp_path / "exports" / "map.html")
    assert links.to(section).startswith("../build/site/01_soft_lookup.html#What-does-a-dictionary-do")


def test_a_page_on_another_drive_has_whole_addresses(tmp_path, monkeypatch):
    def of_another_drive(*_):
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    (section, *_) = chapters.sections(ROOT, NAME).values()
    with monkeypatch.context() as patch:
        patch.setattr(chapters.os.path, "relpath", of_another_drive)
        address = chapters.Links(tmp_path, tmp_path / "map.html").to(section)
    assert address == f"{(tmp_path / 'notebooks' / NAME).as_uri()}.ipynb#{section.anchor}"


def test_the_command_writes_the_page_where_it_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    to = tmp_path / "new" / "x.html"
    assert main(["map", f"--to={to}", "--site=https://course.example"]) == 0
    assert capsys.readouterr().out.startswith(f"{to}: {len(MODULES)} chapters, ")
    assert 'href="https://course.example/01_soft_lookup.html#' in to.read_text(encoding="utf-8")


def test_the_command_prints_data_for_every_chapter(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["map", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [each["chapter"] for each in data] == list(MODULES)
    assert all(each["goals"] and each["exercises"] for each in data)
