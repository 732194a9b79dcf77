"""`course mark ASSIGNMENT` leaves what `nbgrader autograde` leaves, and goes on where it stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from course_lib.command import mark_class
from course_lib.grading import sandbox
from course_lib.grading.class_record import Done, digest_of
from marking import Course, answered, answers_of
from process_table import children

NAME = "01_soft_lookup"
WRONG = "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(axis=0, keepdims=True)"
BROKEN = "this is no notebook"


def _handed_in(folder: Path) -> Course:
    """A course in which students handed in: one with everything right, one with a mistake, one nothing of
    their own, one a notebook under another name, and one a broken file."""
    course = Course.make(folder, NAME)
    answers = answers_of(course.source())
    course.submit("right", course.source())
    course.submit("wrong", answered(course.release(), answers | {"softmax": WRONG}))
    course.submit("untouched", course.release())
    course.submit("renamed", course.source())
    place = course.folder / "submitted" / "renamed" / NAME
    (place / f"{NAME}.ipynb").rename(place / f"{NAME} (1).ipynb")
    course.submit("broken", course.release())
    (course.folder / "submitted" / "broken" / NAME / f"{NAME}.ipynb").write_text(BROKEN)
    return course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return _handed_in(tmp_path / "course")


def start(course: Course, *words: str) -> subprocess.Popen[str]:
    """Begin `course mark` in a process group of its own."""
    unsandboxed = ["--unsandboxed"] if sandbox.missing() is not None else []
    return subprocess.Popen(
        [sys.executable, "-m", "course_lib.command", "mark", NAME, "--json", *unsandboxed, *words],
        cwd=course.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def mark(course: Course, *words: str) -> dict[str, dict]:
    """Run `course mark`. Returns: its table by student."""
    said, errors = start(course, *words).communicate(timeout=600)
    assert said, errors
    return {done["student"]: done for done in json.loads(said)}


def feedback(course: Course, *words: str) -> dict[str, dict]:
    """Run `course feedback`. Returns: what became of each student's page."""
    done = subprocess.run(
        [sys.executable, "-m", "course_lib.command", "feedback", NAME, "--json", *words],
        cwd=course.folder,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return {page["student"]: page for page in json.loads(done.stdout)}


def gradebook(course: Course) -> dict[str, list]:
    """All that the gradebook says of marks, without ids and times."""
    queries = {
        "grades": "select s.student_id, c.name, g.auto_score, g.manual_score, g.needs_manual_grade, "
        "g.extra_credit from grade g",
        "comments": "select s.student_id, c.name, g.auto_comment, g.manual_comment from comment g",
    }
    joins = (
        " join submitted_notebook n on n.id = g.notebook_id"
        " join submitted_assignment s on s.id = n.assignment_id"
        " join base_cell c on c.id = g.cell_id order by 1, 2"
    )
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as database:
        return {name: database.execute(query + joins).fetchall() for name, query in queries.items()}


def notebooks(course: Course) -> dict[str, str]:
    """The marked notebooks, by student."""
    paths = sorted((course.folder / "autograded").glob(f"*/{NAME}/{NAME}.ipynb"))
    return {path.parents[1].name: path.read_text(encoding="utf-8") for path in paths}


def pages(course: Course) -> dict[str, str]:
    """The feedback pages, by student."""
    paths = sorted((course.folder / "feedback").glob(f"*/{NAME}/{NAME}.html"))
    return {path.parents[1].name: path.read_text(encoding="utf-8") for path in paths}


def test_a_class_is_marked_as_nbgrader_marks_it(course: Course, tmp_path: Path) -> None:
    other = Course(tmp_path / "other", NAME)
    shutil.copytree(course.folder, other.folder)
    said = mark(course, "--workers=2")
    feedback(course, "--workers=2")
    other.run("autograde", NAME)
    other.run("generate_feedback", NAME)
    assert gradebook(course) == gradebook(other)
    assert notebooks(course) == notebooks(other)
    assert pages(course) == pages(other)
    assert len(pages(course)) == 5
    assert {student: done["points"] for student, done in said.items()} == {
        "right": 20,
        "wrong": 14,
        "untouched": 0,
        "renamed": 20,
        "broken": 0,
    }


def test_the_table_says_what_could_not_be_read_which_file_counts_and_what_a_person_marks() -> None:
    table = mark_class.table(
        [
            Done("anna", 15.0, 20.0, noticed=("The notebook a.ipynb counts, not “b.ipynb”.",)),
            Done("ben", 0.0, 20.0, note="an empty file"),
            Done("carl", 16.0, 20.0, again=True, scores={"f-ordinary": 2.0, "words": None}, taken_off=1.6),
            Done("dora", trouble="the gradebook cannot be used"),
        ]
    )
    assert table.splitlines() == [
        "anna     15 of 20",
        "        The notebook a.ipynb counts, not “b.ipynb”.",
        "ben       0 of 20   could not be read: an empty file",
        "carl     16 of 20   less 1.6 for lateness   1 answer waits for Formgrader   unchanged",
        "dora  the gradebook cannot be used",
        "3 marked, of which 1 unchanged and 1 could not be read; 1 not marked; median 15 points",
    ]


def test_a_folder_without_a_notebook_gets_no_points_and_the_reason(course: Course) -> None:
    folder = course.folder / "submitted" / "empty" / NAME
    folder.mkdir(parents=True)
    (folder / "readme.txt").write_text("I forgot it")
    said = mark(course, "--students=empty")
    assert (said["empty"]["points"], said["empty"]["trouble"]) == (0, None)
    assert "there is no notebook in the folder" in said["empty"]["note"]
    assert sum(course.points()["empty"].values()) == 0


def test_only_what_changed_is_marked_again(course: Course) -> None:
    mark(course, "--students=r*")
    first = mark(course)
    assert [student for student, done in first.items() if done["again"]] == ["renamed", "right"]
    course.resubmit("wrong", course.source())
    again = mark(course)
    assert [student for student, done in again.items() if not done["again"]] == ["wrong"]
    assert again["wrong"]["points"] == 20
    assert sum(course.points()["wrong"].values()) == 20


def test_marks_that_are_gone_from_the_gradebook_are_made_again(course: Course) -> None:
    course.mark()
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as database:
        database.execute(
            "update grade set auto_score = 0 where id = (select id from grade where auto_score > 0)"
        )
        database.commit()
    done = course.mark()
    (changed,) = (each for each in done if not each.again)
    assert sum(course.points()[changed.student].values()) == changed.points
    (course.folder / "gradebook.db").unlink()
    course.run("generate_assignment", NAME, "--force")
    assert not any(each.again for each in course.mark())


@pytest.mark.slow
def test_an_interrupted_class_ends_at_once_and_goes_on_later(course: Course) -> None:
    waits = {"softmax": "import time\ntime.sleep(20)\n" + WRONG}
    course.submit("waits", answered(course.release(), answers_of(course.source()) | waits))
    marker = start(course, "--workers=2")
    for _ in _until(lambda: len(_recorded(course)) == 5):
        assert marker.poll() is None
    begun = time.monotonic()
    os.killpg(marker.pid, signal.SIGINT)
    _, errors = marker.communicate(timeout=60)
    assert time.monotonic() - begun < 10
    assert (marker.returncode, errors.count("\n")) == (2, 1), errors
    assert "interrupted; what is done stays done" in errors
    assert [student for student, done in mark(course).items() if not done["again"]] == ["waits"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills its parent by a signal")
def test_a_submission_that_ends_its_worker_costs_no_other_its_marks(course: Course) -> None:
    kills = {"softmax": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + WRONG}
    course.submit("kills", answered(course.release(), answers_of(course.source()) | kills))
    said = mark(course, "--workers=2", "--unsandboxed")
    assert "ended the process that worked on it" in said["kills"]["trouble"]
    assert {student for student, done in said.items() if done["trouble"]} == {"kills"}
    assert said["right"]["points"] == 20


def test_only_pages_that_changed_are_made_again(course: Course) -> None:
    course.mark()
    course.give_feedback()
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as database:
        database.execute(
            "update comment set manual_comment = 'Well done.' where id = (select min(id) from comment)"
        )
        database.commit()
    changed = [student for student, page in feedback(course).items() if not page["again"]]
    assert [student for student, page in pages(course).items() if "Well done." in page] == changed
    assert len(changed) == 1
    (course.folder / "feedback" / "right" / NAME / f"{NAME}.html").unlink()
    assert [student for student, page in feedback(course).items() if not page["again"]] == ["right"]


@pytest.mark.slow
def test_an_unchanged_class_needs_nothing_that_takes_long_to_import(course: Course) -> None:
    mark(course)
    script = (
        "import sys, time; start = time.perf_counter()\n"
        "from pathlib import Path\n"
        "from course_lib.grading.class_marking import mark_class\n"
        f"marked = mark_class(Path('.'), {NAME!r}, sandboxed={sandbox.missing() is None})\n"
        "slow = sorted({'nbgrader', 'nbformat', 'numpy', 'sqlalchemy'} & set(sys.modules))\n"
        "print(len(marked), all(done.again for done in marked), slow)\n"
        "print(time.perf_counter() - start, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=course.folder, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.split() == ["5", "True", "[]"], done.stderr


@pytest.mark.slow
def test_a_marker_that_is_killed_loses_nothing_and_the_next_one_goes_on(course: Course) -> None:
    marker = start(course, "--workers=1")
    for _ in _until(lambda: bool(_recorded(course))):
        assert marker.poll() is None
    os.killpg(marker.pid, signal.SIGKILL)
    marker.communicate()
    first = {student: digest_of_marked(course, student) for student in _recorded(course)}
    assert 0 < len(first) < 5
    said = mark(course)
    assert len(said) == 5
    assert {student for student, done in said.items() if done["again"]} == set(first)
    assert {student: digest_of_marked(course, student) for student in first} == first
    assert {student: sum(cells.values()) for student, cells in course.points().items()} == {
        student: done["points"] for student, done in said.items()
    }


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the worker in /proc")
def test_a_worker_that_is_killed_costs_no_submission(course: Course) -> None:
    marker = start(course, "--workers=1")
    for _ in _until(lambda: bool(_workers_of(marker.pid))):
        assert marker.poll() is None
    os.kill(_workers_of(marker.pid)[0], signal.SIGKILL)
    table, errors = marker.communicate(timeout=600)
    assert table, errors
    said = {done["student"]: done["points"] for done in json.loads(table)}
    assert said == {"right": 20, "wrong": 14, "untouched": 0, "renamed": 20, "broken": 0}


@pytest.mark.slow
def test_a_gradebook_that_is_busy_is_named_and_nothing_is_lost(course: Course) -> None:
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as other:
        other.execute("begin exclusive")
        marker = start(course, "--students=right")
        (said,) = marker.communicate(timeout=600)[1].splitlines()
        assert marker.returncode == 2
        assert said.startswith("course: the gradebook cannot be used (database is locked)")
        other.rollback()
    assert mark(course, "--students=right")["right"]["points"] == 20


@pytest.mark.slow
def test_a_gradebook_that_is_busy_in_the_middle_keeps_what_is_written(
    course: Course,
) -> None:
    marker = start(course, "--workers=1")
    for _ in _until(lambda: bool(_recorded(course))):
        assert marker.poll() is None
    with closing(sqlite3.connect(course.folder / "gradebook.db", timeout=60)) as other:
        other.execute("begin exclusive")
        first = set(_recorded(course))
        table, errors = marker.communicate(timeout=600)
        other.rollback()
    assert 0 < len(first) < 5
    assert "database is locked" in errors, (table, errors)
    said = mark(course)
    assert {student for student, done in said.items() if done["again"]} >= first
    points = {student: done["points"] for student, done in said.items()}
    assert points == {"right": 20, "wrong": 14, "untouched": 0, "renamed": 20, "broken": 0}
    assert {student: sum(cells.values()) for student, cells in course.points().items()} == points


@pytest.mark.slow
def test_what_the_configuration_says_of_running_submissions_counts_here_too(course: Course) -> None:
    config = course.folder / "nbgrader_config.py"
    written = config.read_text(encoding="utf-8")
    answers = answers_of(course.source())
    slow = answers["softmax"].replace("    exp", "    __import__('time').sleep(0.1)\n    exp", 1)
    course.submit("slow", answered(course.release(), answers | {"softmax": slow}))
    config.write_text(f"{written}\nc.JudgedExecute.timeout = 'long'\n", encoding="utf-8")
    (said,) = start(course, "--students=slow").communicate(timeout=600)[1].splitlines()
    assert said.startswith("course: c.JudgedExecute in nbgrader_config.py: ")
    points = {}
    for seconds in (1, 30):
        config.write_text(f"{written}\nc.JudgedExecute.timeout = {seconds}\n", encoding="utf-8")
        points[seconds] = mark(course, "--students=slow")["slow"]["points"]
    assert points[1] < points[30] == 20


def test_what_is_neither_a_notebook_nor_an_assignment_is_told_in_one_line(course: Course) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "course_lib.command", "mark", "08_nothing"],
        cwd=course.folder,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "course: 08_nothing: neither a notebook (.ipynb) nor one of the assignments"
    )
    assert len(done.stderr.splitlines()) == 1


def digest_of_marked(course: Course, student: str) -> str:
    return digest_of(course.folder / "autograded" / student / NAME / f"{NAME}.ipynb")


def _recorded(course: Course) -> list[str]:
    record = course.folder / ".course_marks" / f"{NAME}.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines() if record.is_file() else []
    return [json.loads(line)["student"] for line in lines]


def _until(happened, seconds: float = 300) -> Iterator[None]:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)
        yield


def _workers_of(marker: int) -> list[int]:
    """The processes that run submissions: forks of the marker's fork server."""
    return [
        worker
        for server in children(marker)
        if _is_of_fork_server(server)
        for worker in children(server)
        if _is_of_fork_server(worker)
    ]


def _is_of_fork_server(process: int) -> bool:
    with suppress(OSError):  # it has ended meanwhile
        return b"multiprocessing.forkserver" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False
