"""Builds .venv and keeps it up to date; standard library only, since it runs before anything is installed.

`make setup` calls it; without make: `python course_lib/bootstrap.py`. A stamp in .venv remembers what it was
built from, so that every later start takes no time and needs no network.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)


class SetupError(Exception):
    """Something that the person in front of the machine can mend; the message is one line."""


def main(root=ROOT):
    """Make `root`/.venv agree with pyproject.toml and constraints.txt; returns the exit status."""
    try:
        _check_python(sys.version_info)
        prepare(root)
    except SetupError as error:
        print(f"course: {error}", file=sys.stderr)
        return 2
    return 0


def prepare(root):
    """Build .venv where there is none; refresh it where what it was built from has changed.

    A .venv that worked before is never lost: without a network the old one stays in use.
    """
    venv, wanted = root / ".venv", [str(root), fingerprint(root)]
    stamp = venv / ".built-from"
    built_from = stamp.read_text(encoding="utf-8").splitlines() if stamp.is_file() else []
    if built_from == wanted and python_of(venv).exists():
        return
    if built_from and _runs(venv):
        print("Refreshing .venv: what it was built from has changed.", flush=True)
        _repoint(venv, built_from[0])
        reason = _install(root, venv, patient=False)
        if reason is not None:
            kept = "course: .venv could not be refreshed (no network?); going on with the one that is there."
            print(f"{kept} pip: {reason}")
            return
    else:
        print(
            "Building .venv with the versions in constraints.txt; this takes some minutes, once.", flush=True
        )
        if not _runs(venv):
            _create(venv)
        if _install(root, venv, patient=True) is not None:
            raise SetupError(".venv is not complete: pip's message is above; run the command again to go on")
    stamp.write_text("\n".join(wanted), encoding="utf-8")


def fingerprint(root):
    """What .venv is built from, as a hash: the pinned versions and the project's own declaration."""
    project = _declared(root)
    parts = [(root / "constraints.txt").read_text(encoding="utf-8")]
    parts += [repr(project.get(table)) for table in ("build-system", "project")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _declared(root):
    import tomllib

    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def _has_tests(root):
    """Whether the project declares what its tests need; what students receive does not."""
    return "test" in _declared(root)["project"].get("optional-dependencies", {})


def python_of(venv):
    """The interpreter inside a virtual environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _check_python(version):
    if tuple(version[:2]) < OLDEST_PYTHON:
        found = ".".join(map(str, version[:2]))
        raise SetupError(f"needs Python 3.11 or newer, this is {found}; see the conda route in README.md")


def _runs(venv):
    """Whether the environment's interpreter starts and has pip."""
    if not python_of(venv).exists():
        return False
    return subprocess.run([python_of(venv), "-c", "import pip"], capture_output=True).returncode == 0


def _create(venv):
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", venv])
    if made.returncode:
        raise SetupError("this Python cannot make .venv; on Debian and Ubuntu: apt install python3-venv")


def _repoint(venv, old_root):
    """Make the scripts of an environment whose folder was moved start its own interpreter again."""
    old, new = (str(Path(old_root, ".venv")).encode(), str(venv).encode())
    for script in venv.glob("bin/*") if old != new else ():
        text = script.read_bytes() if script.is_file() and not script.is_symlink() else b""
        if text.startswith(b"#") and old in text:
            script.write_bytes(text.replace(old, new))


def _install(root, venv, patient):
    """Install pip and setuptools, then every pinned package, then the project.

    Returns None when all went well, else the last line that pip said without it being shown.

    The pins are installed as they stand, so that pip has nothing to search for; the last step adds only what
    the CUDA build of torch brings along. In what students receive, which declares no tests, it adds all, and
    nothing but what the course itself needs. The project is editable and built by the pinned setuptools, so
    that a complete .venv needs no network. `patient` is for the first build: it shows pip's progress and
    retries.
    """
    pip = [python_of(venv), "-m", "pip", "install", "--disable-pip-version-check"]
    how = [] if patient else ["--quiet", "--retries", "1", "--timeout", "15"]
    pinned = ["-c", "constraints.txt"]
    steps = (
        [*pinned, "pip", "setuptools"],
        *([["--no-deps", "-r", "constraints.txt"]] if _has_tests(root) else []),
        [*pinned, "--no-build-isolation", "-e", ".[test]" if _has_tests(root) else "."],
    )
    for what in steps:
        command, shown = [*pip, *how, *what], None if patient else subprocess.PIPE
        done = subprocess.run(
            command, cwd=root, stdout=shown, stderr=shown, encoding="utf-8", errors="replace"
        )
        if done.returncode:
            said = (done.stderr or "").strip().splitlines()
            return said[-1] if said else "it gave no reason"
    return None


if __name__ == "__main__":
    sys.exit(main())
