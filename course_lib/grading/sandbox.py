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

# What a program needs of /etc: the loader's cache, time zone, fonts, name tables without accounts.
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "nsswitch.conf")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Parts of course_lib that a student's kernel has no use for.
HIDDEN = ("grading", "command")
KEPT_VARIABLES = ("LANG", "LC_ALL", "TZ", "NBGRADER_EXECUTION")
NOBODY = 65534
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

    def command(self) -> list[str]:
        """`prlimit` with these limits, to stand in front of a command."""
        mib = 2**20
        return [
            "prlimit",
            f"--as={self.memory * mib}",
            f"--cpu={self.cpu}",
            f"--fsize={self.file * mib}",
            f"--nproc={self.processes}",
            f"--nofile={self.files}",
            "--core=0",
        ]


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
            room.command([sys.executable, "-c", PROBE, *map(str, _course())]),
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


def _course() -> list[Path]:
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

    As root each room has its own high user id, since limits on processes count by user; an ordinary user's
    room runs as nobody in a user namespace.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.root = os.geteuid() == 0
        self.user = 200_000 + secrets.randbelow(65_536) if self.root else NOBODY
        self.folder = Path(tempfile.mkdtemp(prefix="room-"))
        self.sockets, self.work = self.folder / "s", self.folder / "w"
        for each in (self.sockets, self.work):
            each.mkdir(mode=0o700)
        self.hand_over()

    def hand_over(self) -> None:
        """Give the room's folders, with what was put into them, to its own user."""
        if self.root:
            self.folder.chmod(0o755)
            for each in (self.sockets, self.work, *self.sockets.rglob("*"), *self.work.rglob("*")):
                os.chown(each, self.user, self.user, follow_symlinks=False)

    def remove(self) -> None:
        """Delete the room's folders."""
        # Not shutil.rmtree: it recurses, and a student can nest folders deeper than Python's stack.
        subprocess.run(["rm", "-rf", "--", str(self.folder)], stderr=subprocess.DEVNULL, check=False)

    def command(self, command: list[str]) -> list[str]:
        """The command line that runs a command inside the room."""
        inside = [*self.limits.command(), "env", f"--chdir={self.work}", *command]
        if self.root:
            return [*self._outer_as_root(), *self._bwrap(), *self._as_own_user(), *inside]
        return [*self._bwrap(), *inside]

    def _outer_as_root(self) -> list[str]:
        """Process namespaces come from outside: as root, bwrap covers part of /proc and cannot nest one."""
        return [
            *("setpriv", "--pdeathsig", "KILL"),
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
        ]

    def _as_own_user(self) -> list[str]:
        """Leave root for good, once the mounts are laid."""
        user = str(self.user)
        return [
            *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
            *("--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"),
        ]

    def _bwrap(self) -> list[str]:
        words = [
            "bwrap",
            "--unshare-ipc",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--new-session",
        ]
        if self.root:
            words += ["--cap-drop", "ALL"]
            for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
                words += ["--cap-add", capability]
        else:
            words += [
                "--unshare-user",
                "--unshare-pid",
                "--disable-userns",
                "--uid",
                str(NOBODY),
                "--gid",
                str(NOBODY),
            ]
        words += ["--die-with-parent", *_system()]
        words += ["--bind", "/proc", "/proc"] if self.root else ["--proc", "/proc"]
        size = str(self.limits.temporary * 2**20)
        words += ["--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]
        words += [
            "--perms",
            "1777",
            "--size",
            size,
            "--tmpfs",
            "/tmp",
            "--perms",
            "1777",
            "--dir",
            "/tmp/home",
        ]
        words += self._interpreter()  # after /tmp: the course itself may lie below it
        words += _parents([str(self.sockets)])
        for folder in (self.sockets, self.work):
            words += ["--bind", str(folder), str(folder)]
        words += ["--remount-ro", "/", "--clearenv"]
        for name, value in self._variables().items():
            words += ["--setenv", name, value]
        return [*words, "--chdir", "/"]

    def _interpreter(self) -> list[str]:
        """The interpreter with its libraries, and course_lib without the parts that mark."""
        package = Path(__file__).resolve().parents[1]
        wanted = dict.fromkeys([sys.base_prefix, sys.base_exec_prefix, sys.prefix, str(package)])
        usr, course = Path("/usr"), package.parent
        covered = ["--perms", "0755", "--tmpfs", str(course)] if usr in course.parents else []
        seen = [folder for folder in map(Path, wanted) if usr in (folder, *folder.parents)]
        again = {str(folder) for folder in seen if covered and course in folder.parents}
        folders = [folder for folder in wanted if Path(folder) not in seen or folder in again]
        words = [*covered, *_parents([folder for folder in folders if folder not in again])]
        for folder in folders:
            words += ["--ro-bind", folder, folder]
        for name in HIDDEN:
            words += ["--perms", "0755", "--tmpfs", str(package / name)]
        return words

    def _variables(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
        return kept | {
            "PATH": path,
            "HOME": "/tmp/home",
            "USER": "student",
            "IPYTHONDIR": "/tmp/home/.ipython",
            "MPLCONFIGDIR": "/tmp/home/.matplotlib",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "OMP_NUM_THREADS": "1",
        }


def _system() -> list[str]:
    """The operating system's programs and libraries, read-only, with its links as they are."""
    words: list[str] = []
    for folder in SYSTEM:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return words


def _parents(folders: list[str]) -> list[str]:
    """The folders above, which anybody may pass through; bubblewrap itself would close them to others."""
    above = {str(parent) for folder in folders for parent in Path(folder).parents} - {"/", "/tmp"}
    return [word for folder in sorted(above) for word in ("--perms", "0755", "--dir", folder)]
