"""Run programs as another user of this machine, as on a shared JupyterHub; only root can."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

INSTRUCTOR, STUDENT, OTHER = "daemon", "games", "nobody"  # which every Debian has, and nothing runs as


def missing() -> str | None:
    """Why programs cannot be run as other users here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux, to run programs as several users"
    for program, package in {"bwrap": "bubblewrap", "setpriv": "util-linux"}.items():
        if shutil.which(program) is None:
            return f"needs {program}: apt-get install {package}"
    return None


def home_of(user: str, folder: Path) -> Path:
    """A new home below a folder, which only its user can look into."""
    home = folder / user
    home.mkdir(mode=0o700)
    os.chown(home, *_ids(user))
    return home


def give(user: str, folder: Path) -> None:
    """Make a user the owner of a folder and of all in it."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, *_ids(user), follow_symlinks=False)


def as_user(user: str, home: Path) -> list[str]:
    """What stands in front of a command that this user runs.

    Python may lie in a folder that only root can read: then its place in the tree of files is shown without
    what else is in it, to this command alone.
    """
    room = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--die-with-parent"]
    room += ["--cap-add", "ALL"]
    python = Path(sys.executable).resolve().parents[1]
    closed = [each for each in python.parents if each != Path("/") and not each.stat().st_mode & 0o001]
    if closed:
        top = closed[-1]
        shown = top / python.relative_to(top).parts[0]
        room += ["--tmpfs", str(top), "--ro-bind", str(shown), str(shown), "--chmod", "0755", str(top)]
    uid, gid = _ids(user)
    names = {"HOME": str(home), "USER": user, "LOGNAME": user}
    env = ["env", *(f"{name}={value}" for name, value in names.items())]
    return [*room, "--", "setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", *env]


def sees(user: str, home: Path, path: Path) -> bool:
    """Whether a user can read a file, or list a folder."""
    reads = ["ls"] if path.is_dir() else ["head", "-c", "1"]
    done = subprocess.run([*as_user(user, home), *reads, str(path)], cwd=home, capture_output=True)
    return done.returncode == 0


def _ids(user: str) -> tuple[int, int]:
    found = pwd.getpwnam(user)
    return found.pw_uid, found.pw_gid
