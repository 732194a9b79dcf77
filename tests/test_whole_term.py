"""A simulated term: seven assignments, forty students, from collecting to the last export.

The answers come from the catalogue of mistakes, so marks, reports and exports are known beforehand.
It takes long; COURSE_TERM_STUDENTS=10 makes it shorter.
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
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest

from classes import Student, asked, class_of
from course_lib.checks.assignments import MODULES
from course_lib.command import main
from course_lib.grading import sandbox
from marking import ROOT, Course

pytestmark = pytest.mark.slow
SIZE = int(os.environ.get("COURSE_TERM_STUDENTS", "40"))
DUE = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
POLICY = "c.LatePolicy.per_day = 0.1\n"
LATE = {number for number in range(SIZE) if number % 10 == 3}  # a day late, each time


@dataclass(frozen=True)
class Term:
    """The course at its end, what each student handed in, and what each command said."""

    folder: Path
    students: dict[str, list[Student]]

    def run(self, *words: str) -> str:
        """Run a command of the course, which must go well."""
        said = io.StringIO()
        with chdir(self.folder), redirect_stdout(said):
            assert main(words) == 0, words
        return said.getvalue()

    def run_apart(self, *words: str) -> None:
        """Run one that starts processes of its own, or reads times without a zone."""
        code = [sys.executable, "-P", "-m", "course_lib.command", *words]
        done = subprocess.run(
            code, cwd=self.folder, capture_output=True, encoding="utf-8", timeout=1800, env=_environment()
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-1000:]} {done.stderr[-2000:]}"

    def points(self, name: str) -> dict[str, float]:
        """By student what the catalogue says is left, lateness taken off."""
        found = {each.id: each.points(name) for each in self.students[name]}
        return {id: points * (0.9 if int(id[1:]) in LATE else 1.0) for id, points in found.items()}


def _environment() -> dict[str, str]:
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"OMP_NUM_THREADS": "1", "PATH": beside, "TZ": "UTC"}


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Term]:
    folder = tmp_path_factory.mktemp("term") / "course"
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8") + POLICY
    first, *others = MODULES
    course = Course.make(folder, first, config=config)
    shutil.copytree(ROOT / "tests/mistakes", folder / "tests/mistakes")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    term = Term(folder, {})
    for name in MODULES:
        if name in others:
            shutil.copytree(ROOT / "solutions" / name, folder / "solutions" / name)
            course.run("generate_assignment", name)
        course.run("db", "assignment", "add", name, f"--duedate={DUE:%Y-%m-%d %H:%M} UTC")
        term.students[name] = list(class_of(Course(folder, name), SIZE))
        _hand_in(folder, name, term.students[name])
        term.run_apart("collect", name, f"{name}.zip", "--from", "moodle", "--roster", "class.csv")
        unsandboxed = ["--unsandboxed"] if sandbox.missing() is not None else []
        term.run_apart("mark", name, *unsandboxed)
        term.run_apart("feedback", name)
    yield term
    shutil.rmtree(folder)


def _hand_in(folder: Path, name: str, students: list[Student]) -> None:
    """Moodle's archive and its grading worksheet."""
    lines = ["Identifier,Full name,ID number,Email address,Last modified (submission)"]
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        for number, each in enumerate(students):
            time = DUE + timedelta(hours=5) if number in LATE else DUE - timedelta(hours=number + 1)
            lines.append(
                f'Participant {number + 1},Student {each.id},{each.id},,"{time:%A, %d %B %Y, %I:%M %p}"'
            )
            place = f"Student {each.id}_{number + 1}_assignsubmission_file/{name}.ipynb"
            archive.writestr(place, nbformat.writes(each.notebook))
    (folder / "class.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", MODULES)
def test_the_report_says_what_was_put_in(term: Term, name: str) -> None:
    data = json.loads(term.run("report", name, "--json"))
    assert data["points"] == pytest.approx(sorted(term.points(name).values()))
    found = {(each["function"], each["question"]): each["students"] for each in data["mistakes"]}
    assert found == dict(asked(term.students[name]))
    left = [function for each in term.students[name] for function in each.unwritten]
    assert data["not_written"] == {function: left.count(function) for function in set(left)}
    assert data["handed_in"]["up to a day late"] == len(LATE)
    assert data["not_recognised"] == []
    assert f"students: {SIZE}" in term.run("report", name)


@pytest.mark.parametrize("name", MODULES)
def test_marks_and_feedback_for_moodle_and_canvas_are_those_of_the_catalogue(term: Term, name: str) -> None:
    term.run("export", "moodle", name, "--roster", "class.csv")
    table = rows(term.folder / f"exports/moodle_{name}.csv")
    expected = term.points(name)
    assert {row["ID number"]: float(row["Grade"]) for row in table} == pytest.approx(expected, abs=0.005)
    for row, student in zip(table, term.students[name], strict=True):
        assert all(f"{each.function}: " in row["Feedback comments"] for each in student.mistakes)
    term.run("export", "canvas", name, "--roster", "class.csv")
    _, *found = rows(term.folder / f"exports/canvas_{name}.csv")
    assert {row["SIS User ID"]: float(row[name]) for row in found} == pytest.approx(expected, abs=0.005)
    term.run("export", "feedback-moodle", name, "--roster", "class.csv")
    with zipfile.ZipFile(term.folder / f"exports/feedback-moodle_{name}.zip") as archive:
        assert len(archive.namelist()) == SIZE


def test_the_terms_table_leaves_out_the_lowest_and_adds_up(term: Term) -> None:
    term.run("export", "term", "--roster", "class.csv", "--drop-lowest", "1")
    points = {name: term.points(name) for name in MODULES}
    for row in rows(term.folder / "exports/term.csv"):
        mine = sorted(points[name][row["student"]] for name in MODULES)
        assert float(row["percent"]) == pytest.approx(100 * sum(mine[1:]) / (20 * 6), abs=0.01)


def test_every_question_of_everybody_is_in_the_tables_for_analysis(term: Term) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    term.run("export", "questions")
    term.run("export", "parquet")
    table = rows(term.folder / "exports/questions.csv")
    typed = parquet.read_table(term.folder / "exports/parquet.parquet").to_pylist()
    assert [float(row["points"]) for row in table] == [row["points"] for row in typed]
    for name in MODULES:
        total = sum(row["points"] for row in typed if row["assignment"] == name)
        assert total == sum(each.points(name) for each in term.students[name])
