"""Command lines of bubblewrap: a file system that holds an interpreter, libraries, and little else.

What is not named here is not there: no home, no course, no network, no other process. Linux only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

# What a program needs of /etc: the loader's cache, time zone, fonts, name tables without accounts.
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "nsswitch.conf")
# Where the C library looks whether it can ask for huge pages, when it is told to.
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
HUGE_PAGE_FILES = ("enabled", "hpage_pmd_size")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
PACKAGE = Path(__file__).resolve().parents[1]
# Parts of course_lib that a student's kernel has no use for, and what it is run by.
HIDDEN = ("grading", "command")
INSIDE = Path(__file__).with_name("inside")
KEPT_VARIABLES = ("LANG", "LC_ALL", "TZ", "NBGRADER_EXECUTION")
WORK = "/tmp/work"
# Capabilities: to become another user, and those of a parent whose kernels are users of their own.
LEAVING_ROOT = ("setuid", "setgid", "setpcap")
KEPT_CAPABILITIES = ("setuid", "setgid", "kill")
NOBODY = 65534
MIB = 2**20


def closed(
    command: Sequence[str],
    *,
    user: int,
    temporary: int,
    nested: bool = False,
) -> list[str]:
    """The command line that runs a command behind closed doors, in an empty folder `WORK`.

    Parameters: user, the id it runs under where the marker is root; an ordinary user's runs as nobody in a
    user namespace. temporary, size of each folder in memory in MiB; nested, whether it may make namespaces of
    its own, as root for other users.
    """
    inside = _files(temporary)
    if os.geteuid() == 0:
        kept = KEPT_CAPABILITIES if nested else ()
        return [*_process_namespace(), *_namespaces_of_root(kept), *inside, *_as_user(user, kept), *command]
    return [*_namespaces_of_user(nested), *inside, *command]


def below_temporary() -> list[str]:
    """What is to be seen of the host below /tmp: where something else covers it, it must be shown again."""
    return [folder for folder in _interpreter() if Path("/tmp") in Path(folder).parents]


def _process_namespace() -> list[str]:
    """Process namespaces come from outside: as root, bwrap covers part of /proc and cannot nest one."""
    return [
        *("setpriv", "--pdeathsig", "KILL"),
        *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
    ]


_APART = ["bwrap", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--new-session"]


def _namespaces_of_root(kept: Sequence[str]) -> list[str]:
    needed = dict.fromkeys([*LEAVING_ROOT, *kept])
    words = [word for name in needed for word in ("--cap-add", f"CAP_{name.upper()}")]
    return [*_APART, "--cap-drop", "ALL", *words, "--die-with-parent"]


def _namespaces_of_user(nested: bool) -> list[str]:
    user = str(NOBODY)
    words = ["--unshare-user", "--unshare-pid", "--uid", user, "--gid", user, "--die-with-parent"]
    return [*_APART, *words, *([] if nested else ["--disable-userns"])]


def _as_user(user: int, kept: Sequence[str]) -> list[str]:
    """Leave root for good, once the mounts are laid, but for some capabilities."""
    names = ",".join(["-all", *(f"+{name}" for name in kept)])
    return [
        *("setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"),
        *("--bounding-set=-all", f"--inh-caps={names}", f"--ambient-caps={names}", "--no-new-privs"),
    ]


def _files(temporary: int) -> list[str]:
    """All that can be seen, and the variables."""
    words = _system()
    words += ["--bind", "/proc", "/proc"] if os.geteuid() == 0 else ["--proc", "/proc"]
    words += ["--dev", "/dev", *_in_memory("/dev/shm", temporary), *_in_memory("/tmp", temporary)]
    words += ["--perms", "1777", "--dir", "/tmp/home", "--perms", "1777", "--dir", WORK]
    words += _libraries()  # after /tmp: the course itself may lie below it
    words += ["--remount-ro", "/", "--clearenv"]
    for name, value in variables().items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", WORK]


def _in_memory(folder: str, size: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size * MIB), "--tmpfs", folder]


def _interpreter() -> list[str]:
    """Folders of the interpreter, its libraries and course_lib."""
    return list(dict.fromkeys([sys.base_prefix, sys.base_exec_prefix, sys.prefix, str(PACKAGE)]))


def _libraries() -> list[str]:
    """The interpreter with its libraries, and course_lib without the parts that mark."""
    usr, course = Path("/usr"), PACKAGE.parent
    covered = ["--perms", "0755", "--tmpfs", str(course)] if usr in course.parents else []
    seen = [folder for folder in map(Path, _interpreter()) if usr in (folder, *folder.parents)]
    again = {str(folder) for folder in seen if covered and course in folder.parents}
    folders = [folder for folder in _interpreter() if Path(folder) not in seen or folder in again]
    words = [*covered, *_parents([folder for folder in folders if folder not in again])]
    for folder in folders:
        words += ["--ro-bind", folder, folder]
    for name in HIDDEN:
        words += ["--perms", "0755", "--tmpfs", str(PACKAGE / name)]
    return [*words, "--ro-bind", str(INSIDE), str(INSIDE)]


def variables() -> dict[str, str]:
    """The environment of a student's kernel, and nothing else of the marker's."""
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
        "OPENBLAS_NUM_THREADS": "1",
    }


def _system() -> list[str]:
    """The operating system's programs and libraries, read-only, with its links, and what they look up."""
    words: list[str] = []
    for folder in SYSTEM:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    words += ["--perms", "0755", "--dir", "/etc"]  # or bubblewrap would make it root's alone
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    paths = [f"{HUGE_PAGES}/{name}" for name in HUGE_PAGE_FILES]
    words += _parents(paths)
    for path in paths:
        words += ["--ro-bind-try", path, path]
    return words


def _parents(folders: list[str]) -> list[str]:
    """The folders above, which anybody may pass through; bubblewrap itself would close them to others."""
    above = {str(parent) for folder in folders for parent in Path(folder).parents} - {"/", "/tmp"}
    return [word for folder in sorted(above) for word in ("--perms", "0755", "--dir", folder)]
