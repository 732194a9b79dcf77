"""Several users of one machine, as on a shared JupyterHub: nbgrader's exchange, and its locks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

import as_user
from as_user import INSTRUCTOR, OTHER, STUDENT
from course_lib.grading import sandbox
from marking import ROOT, Course, answered, answers_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(as_user.missing() is not None, reason=str(as_user.missing())),
    pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing())),
]
NAME = "01_soft_lookup"
STUDENTS_CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "one_layer_of_attention"\n'


@dataclass(frozen=True)
class Shared:
    """A machine with an instructor, two students and an exchange."""

    folder: Path
    course: Course

    @property
    def exchange(self) -> Path:
        return self.folder / "exchange" / "one_layer_of_attention"

    def home(self, user: str) -> Path:
        return self.folder / user

    def run(self, user: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user, at home or, for the instructor, in the course."""
        place = self.course.folder if user == INSTRUCTOR else self.home(user)
        code = [*as_user.as_user(user, self.home(user)), *command]
        return subprocess.run(code, cwd=place, capture_output=True, encoding="utf-8", timeout=600)

    def nbgrader(self, user: str, *words: str) -> str:
        """Run one of nbgrader's commands as a user."""
        done = self.run(user, sys.executable, "-m", "nbgrader", *words)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stderr

    def sees(self, user: str, path: Path) -> bool:
        """Whether a user can read a file, or list a folder."""
        return as_user.sees(user, self.home(user), path)


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    """After a round trip: released, fetched, handed in, collected, marked, and feedback fetched."""
    folder = Path(tempfile.mkdtemp(prefix="exchange-"))  # pytest's own folders are for one user alone
    try:
        folder.chmod(0o755)
        (folder / "exchange").mkdir()
        (folder / "exchange").chmod(0o777)
        line = f'c.Exchange.root = "{folder / "exchange"}"\n'
        config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
        home = as_user.home_of(INSTRUCTOR, folder)
        shared = Shared(folder, Course.make(home / "course", NAME, config=config + line))
        as_user.give(INSTRUCTOR, home)
        shared.nbgrader(INSTRUCTOR, "release_assignment", NAME)
        answers = answers_of(shared.course.source())
        wrong = answers | {"softmax": answers["softmax"].replace("axis=-1", "axis=0")}
        for user, mine in {STUDENT: wrong, OTHER: answers}.items():
            as_user.home_of(user, folder)
            (shared.home(user) / "nbgrader_config.py").write_text(STUDENTS_CONFIG + line, encoding="utf-8")
            as_user.give(user, shared.home(user))
            shared.nbgrader(user, "fetch_assignment", NAME)
            path = shared.home(user) / NAME / f"{NAME}.ipynb"
            nbformat.write(answered(nbformat.read(path, 4), mine), path)
            shared.nbgrader(user, "submit", NAME)
        for command in ("collect", "autograde", "generate_feedback", "release_feedback"):
            shared.nbgrader(INSTRUCTOR, command, NAME)
        for user in (STUDENT, OTHER):
            shared.nbgrader(user, "fetch_feedback", NAME)
        yield shared
    finally:
        shutil.rmtree(folder)


def test_everybody_gets_marks_and_their_own_feedback(shared: Shared) -> None:
    points = {user: sum(cells.values()) for user, cells in shared.course.points().items()}
    assert points == {STUDENT: 14, OTHER: 20}
    for user, said in {STUDENT: "softmax: 0 of 6 points", OTHER: "softmax: 6 of 6 points"}.items():
        (page,) = shared.home(user).rglob(f"feedback/**/{NAME}.html")
        assert said in page.read_text(encoding="utf-8")


def test_a_student_sees_nothing_of_the_course_and_nothing_of_another(shared: Shared) -> None:
    (submission,) = shared.exchange.glob(f"inbound/{OTHER}+*")
    (page,) = shared.home(OTHER).rglob(f"feedback/**/{NAME}.html")
    closed = [
        shared.course.folder,
        shared.course.folder / "gradebook.db",
        shared.course.folder / "solutions" / NAME / f"{NAME}.ipynb",
        shared.home(OTHER) / NAME / f"{NAME}.ipynb",
        page,
        submission.parent,  # a submission's name has a random end, and this folder does not tell it
        shared.exchange / "feedback",
    ]
    assert [path for path in closed if shared.sees(STUDENT, path)] == []
    assert all(shared.sees(INSTRUCTOR, path) for path in (closed[0], submission.parent, closed[-1]))
    assert shared.sees(STUDENT, shared.exchange / "outbound" / NAME / f"{NAME}.ipynb")


def test_a_student_can_change_neither_what_was_handed_out_nor_a_mark(shared: Shared) -> None:
    for path in (
        shared.exchange / "outbound" / NAME / f"{NAME}.ipynb",
        shared.course.folder / "gradebook.db",
    ):
        before = path.read_bytes()
        assert shared.run(STUDENT, "sh", "-c", f"echo x >> '{path}'").returncode != 0
        assert path.read_bytes() == before
