"""Claims about a gradebook in PostgreSQL: a real server, marked by `course mark` and by nbgrader."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from marking import ROOT, Course, answered, answers_of

NAME = "01_soft_lookup"
WRONG = "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(axis=0, keepdims=True)"
MARKS = {
    "grades": "select s.student_id, c.name, g.auto_score, g.manual_score, g.needs_manual_grade from grade g",
    "comments": "select s.student_id, c.name, g.auto_comment, g.manual_comment from comment g",
}
JOINS = (
    " join submitted_notebook n on n.id = g.notebook_id"
    " join submitted_assignment s on s.id = n.assignment_id"
    " join base_cell c on c.id = g.cell_id order by 1, 2"
)
WRITTEN = "select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables"
pytestmark = pytest.mark.slow


def _program(name: str) -> str:
    """The path of one of the server's programs, which Debian keeps apart."""
    places = [*map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), os.environ["PATH"]]
    found = shutil.which(name, path=os.pathsep.join(places))
    if os.name != "posix" or found is None:
        pytest.skip(f"needs PostgreSQL's {name}: apt-get install postgresql")
    return found


@pytest.fixture
def server() -> Iterator[Path]:
    """The folder with the socket of a server, which runs as an ordinary user and ends with the test."""
    pytest.importorskip("psycopg", reason='needs psycopg: pip install -e ".[postgres]"')
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    user = "nobody" if os.geteuid() == 0 else None  # as root it would not start
    place = Path(tempfile.mkdtemp(prefix="pg-"))  # its name must be short for a socket

    def run(*words: str) -> None:
        log = place / "log"
        with log.open("a") as file:
            more = {} if user is None else {"user": user, "group": "nogroup", "extra_groups": []}
            done = subprocess.run(words, cwd=place, stdout=file, stderr=file, timeout=120, **more)
        assert done.returncode == 0, log.read_text(encoding="utf-8")[-2000:]

    try:
        if user is not None:
            shutil.chown(place, user)
        run(initdb, "--pgdata=data", "--auth=trust", "--username=course", "--encoding=UTF8", "--no-sync")
        options = f"-c listen_addresses= -c unix_socket_directories={place} -c fsync=off"
        run(pg_ctl, "--pgdata=data", "--wait", "--log=server.log", f"--options={options}", "start")
        try:
            yield place
        finally:
            run(pg_ctl, "--pgdata=data", "--wait", "--mode=immediate", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def test_marks_in_postgresql_are_nbgraders_and_an_unchanged_class_writes_nothing(
    server: Path, tmp_path: Path
) -> None:
    ours, theirs = (_course(tmp_path / name, _database(server, name)) for name in ("ours", "theirs"))
    assert [done.points for done in ours.mark()] == [0, 20, 14]
    theirs.run("autograde", NAME)
    marks = _marks(server, "ours")
    assert marks == _marks(server, "theirs")
    assert len(marks["grades"]) == 3 * 12
    written = _asked(server, "ours", WRITTEN)
    assert [done.again for done in ours.mark()] == [True] * 3
    assert _asked(server, "ours", WRITTEN) == written
    assert written[0][0] > 0


def _url(server: Path, database: str) -> str:
    return f"postgresql+psycopg://course@/{database}?host={server}"


def _database(server: Path, name: str) -> str:
    engine = create_engine(_url(server, "postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}"))
    engine.dispose()
    return _url(server, name)


def _course(folder: Path, url: str) -> Course:
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    course = Course.make(folder, NAME, config=f"{config}\nc.CourseDirectory.db_url = {url!r}\n")
    (folder / "gradebook.db").unlink()  # which nobody should ask
    answers = answers_of(course.source())
    course.submit("right", answered(course.release(), answers))
    course.submit("wrong", answered(course.release(), answers | {"softmax": WRONG}))
    course.submit("broken", course.release())
    (folder / "submitted" / "broken" / NAME / f"{NAME}.ipynb").write_text("no notebook", encoding="utf-8")
    return course


def _asked(server: Path, database: str, query: str) -> list[tuple]:
    engine = create_engine(_url(server, database))
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return rows


def _marks(server: Path, database: str) -> dict[str, list[tuple]]:
    return {name: _asked(server, database, query + JOINS) for name, query in MARKS.items()}
