"""The sandbox for one student's kernel, built with bubblewrap: what it can see, and how much it may use.

Inside there is an interpreter with its libraries and what these look up of the system, the student's part of
course_lib, an empty folder and nothing else: no network, no other process, no home, no course. Linux only.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib.errors import CourseError

from .bubblewrap import MIB, NOBODY, closed

# Run once inside: what a kernel needs is there, and what it must not see is not.
PROBE = """
import os, socket, sys
from importlib.util import find_spec
for name in ("ipykernel", "course_lib.grading.inside.pipe_kernel"):
    if find_spec(name) is None:
        sys.exit(f"no module named {name}")
seen = [path for path in sys.argv[1:] if os.path.exists(path)]
open_ways = [name for _, name in socket.if_nameindex() if name != "lo"]
print("closed" if os.getpid() < 20 and not open_ways and not seen else f"open: {seen} {open_ways}")
"""


@dataclass(frozen=True)
class Limits:
    """How much one sandboxed kernel may use; sizes in MiB, time in seconds of CPU.

    memory is of address space for each process, of which there may be `processes`.
    """

    memory: int = 6144
    cpu: int = 300
    file: int = 128
    processes: int = 64
    files: int = 1024
    temporary: int = 256

    def values(self) -> dict[str, int]:
        """By the name of each limit as the system calls it, RLIMIT_…: bytes, seconds and numbers."""
        return {
            "AS": self.memory * MIB,
            "CPU": self.cpu,
            "FSIZE": self.file * MIB,
            "NPROC": self.processes,
            "NOFILE": self.files,
            "CORE": 0,
        }

    def command(self) -> list[str]:
        """`prlimit` with these limits, to stand in front of a command."""
        return ["prlimit", *(f"--{name.lower()}={value}" for name, value in self.values().items())]


@cache
def missing() -> str | None:
    """Why no sandbox can be built here, with what to do about it; None where it can.

    A sandbox is really run, and asked whether it sees what it must not.
    """
    if sys.platform != "linux":
        return f"the sandbox needs Linux, this is {sys.platform}; mark on Linux, in WSL 2 or in a container"
    needed = ["bwrap", "prlimit", *(["setpriv", "unshare"] if os.geteuid() == 0 else [])]
    absent = [program for program in needed if shutil.which(program) is None]
    if absent:
        package = "bubblewrap" if "bwrap" in absent else "util-linux"
        return f"the sandbox needs {' and '.join(absent)}: apt-get install {package}"
    probe = command([sys.executable, "-c", PROBE, *map(str, concealed())])
    try:
        done = subprocess.run(probe, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the sandbox does not start ({error})"
    if done.returncode != 0 or done.stdout.split() != ["closed"]:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
        return (
            f"the sandbox does not work here ({said}); it needs bubblewrap 0.8 or later, namespaces, and "
            "this course_lib installed in the environment that marks"
        )
    return None


def concealed() -> list[Path]:
    """What no student's kernel may see: the instructor's part of the course that this package belongs to."""
    root = Path(__file__).resolve().parents[2]
    return [root / "nbgrader_config.py", root / "solutions", root / "tests"]


def needs_sandbox(option: str, unsandboxed: bool) -> bool:
    """Whether to mark in a sandbox: always, unless the user says otherwise.

    Parameters: option, how the user would say so; unsandboxed, whether they did.
    Raises: CourseError with the reason and the fix where no sandbox can be built.
    """
    if unsandboxed:
        return False
    reason = missing()
    if reason is not None:
        raise CourseError(f"{reason}. To run students' code with your own rights instead, give {option}")
    return True


def command(words: Sequence[str], limits: Limits | None = None) -> list[str]:
    """The command line that runs a command in a sandbox, as a user of its own."""
    limits = limits or Limits()
    return closed([*limits.command(), *words], user=own_user(), temporary=limits.temporary)


def own_user() -> int:
    """A high user id for one kernel or warm parent, since Linux counts much of what can be used up by user;
    nobody for an ordinary user."""
    return 200_000 + secrets.randbelow(65_536) if os.geteuid() == 0 else NOBODY
