"""A course whose students cheat, marked in one run of nbgrader.

Each cheat is a student of its own; beside them two are honest, and one is wrong but does not cheat.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from marking import Course, answered, answers_of

from .cheat import NAME, SCRIPT, WRONG, Cheat, Submission

ROOT = Path(__file__).resolve().parents[2]
HONEST = ("0-honest", "zz-honest")
NO_CHEAT = "no-cheat"
NEIGHBOUR = "neighbour@example.org"
LEFT = "left behind by a startup file"
SECRET = "the secret of this course of cheats"
UNTOUCHED = "untouched"


@dataclass(frozen=True)
class Outcome:
    """What a cheat got: its points, the secrets in what comes back to it, and whether it did any harm."""

    points: float
    leaked: tuple[str, ...] = ()
    harmed: bool = False

    def gains(self, goal: str) -> bool:
        """Whether it reached its goal; a submission that does not cheat has no points."""
        return {"points": self.points > 0, "leak": bool(self.leaked), "harm": self.harmed}[goal]


@dataclass
class Arena:
    """One course with the cheats as its students.

    config and source say how it marks; hidden, which texts give its hidden cases away; options go to
    autograde; answers are what each cheat starts from.
    """

    folder: Path
    config: str
    source: NotebookNode
    hidden: tuple[str, ...]
    options: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=lambda: {"softmax": WRONG})
    seconds: float = 0.0
    said: str = ""
    received: bytes = b""
    points: dict[str, float] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    submitted: dict[str, str] = field(default_factory=dict)

    @property
    def course(self) -> Course:
        """The course, to read its gradebook and feedback."""
        return Course(self.folder, NAME)

    def run(self, cheats: Iterable[Cheat]) -> dict[str, Outcome]:
        """Mark all cheats in one run. Returns: the outcome of each, by its id."""
        cheats = list(cheats)
        self._make()
        with listening() as (port, heard):
            self._submit_honest()
            for cheat in cheats:
                if cheat.first is not None:
                    self._submit(cheat.id, port, cheat.first)
                    self._nbgrader("autograde", NAME, f"--student={cheat.id}", "--create")
                    shutil.rmtree(self._place(cheat.id))
                self._submit(cheat.id, port, cheat.change)
                for friend, change in cheat.friends.items():
                    self._submit(f"{cheat.id}_{friend}", port, change)
            start = time.perf_counter()
            self.said = self._nbgrader("autograde", NAME, "--create", "--force", *self.options)
            self.seconds = time.perf_counter() - start
            self._nbgrader("generate_feedback", NAME)
            self.received = b"".join(heard)
        self.points = {student: sum(cells.values()) for student, cells in self.course.points().items()}
        return {cheat.id: self._outcome(cheat) for cheat in cheats}

    def returned(self, student: str) -> str:
        """What a student can have an effect on: the outputs of the student's own cells, and the comments."""
        if not self.page(student):
            return ""
        cells = [cell for cell in self.course.marked(student).cells if not is_test(cell)]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        return "\n".join([json.dumps(outputs), *map(str, self.course.comments(student).values())])

    def page(self, student: str) -> str:
        """The feedback page; "" where there is none."""
        path = self.folder / "feedback" / student / NAME / f"{NAME}.html"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def leaked(self, student: str, secrets: Iterable[str]) -> tuple[str, ...]:
        """The secrets in what comes back to a student that were not in what the student had sent."""
        returned, sent = self.returned(student), self.submitted[student]
        return tuple(each for each in secrets if each in returned and each not in sent)

    def _outcome(self, cheat: Cheat) -> Outcome:
        students = [cheat.id, *(f"{cheat.id}_{friend}" for friend in cheat.friends)]
        victim = self.folder / "victims" / cheat.id
        secrets = (NEIGHBOUR, LEFT, SECRET, *self.hidden)
        return Outcome(
            max(self.points.get(student, 0.0) for student in students),
            tuple(each for student in students for each in self.leaked(student, secrets)),
            victim.read_text(encoding="utf-8") != UNTOUCHED
            or cheat.id.encode() in self.received
            or SCRIPT in self.page(cheat.id),
        )

    def _make(self) -> None:
        (self.folder / "solutions" / NAME).mkdir(parents=True)
        (self.folder / "victims").mkdir()
        nbformat.write(self.source, self.folder / "solutions" / NAME / f"{NAME}.ipynb")
        (self.folder / "nbgrader_config.py").write_text(self.config, encoding="utf-8")
        (self.folder / ".course_secret").write_text(SECRET, encoding="utf-8")
        self._nbgrader("generate_assignment", NAME)
        from nbgrader.api import Gradebook

        with Gradebook(self.course.db_url) as gradebook:
            gradebook.add_student(HONEST[0], email=NEIGHBOUR)

    def _submit_honest(self) -> None:
        right = answered(self.course.release(), answers_of(self.course.source()))
        for student in HONEST:
            self._write(Submission(right, self._place(student), self.folder), student)
        wrong = answered(self.course.release(), {"softmax": WRONG})
        self._write(Submission(wrong, self._place(NO_CHEAT), self.folder), NO_CHEAT)

    def _submit(self, student: str, port: int, change: object) -> None:
        (self.folder / "victims" / student).write_text(UNTOUCHED, encoding="utf-8")
        answers = answered(self.course.release(), self.answers)
        submission = Submission(answers, self._place(student), self.folder, port)
        submission.write()
        change(submission)  # type: ignore[operator]
        self.submitted[student] = "\n".join(
            path.read_bytes()[:1_000_000].decode("utf-8", "replace")
            for path in submission.folder.rglob("*")
            if path.is_file()
        )

    def _write(self, submission: Submission, student: str) -> None:
        submission.write()
        self.submitted[student] = submission.file.read_text(encoding="utf-8")

    def _place(self, student: str) -> Path:
        return self.folder / "submitted" / student / NAME

    def _nbgrader(self, *words: str) -> str:
        """Run one command, with a home of the arena's own; a cheat may make its submission fail."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "IPYTHONDIR": str(home / ".ipython"),
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=1200,
        )
        return done.stderr


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """Somebody who listens on loopback: the port, and what arrives there."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        ended = threading.Event()

        def listen() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(2)
                    heard.append(connection.recv(1000))

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield server.getsockname()[1], heard
        finally:
            ended.set()
            listener.join()


def is_test(cell: NotebookNode) -> bool:
    """Whether a cell is an automatic test."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))
