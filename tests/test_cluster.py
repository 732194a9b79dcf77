"""`course mark --scheduler` on a real dask cluster, and what it says where there is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from course_lib.command import main
from course_lib.grading import sandbox, workers
from course_lib.grading.class_marking import mark_class
from marking import Course, answered, answers_of

NAME = "01_soft_lookup"
SECONDS = 60  # after which a cluster that has not begun never will
WRONG = "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(axis=0, keepdims=True)"


def _start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and the two workers that have registered there."""
    from distributed import Client

    told = tmp_path / "scheduler.json"
    place = ["--host=127.0.0.1", "--port=0", "--no-dashboard", f"--scheduler-file={told}"]
    one = ["--nworkers=1", "--nthreads=1", "--no-dashboard", "--no-nanny", f"--local-directory={tmp_path}"]
    started: list[subprocess.Popen[bytes]] = []
    try:
        started.append(_start(tmp_path, "dask_scheduler", *place))
        address = _address(told, started[0])
        for _ in range(2):
            started.append(_start(tmp_path, "dask_worker", f"--scheduler-file={told}", *one))
        with Client(address, timeout=SECONDS) as client:
            client.wait_for_workers(2, timeout=SECONDS)
        yield address, started[1:]
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError, PermissionError):  # the test has killed it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _address(told: Path, scheduler: subprocess.Popen[bytes]) -> str:
    """Where the scheduler listens, once it has written that into its file."""
    last = time.monotonic() + SECONDS
    while not (told.exists() and told.stat().st_size):
        assert scheduler.poll() is None, "the scheduler has ended"
        assert time.monotonic() < last, f"the scheduler has written no file in {SECONDS} s"
        time.sleep(0.05)
    return str(json.loads(told.read_text(encoding="utf-8"))["address"])


def _course(folder: Path) -> Course:
    course = Course.make(folder, NAME)
    answers = answers_of(course.source())
    for number in range(4):
        course.submit(f"right-{number}", course.source())
    course.submit("wrong", answered(course.release(), answers | {"softmax": WRONG}))
    return course


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process by its group")
def test_a_cluster_gives_the_marks_and_a_killed_worker_costs_none(
    tmp_path: Path,
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "AHEAD", 1)  # so that it is sent some only when others have come back
    address, processes = cluster
    course = _course(tmp_path / "course")
    told = []

    def kill_one(done: object) -> None:
        if not told:
            os.killpg(processes[0].pid, signal.SIGKILL)
        told.append(done)

    done = mark_class(
        course.folder, NAME, scheduler=address, sandboxed=sandbox.missing() is None, tell=kill_one
    )
    assert {each.student: each.points for each in done} == {
        **{f"right-{number}": 20 for number in range(4)},
        "wrong": 14,
    }
    assert len(told) == 5
    assert {student: sum(cells.values()) for student, cells in course.points().items()} == {
        each.student: each.points for each in done
    }


def test_a_scheduler_that_does_not_answer_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = _course(tmp_path / "course")
    monkeypatch.chdir(course.folder)
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 1)
    assert main(["mark", NAME, "--scheduler=tcp://127.0.0.1:9"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("course: --scheduler tcp://127.0.0.1:9: no cluster answers there")
    assert course.points() == {}
