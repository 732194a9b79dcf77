"""What a class hands in each week of a simulated term, drawn so that every mark is known beforehand."""

from __future__ import annotations

import random
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from broken.entry import ALL, Broken
from broken.files import FILES
from cheats.cheat import NAME, Submission
from classes import Student, class_of
from course_lib.checks.assignments import MODULES
from marking import Course, answered

DUE = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
PER_DAY = 0.1  # of the points
IN_WORDS = {"by_order": "Each key depends on its token alone."}  # what every third student writes
FOR_WORDS = 1.5  # points that a person gives for it
NOT_UPLOADED = ("huge", "folder", "dangling", "pipe", "pipe-beside", "latin-1")  # or not of every exercise
UNREADABLE = [each for each in FILES if each.points == 0 and each.id not in NOT_UPLOADED]
ODD = [each for each in FILES if each.points == ALL and each.id not in NOT_UPLOADED]


def number_of(student: str) -> int:
    """The place in the class of s007: 7."""
    return int(student[1:])


def days_late(student: str) -> int:
    """How many days late a student is, each week."""
    return {3: 1, 7: 2}.get(number_of(student) % 10, 0)


def comes_again(student: str) -> bool:
    """Whether a student hands in twice: some on time, some the second time late."""
    return number_of(student) % 5 in (1, 3)


def writes_words(student: str) -> bool:
    """Whether a student answers in words where that is asked."""
    return number_of(student) % 3 == 0


@dataclass(frozen=True)
class Week:
    """One assignment: what counts of each student, what some handed in before, and whose file is broken."""

    name: str
    students: list[Student]
    earlier: dict[str, Student]
    broken: dict[str, Broken]

    @classmethod
    def draw(cls, course: Course, release: NotebookNode, size: int) -> Week:
        """Draw the mistakes, and two broken files of which one can be read; each kind comes once a term."""
        name = course.assignment
        students, before = (list(class_of(course, release, size, seed)) for seed in (0, 1))
        for each in students:
            if writes_words(each.id):
                each.notebook.update(answered(each.notebook, IN_WORDS))
        order = {kind: random.Random(kind) for kind in ("unreadable", "odd")}
        week = list(MODULES).index(name)
        kinds = [order["unreadable"].sample(UNREADABLE, len(MODULES))[week]]
        kinds += [order["odd"].sample(ODD, len(MODULES))[week]]
        unlucky = random.Random(name).sample([each.id for each in students], len(kinds))
        earlier = {each.id: each for each in before if comes_again(each.id)}
        return cls(name, students, earlier, dict(zip(unlucky, kinds, strict=True)))

    @property
    def unreadable(self) -> list[str]:
        """Whose file cannot be read."""
        return sorted(id for id, each in self.broken.items() if each in UNREADABLE)

    @property
    def read(self) -> list[Student]:
        """Those whose file can be read."""
        return [each for each in self.students if each.id not in self.unreadable]

    def by_hand(self, student: Student) -> float:
        """The points that a person gives."""
        asked = student in self.read and any(
            cell.source in IN_WORDS.values() for cell in student.notebook.cells
        )
        return FOR_WORDS if asked else 0.0

    def points(self) -> dict[str, float]:
        """By student what the drawn mistakes leave, lateness and broken files taken off."""
        left = {
            each.id: each.points(self.name) * (1 - PER_DAY * days_late(each.id)) + self.by_hand(each)
            for each in self.read
        }
        return {each.id: left.get(each.id, 0.0) for each in self.students}

    def first(self) -> dict[str, Student]:
        """What has come by two days before the due date: earlier attempts, and of the others every second."""
        return {each.id: each for each in self.students[::2]} | self.earlier

    def last(self) -> dict[str, Student]:
        """What has come in the end."""
        return {each.id: each for each in self.students}

    def download(self, attempts: Mapping[str, Student], archive: Path, worksheet: Path) -> None:
        """Write the archive of all that has come, and the grading worksheet, as Moodle does."""
        lines = ["Identifier,Full name,ID number,Email address,Last modified (submission)"]
        with zipfile.ZipFile(archive, "w") as file:
            for id in self.last():
                time = f"{self._time(id, attempts[id]):%A, %d %B %Y, %I:%M %p}" if id in attempts else "-"
                participant = number_of(id) + 1
                lines.append(f'Participant {participant},Student {id},{id},,"{time}"')
                for name, data in self._files(attempts[id]).items() if id in attempts else ():
                    file.writestr(f"Student {id}_{participant}_assignsubmission_file/{name}", data)
        worksheet.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _time(self, id: str, attempt: Student) -> datetime:
        if attempt is self.earlier.get(id):
            return DUE - timedelta(days=6)
        if days_late(id):
            return DUE + timedelta(hours=24 * days_late(id) - 19)
        early = number_of(id) % 2 == 0 and not comes_again(id)
        return DUE - timedelta(hours=1 + number_of(id) + (48 if early else 0))

    def _files(self, attempt: Student) -> dict[str, bytes]:
        """What a student uploads, by name; the broken file takes the place of the last attempt."""
        with tempfile.TemporaryDirectory() as place:
            submission = Submission(attempt.notebook, Path(place), Path(place))
            nbformat.write(attempt.notebook, submission.file)
            if attempt.id in self.broken and attempt is not self.earlier.get(attempt.id):
                self.broken[attempt.id].change(submission)
            return {path.name.replace(NAME, self.name): path.read_bytes() for path in Path(place).iterdir()}
