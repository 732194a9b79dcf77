"""A simulated term: seven assignments, forty students, from the bundle that they receive to exported marks.

Each week everybody hands in what has drawn mistakes from the catalogue, some late, some a second time after
they were marked, and two files are broken. So marks, reports and exports are known beforehand.
With forty students it took 36 minutes on two cores that were busy; COURSE_TERM_STUDENTS=4 makes it shorter.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from classes import asked
from course_lib.checks.assignments import MODULES
from course_lib.command import main
from course_lib.grading import sandbox
from course_lib.term import bundle
from marking import ROOT, Course
from weeks import DUE, FOR_WORDS, IN_WORDS, PER_DAY, Week, days_late

pytestmark = pytest.mark.slow
SIZE = int(os.environ.get("COURSE_TERM_STUDENTS", "40"))
SAID = "Well seen, and short."


@dataclass(frozen=True)
class Term:
    """The course at its end, what each student handed in, and what an export said before that was marked."""

    folder: Path
    weeks: dict[str, Week] = field(default_factory=dict)
    too_early: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str) -> str:
        """Run a command of the course, which must go well."""
        said = io.StringIO()
        with chdir(self.folder), redirect_stdout(said):
            assert main(words) == 0, (words, said.getvalue())
        return said.getvalue()

    def run_apart(self, *words: str) -> None:
        """Run one that starts processes of its own, or reads times without a zone."""
        beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = os.environ | {"OMP_NUM_THREADS": "1", "PATH": beside, "TZ": "UTC"}
        code = [sys.executable, "-P", "-m", "course_lib.command", *words]
        done = subprocess.run(
            code, cwd=self.folder, capture_output=True, encoding="utf-8", timeout=1800, env=env
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-1000:]} {done.stderr[-2000:]}"

    def collect(self, name: str, archive: str) -> None:
        """Take in what was handed in on Moodle."""
        self.run_apart("collect", name, archive, "--from", "moodle", "--roster", "class.csv")

    def mark(self, name: str) -> None:
        """Mark what is new."""
        self.run_apart("mark", name, *(["--unsandboxed"] if sandbox.missing() is not None else []))


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Term]:
    place = tmp_path_factory.mktemp("term")
    term = Term(place / "course")
    begin(term)
    with zipfile.ZipFile(term.folder / f"dist/{bundle.NAME}.zip") as archive:
        archive.extractall(place)
    for name in MODULES:
        release = nbformat.read(place / bundle.NAME / "exercises" / name / f"{name}.ipynb", 4)
        week = term.weeks[name] = Week.draw(Course(term.folder, name), release, SIZE)
        week.download(week.first(), term.folder / "first.zip", term.folder / "class.csv")
        term.collect(name, "first.zip")
        term.mark(name)
        week.download(week.last(), term.folder / "last.zip", term.folder / "class.csv")
        term.collect(name, "last.zip")
        term.too_early[name] = term.run("export", "questions", name)
        term.mark(name)
        mark_words(Course(term.folder, name))
        term.run_apart("feedback", name)
    yield term
    shutil.rmtree(place)


def begin(term: Term) -> None:
    """The course with its assignments in the gradebook, and what students receive."""
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    config += f"c.LatePolicy.per_day = {PER_DAY}\n"
    course = Course.make(term.folder, next(iter(MODULES)), config=config)
    for each in ("tests/mistakes", "notebooks", "course_lib"):
        shutil.copytree(ROOT / each, term.folder / each, ignore=shutil.ignore_patterns("__pycache__"))
    for each in (*bundle.COPIED, ".gitignore", "Makefile", "pyproject.toml"):
        shutil.copy(ROOT / each, term.folder)
    for name in MODULES:
        if name != course.assignment:
            shutil.copytree(ROOT / "solutions" / name, term.folder / "solutions" / name)
            course.run("generate_assignment", name)
        course.run("db", "assignment", "add", name, f"--duedate={DUE:%Y-%m-%d %H:%M} UTC")
    term.run("bundle")


def mark_words(course: Course) -> None:
    """Give points and a comment for each answer in words that waits for a person, as Formgrader does."""
    name = course.assignment
    with Gradebook(course.db_url) as gradebook:
        for submission in gradebook.assignment_submissions(name):
            for grade in [grade for book in submission.notebooks for grade in book.grades]:
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = FOR_WORDS, False
                    comment = gradebook.find_comment(grade.name, name, name, submission.student.id)
                    comment.manual_comment = SAID
        gradebook.db.commit()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", MODULES)
def test_the_report_says_what_was_put_in(term: Term, name: str) -> None:
    week, data = term.weeks[name], json.loads(term.run("report", name, "--json"))
    points = week.points()
    assert data["points"] == pytest.approx(sorted(points[each.id] for each in week.read))
    assert (data["unreadable"], data["waiting"], data["unmarked"]) == (week.unreadable, [], [])
    found = Counter({(each["function"], each["question"]): each["students"] for each in data["mistakes"]})
    assert asked(week.read) - found == Counter()
    # Words of the judge that fit several mistakes, and are no question of one, name all of them.
    assert [question for _, question in found - asked(week.read) if question.endswith(("?", "."))] == []
    left = [function for each in week.read for function in each.unwritten]
    assert data["not_written"] == {function: left.count(function) for function in set(left)}
    late = [days_late(each.id) for each in week.read]
    assert data["handed_in"]["up to a day late"] == late.count(1)
    assert data["handed_in"]["later"] == late.count(2)
    assert data["not_recognised"] == []
    assert f"students: {len(week.read)}" in term.run("report", name)


@pytest.mark.parametrize("name", MODULES)
def test_marks_for_moodle_and_canvas_are_what_the_drawn_mistakes_cost(term: Term, name: str) -> None:
    week = term.weeks[name]
    expected = pytest.approx(week.points(), abs=0.005)
    term.run("export", "moodle", name, "--roster", "class.csv")
    table = rows(term.folder / f"exports/moodle_{name}.csv")
    assert {row["ID number"]: float(row["Grade"]) for row in table} == expected
    for row, student in zip(table, week.students, strict=True):
        said = row["Feedback comments"]
        assert student not in week.read or all(f"{each.function}: " in said for each in student.mistakes)
        assert (SAID in said) == bool(week.by_hand(student))
    term.run("export", "canvas", name, "--roster", "class.csv")
    _, *found = rows(term.folder / f"exports/canvas_{name}.csv")
    assert {row["SIS User ID"]: float(row[name]) for row in found} == expected


@pytest.mark.parametrize("name", MODULES)
def test_everybody_gets_a_page_and_a_broken_file_is_told_there(term: Term, name: str) -> None:
    week = term.weeks[name]
    term.run("export", "feedback-moodle", name, "--roster", "class.csv")
    with zipfile.ZipFile(term.folder / f"exports/feedback-moodle_{name}.zip") as archive:
        assert len(archive.namelist()) == SIZE
    (unreadable,) = week.unreadable
    assert week.broken[unreadable].says in Course(term.folder, name).feedback(unreadable)


def test_the_terms_table_leaves_out_the_lowest_and_adds_up(term: Term) -> None:
    term.run("export", "term", "--roster", "class.csv", "--drop-lowest", "1")
    points = [week.points() for week in term.weeks.values()]
    for row in rows(term.folder / "exports/term.csv"):
        mine = sorted(each[row["student"]] for each in points)
        assert float(row["percent"]) == pytest.approx(100 * sum(mine[1:]) / (20 * 6), abs=0.01)


def test_every_question_of_everybody_is_in_the_tables_for_analysis(term: Term) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    term.run("export", "questions")
    term.run("export", "parquet")
    table = rows(term.folder / "exports/questions.csv")
    typed = parquet.read_table(term.folder / "exports/parquet.parquet").to_pylist()
    assert [float(row["points"]) for row in table] == [row["points"] for row in typed]
    for name, week in term.weeks.items():
        total = sum(row["points"] for row in typed if row["assignment"] == name)
        assert total == sum(each.points(name) + week.by_hand(each) for each in week.read)


@pytest.mark.parametrize("name", MODULES)
def test_who_handed_in_again_is_named_until_that_is_marked(term: Term, name: str) -> None:
    first, last = term.weeks[name].first(), term.weeks[name].last()
    new = [id for id in last if last[id] is not first.get(id)]
    said = f"{len(new)} handed in what is not marked yet"
    assert said in term.too_early[name]
    assert f": {', '.join(new)}; run course mark {name}" in term.too_early[name]
    assert "not marked yet" not in term.run("export", "questions", name)


def test_words_were_marked_by_hand_in_the_chapter_that_asks_for_them(term: Term) -> None:
    """Or the comparison of marks would not include them."""
    given = {name: sum(map(week.by_hand, week.students)) for name, week in term.weeks.items()}
    assert {name for name, points in given.items() if points} == {"07_limits_of_one_layer"}
    assert set(IN_WORDS) <= {row["question"] for row in rows(term.folder / "exports/questions.csv")}
