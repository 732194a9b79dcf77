"""A course in a temporary folder, marked as `course mark` does or by nbgrader; and submissions for it."""

from __future__ import annotations

import atexit
import csv
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from commands import nbgrader
from course_lib.grading import sandbox
from course_lib.grading.class_feedback import make_pages
from course_lib.grading.class_marking import mark_class
from course_lib.grading.class_record import Done
from course_lib.grading.course import read_config

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Course:
    """A course with one assignment, a gradebook of its own and a fixed secret."""

    folder: Path
    assignment: str

    @classmethod
    def make(
        cls, folder: Path, assignment: str, *, secret: str = "a fixed secret", config: str = ""
    ) -> Course:
        """Copy the configuration (or write another one) and the sources, and generate the release."""
        course = cls(folder, assignment)
        if config:
            course._generate(config)
        else:
            shutil.copytree(_generated(assignment), folder)
        (folder / ".course_secret").write_text(secret, encoding="utf-8")
        return course

    def _generate(self, config: str) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
        shutil.copy(_empty_gradebook(), self.folder / "gradebook.db")
        shutil.copytree(ROOT / "solutions" / self.assignment, self.folder / "solutions" / self.assignment)
        self.run("generate_assignment", self.assignment)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one nbgrader command; a failure shows what it said."""
        if words[0] == "autograde" and sandbox.missing() is not None:  # macOS and Windows have no sandbox
            words = (*words, "--CollectAndJudge.unsandboxed=True")
        done = nbgrader(self.folder, words)
        assert done.returncode == 0, done.stderr[-4000:]
        return done

    def mark(self) -> list[Done]:
        """Mark what was handed in, as `course mark` does; everybody must get marks."""
        done = mark_class(self.folder, self.assignment, sandboxed=sandbox.missing() is None)
        assert [each for each in done if each.trouble] == []
        return done

    def give_feedback(self) -> None:
        """Make the feedback pages, as `course feedback` does."""
        assert [page for page in make_pages(self.folder, self.assignment) if page.trouble] == []

    def source(self) -> NotebookNode:
        """The solution notebook."""
        return nbformat.read(self.folder / "solutions" / self.assignment / f"{self.assignment}.ipynb", 4)

    def write_source(self, notebook: NotebookNode) -> None:
        """Put another solution notebook in the place of this one."""
        nbformat.write(notebook, self.folder / "solutions" / self.assignment / f"{self.assignment}.ipynb")

    def release(self) -> NotebookNode:
        """The notebook that students receive."""
        return nbformat.read(self.folder / "exercises" / self.assignment / f"{self.assignment}.ipynb", 4)

    def submit(self, student: str, notebook: NotebookNode) -> None:
        """Put a notebook where nbgrader finds a student's submission."""
        folder = self.folder / "submitted" / student / self.assignment
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{self.assignment}.ipynb")

    def resubmit(self, student: str, notebook: NotebookNode) -> None:
        """Put another notebook in the place of a student's submission."""
        nbformat.write(
            notebook, self.folder / "submitted" / student / self.assignment / f"{self.assignment}.ipynb"
        )

    def points(self) -> dict[str, dict[str, float]]:
        """From the gradebook: for each student the points of each test cell."""
        from nbgrader.api import Gradebook

        with Gradebook(self.db_url) as gradebook:
            return {
                each.student.id: {
                    grade.name: grade.score
                    for book in each.notebooks
                    for grade in book.grades
                    if grade.cell_type == "code"
                }
                for each in gradebook.assignment_submissions(self.assignment)
            }

    def in_words(self, student: str) -> dict[str, tuple[float, bool]]:
        """From the gradebook: the points of each answer in words, and whether it waits for a person."""
        from nbgrader.api import Gradebook

        with Gradebook(self.db_url) as gradebook:
            submission = gradebook.find_submission(self.assignment, student)
            return {
                grade.name: (grade.score, grade.needs_manual_grade)
                for book in submission.notebooks
                for grade in book.grades
                if grade.cell_type == "markdown"
            }

    def max_score(self) -> float:
        """From the gradebook: all points of the assignment, automatic ones and others."""
        from nbgrader.api import Gradebook

        with Gradebook(self.db_url) as gradebook:
            return gradebook.find_assignment(self.assignment).max_score

    def functions(self) -> dict[str, dict[str, float]]:
        """From the gradebook: for each student the points of each function."""
        totals: dict[str, dict[str, float]] = {}
        for student, cells in self.points().items():
            totals[student] = {}
            for cell, points in cells.items():
                function = cell.split("-", 1)[0]
                totals[student][function] = totals[student].get(function, 0.0) + points
        return totals

    def comments(self, student: str) -> dict[str, str]:
        """From the gradebook: the comment beside each answer."""
        from nbgrader.api import Gradebook

        with Gradebook(self.db_url) as gradebook:
            submission = gradebook.find_submission(self.assignment, student)
            return {each.name: each.auto_comment for book in submission.notebooks for each in book.comments}

    def marked(self, student: str) -> NotebookNode:
        """The notebook as formgrader shows it to a person who marks."""
        path = self.folder / "autograded" / student / self.assignment / f"{self.assignment}.ipynb"
        return nbformat.read(path, 4)

    def feedback(self, student: str) -> str:
        """The HTML page that a student gets back."""
        path = self.folder / "feedback" / student / self.assignment / f"{self.assignment}.html"
        return path.read_text(encoding="utf-8")

    def exported(self) -> dict[str, float]:
        """Each student's score in nbgrader's CSV."""
        self.run("export", "--to=grades.csv")
        with open(self.folder / "grades.csv", newline="", encoding="utf-8") as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    @property
    def db_url(self) -> str:
        return f"sqlite:///{self.folder / 'gradebook.db'}"


def _temporary() -> Path:
    """A folder that goes with this process."""
    place = Path(tempfile.mkdtemp(prefix="course-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@cache
def _empty_gradebook() -> Path:
    """A gradebook with nothing in it: to make one, nbgrader starts another program, which takes seconds."""
    from nbgrader.api import Gradebook

    read_config(ROOT)  # which makes nbgrader find that program
    path = _temporary() / "gradebook.db"
    Gradebook(f"sqlite:///{path}").close()
    return path


@cache
def _generated(assignment: str) -> Path:
    """The course's folder with an assignment's release generated, made once for all tests of a process."""
    course = Course(_temporary() / "course", assignment)
    course._generate((ROOT / "nbgrader_config.py").read_text(encoding="utf-8"))
    return course.folder


def answered(release: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """The released notebook with some answer cells filled in, by function."""
    notebook = nbformat.from_dict(release)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell.source = answers[name]
    return notebook


def answers_of(source: NotebookNode) -> dict[str, str]:
    """The text of every answer cell, by function."""
    return {name: cell.source for name, cell in _answers(source).items() if cell.cell_type == "code"}


def words_of(source: NotebookNode) -> dict[str, str]:
    """The text of every answer in words, which a person marks, by the name of its cell."""
    return {name: cell.source for name, cell in _answers(source).items() if cell.cell_type == "markdown"}


def schemes_of(source: NotebookNode) -> list[str]:
    """The mark schemes of a notebook, which students must not see."""
    texts = "\n".join(cell.source for cell in source.cells)
    return re.findall(r"### BEGIN MARK SCHEME(.*?)### END MARK SCHEME", texts, flags=re.DOTALL)


def phrases(text: str) -> list[str]:
    """Parts of a text, long enough to be its own, that look the same in Markdown and in HTML."""
    return re.findall(r"[A-Za-z,. ]{40,}", text)


def _answers(source: NotebookNode) -> dict[str, NotebookNode]:
    cells = (cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("solution"))
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}
