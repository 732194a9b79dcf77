"""Run nbgrader's commands, each in a process of its own that starts with nbgrader imported."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# What every command imports first: one process does it once, and commands fork from that.
IMPORTS = [
    "course_lib.grading",
    "nbgrader.apps",
    "nbgrader.preprocessors",
    "course_lib.grading.plugins",
    "torch",
    "torch._dynamo",
]


def nbgrader(folder: Path, words: Sequence[str], seconds: float = 1200) -> subprocess.CompletedProcess[str]:
    """Run `nbgrader WORDS...` in a folder. Returns: its status and what it said."""
    if sys.platform == "win32":
        return _in_new_interpreter(folder, words, seconds)
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        process = _server().Process(target=_become_nbgrader, args=(folder, list(words), out, err))
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
            raise TimeoutError(f"nbgrader {' '.join(words)}: {err.read_text(encoding='utf-8')[-2000:]}")
        said = [file.read_text(encoding="utf-8", errors="replace") for file in (out, err)]
        return subprocess.CompletedProcess(["nbgrader", *words], process.exitcode or 0, *said)


@cache
def _server() -> multiprocessing.context.ForkServerContext:
    os.environ["OMP_NUM_THREADS"] = "1"  # a fork copies one thread only
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTS)
    return context


def _become_nbgrader(folder: Path, words: list[str], out: Path, err: Path) -> None:
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
    os.chdir(folder)
    sys.argv = ["nbgrader", *words]
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    from nbgrader.apps import NbGraderApp

    try:
        NbGraderApp.launch_instance(words)
    finally:
        atexit._run_exitfuncs()  # which a forked process would leave out
        sys.stdout.flush()
        sys.stderr.flush()


def _in_new_interpreter(
    folder: Path, words: Sequence[str], seconds: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
    )
