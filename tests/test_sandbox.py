"""A student's kernel in its sandbox sees an interpreter, an empty folder and nothing else."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading import sandbox
from course_lib.grading.bubblewrap import ETC, HUGE_PAGE_FILES, HUGE_PAGES
from course_lib.grading.sandbox import Limits, needs_sandbox
from programs import find_program

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def bubblewrap() -> None:
    find_program("bwrap", "bubblewrap")


def _inside(code: str, limits: Limits | None = None) -> dict:
    """Run code in a sandbox of its own; what it puts into `said` comes back."""
    program = f"import json, os\nsaid = {{}}\n{code}\nprint(json.dumps(said))"
    words = sandbox.command([sys.executable, "-c", program], limits)
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_this_machine_can_build_a_sandbox() -> None:
    assert sandbox.missing() is None
    assert needs_sandbox("--flag", unsandboxed=False) is True


def test_without_a_sandbox_marking_stops_and_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    sandbox.missing.cache_clear()
    try:
        with pytest.raises(CourseError, match="apt-get install bubblewrap.*give --flag"):
            needs_sandbox("--flag", unsandboxed=False)
        assert needs_sandbox("--flag", unsandboxed=True) is False
    finally:
        sandbox.missing.cache_clear()


def test_the_course_and_the_home_folders_are_not_there() -> None:
    said = _inside(
        f"said['course'] = [os.path.exists(p) for p in ({str(ROOT / 'solutions')!r}, {str(ROOT / 'tests')!r},"
        f" {str(ROOT / 'nbgrader_config.py')!r}, {str(ROOT / 'course_lib' / 'grading' / 'source.py')!r})]\n"
        "said['home'] = [p for p in ('/home', '/etc/passwd', '/etc/shadow', '/var') if os.path.exists(p)]\n"
        "said['variables'] = sorted(os.environ)\n"
        "import course_lib.checks"
    )
    assert said["course"] == [False] * 4
    assert said["home"] == []
    assert "CI" not in said["variables"]
    assert not [name for name in said["variables"] if "SECRET" in name or "TOKEN" in name]


def test_nothing_but_its_own_folders_can_be_written() -> None:
    tried = [str(ROOT / "course_lib" / "attention.py"), sys.executable, "/usr/written", "/written"]
    said = _inside(
        "said['written'] = []\n"
        f"for path in {tried!r} + ['own', '/tmp/own', '/dev/shm/own']:\n"
        "    try: open(path, 'a').close()\n"
        "    except OSError: continue\n"
        "    said['written'].append(path)"
    )
    assert said["written"] == ["own", "/tmp/own", "/dev/shm/own"]


def test_of_the_systems_tables_those_are_read_that_programs_need() -> None:
    said = _inside(
        "said['etc'] = [name for name in os.listdir('/etc') if os.access(f'/etc/{name}', os.R_OK)]"
    )
    assert sorted(said["etc"]) == sorted(name for name in ETC if os.path.exists(f"/etc/{name}"))


def test_of_the_kernels_own_tables_those_are_read_that_the_c_library_needs() -> None:
    said = _inside(
        "said['seen'] = sorted(os.path.join(at, name) for at, _, names in os.walk('/sys') for name in names)"
    )
    paths = [f"{HUGE_PAGES}/{name}" for name in HUGE_PAGE_FILES]
    assert said["seen"] == [path for path in paths if os.path.exists(path)]


def test_a_listening_socket_on_loopback_gets_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(3)
        reached: list[bool] = []

        def wait() -> None:
            try:
                server.accept()[0].close()
                reached.append(True)
            except TimeoutError:
                pass

        listener = threading.Thread(target=wait)
        listener.start()
        port = server.getsockname()[1]
        said = _inside(
            "import socket\n"
            f"try: socket.create_connection(('127.0.0.1', {port}), timeout=2); said['sent'] = True\n"
            "except OSError as error: said['sent'] = False"
        )
        listener.join()
    assert said["sent"] is False
    assert reached == []


def test_other_processes_and_privileges_are_out_of_reach() -> None:
    said = _inside(
        "said['seen'] = sorted(int(p) for p in os.listdir('/proc') if p.isdigit())\n"
        "said['user'] = os.getuid()\n"
        "said['capabilities'] = [l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')]\n"
        "try: os.kill(1 if os.getpid() != 1 else 2, 9); said['killed'] = True\n"
        "except OSError: said['killed'] = False"
    )
    assert max(said["seen"]) < 20
    assert said["user"] >= 60_000
    assert said["capabilities"] == ["0000000000000000"]


def test_memory_files_and_processes_are_limited() -> None:
    said = _inside(
        "import mmap, resource\n"
        "try: mmap.mmap(-1, 2 << 30); said['memory'] = True\n"
        "except (OSError, MemoryError): said['memory'] = False\n"
        "try: open('big', 'wb').write(bytes(20 << 20)); said['file'] = True\n"
        "except OSError: said['file'] = False\n"
        "children = []\n"
        "try:\n"
        "    for _ in range(100):\n"
        "        child = os.fork()\n"
        "        if child == 0:\n"
        "            import time; time.sleep(20); os._exit(0)\n"
        "        children.append(child)\n"
        "except OSError: pass\n"
        "said['children'] = len(children)\n"
        "for child in children: os.kill(child, 9)",
        Limits(memory=1024, file=10, processes=32),
    )
    assert said["memory"] is False
    assert said["file"] is False
    assert said["children"] < 32
