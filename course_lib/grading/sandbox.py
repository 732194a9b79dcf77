"""A closed room for one student's kernel, built with bubblewrap: what it can see, and how much it may use.

Inside there is an interpreter with its libraries, the student's part of course_lib, an empty folder and
nothing else: no network, no other process, no home, no course. Linux only.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib.errors import CourseError

from .bubblewrap import MIB, NOBODY, closed
from .leftovers import remove_folder

# Run once inside: what a kernel needs is there, and what it must not see is not.
PROBE = """
import os, socket, sys
import ipykernel, course_lib.checks.answer
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
    room = Room()
    try:
        done = subprocess.run(
            room.command([sys.executable, "-c", PROBE, *map(str, concealed())]),
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the sandbox does not start ({error})"
    finally:
        room.remove()
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


class Room:
    """One sandbox: a private folder for its sockets, a private folder to work in, and an identity of its own.

    As root each room has its own high user id, since limits on processes count by user; rooms of one warm
    parent share its id, and each has a user namespace of its own, in which they count. An ordinary user's
    room runs as nobody in a user namespace.
    """

    def __init__(
        self, limits: Limits | None = None, within: Path | None = None, user: int | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.user = own_user() if user is None else user
        self.folder = Path(tempfile.mkdtemp(prefix=f"room-{os.getpid()}-", dir=within))
        self.sockets, self.work = self.folder / "s", self.folder / "w"
        for each in (self.sockets, self.work):
            each.mkdir(mode=0o700)
        self.hand_over()

    def hand_over(self) -> None:
        """Give the room's folders, with what was put into them, to its own user."""
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            for each in (self.sockets, self.work, *self.sockets.iterdir()):
                os.chown(each, self.user, self.user, follow_symlinks=False)

    def close(self) -> None:
        """Once the sockets are there, nothing more can be made beside them: they lie on the host's disk."""
        if os.geteuid() == 0:
            os.chown(self.sockets, 0, 0)
            self.sockets.chmod(0o755)

    def remove(self) -> None:
        """Delete the room's folders."""
        remove_folder(self.folder)

    def command(self, command: list[str]) -> list[str]:
        """The command line that runs a command inside the room."""
        return closed(
            [*self.limits.command(), "env", f"--chdir={self.work}", *command],
            user=self.user,
            shared=[self.sockets],
            private=[self.work],
            temporary=self.limits.temporary,
        )


def own_user() -> int:
    """A high user id for one room or warm parent, since limits on processes count by user; nobody for an
    ordinary user."""
    return 200_000 + secrets.randbelow(65_536) if os.geteuid() == 0 else NOBODY
