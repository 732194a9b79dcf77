"""A kernel that forks from a warm parent is as closed in as a cold one, and as much its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import torch

from course_lib.grading import line, warm
from course_lib.grading.bubblewrap import HUGE_PAGES
from course_lib.grading.inside import warm_parent
from course_lib.grading.kernel import Gone, Message
from course_lib.grading.sandbox import Limits
from course_lib.grading.sandboxed_kernel import SandboxedKernel, Wire
from process_table import descendants, parents
from programs import find_program

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("numpy", "course_lib.checks.answer")


@pytest.fixture(autouse=True)
def bubblewrap() -> None:
    find_program("bwrap", "bubblewrap")


@contextmanager
def kernel(modules: tuple[str, ...] = MODULES) -> Iterator[SandboxedKernel]:
    """A kernel as marking starts it."""
    one = SandboxedKernel(modules)
    try:
        yield one
    finally:
        one.end()


def tell(client: SandboxedKernel, code: str) -> dict:
    """Run code in a kernel; what it puts into `said` comes back."""
    printed: list[str] = []

    def hear(message: Message) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])
        elif message["msg_type"] == "error":
            raise AssertionError(message["content"]["evalue"])

    client.run(f"import json, os, sys\nsaid = {{}}\n{code}\nprint(json.dumps(said))", 60, hear)
    return json.loads("".join(printed))


def test_a_kernel_forks_with_its_imports_done_and_sees_what_a_cold_one_sees() -> None:
    look = (
        "said['course'] = [p for p in ({!r}, {!r}, {!r}) if os.path.exists(p)]\n"
        "said['top'] = sorted(os.listdir('/'))\n"
        "said['temporary'] = sorted(set(os.listdir('/tmp')) & {{'home'}})\n"
        "said['work'] = os.listdir('.')\n"
        "said['variables'] = sorted(os.environ)\n"
        "said['user'] = os.getuid() >= 60_000\n"
        "said['arguments'] = sys.argv[:1]\n"
        "said['path'] = sys.path\n"
        "said['main'] = __name__, sorted(name for name in globals() if not name.startswith('_'))\n"
        "said['capabilities'] = [l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')]\n"
    ).format(*(str(ROOT / name) for name in ("solutions", "tests", "course_lib/grading/source.py")))
    with kernel() as client:
        forked = tell(client, look)
        assert tell(client, "said['loaded'] = 'course_lib.checks.answer' in sys.modules") == {"loaded": True}
    with kernel(()) as client:
        cold = tell(client, look)
    assert forked == cold
    assert forked["course"] == []
    assert forked["capabilities"] == ["0000000000000000"]


def test_a_kernel_finds_imported_what_its_first_cell_makes_it_import() -> None:
    with kernel() as client:
        loaded = tell(client, "said = list(sys.modules)")
    later = loaded[loaded.index(MODULES[-1]) + 1 :]
    assert [name for name in later if not name.startswith("numpy.") and name != "secrets"] == []  # NumPy's


def test_a_forked_kernel_has_the_variables_of_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    look = "said['is'] = os.environ.get('NBGRADER_EXECUTION')"
    with kernel(("fractions",)) as client:
        assert tell(client, look) == {"is": "validate"}
    monkeypatch.delenv("NBGRADER_EXECUTION")
    with kernel(("fractions",)) as client:
        assert tell(client, look) == {"is": None}


def test_kernels_of_one_parent_see_neither_each_other_nor_each_others_files() -> None:
    with kernel() as first, kernel() as second:
        tell(first, "for f in ('here', '/tmp/there', '/dev/shm/shared'): open(f, 'w').write('mine')")
        said = tell(
            second,
            "said['files'] = [f for f in ('here', '/tmp/there', '/dev/shm/shared') if os.path.exists(f)]\n"
            "said['processes'] = sum(name.isdigit() for name in os.listdir('/proc'))",
        )
    assert said == {"files": [], "processes": 1}


def test_what_a_kernel_writes_stays_in_memory_of_a_bounded_size() -> None:
    with kernel() as client:
        said = tell(
            client,
            "said['written'] = 0\n"
            "try:\n"
            "    for number in range(10):\n"
            "        with open(f'file{number}', 'wb') as file: file.write(bytes(100 << 20))\n"
            "        said['written'] += 1\n"
            "except OSError: pass\n",
        )
    assert said["written"] == 2  # of 256 MiB


STORM = """
import time
children = []
try:
    while len(children) < {most}:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except OSError:
    pass
said['children'] = len(children)
"""


@pytest.mark.parametrize("modules", [MODULES, ()], ids=["forked", "cold"])
def test_a_kernels_processes_are_limited_and_are_its_own(modules: tuple[str, ...]) -> None:
    with kernel(modules) as stormy, kernel(modules) as honest:
        most = Limits().processes
        assert most // 2 < tell(stormy, STORM.format(most=2 * most))["children"] < most
        assert tell(honest, STORM.format(most=most // 2)) == {"children": most // 2}
        with kernel(modules) as later:
            assert tell(later, STORM.format(most=most // 2)) == {"children": most // 2}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="others have one user id to give")
def test_for_root_each_kernel_is_a_user_of_its_own_also_below_one_parent() -> None:
    who = (
        "said['user'] = os.getresuid() + os.getresgid(), os.getgroups(), "
        "open('/proc/self/uid_map').read().split()"
    )
    with kernel() as first, kernel() as second:
        users = [tell(each, who)["user"] for each in (first, second)]
    for ids, groups, shown in users:
        assert len(set(ids)) == 1
        assert groups == []
        assert shown == [str(ids[0]), str(ids[0]), "1"]
    assert users[0] != users[1]


def test_kernels_that_fork_before_and_after_memory_is_gathered_are_as_before(
    parent: warm.WarmParent,
) -> None:
    warm.fork_at(parent.line(), MODULES)
    with kernel() as first:
        tell(first, "x = list(range(10**5))")
        for _ in range(warm_parent.MANY):
            with kernel() as other:
                tell(other, "import numpy\nx = numpy.ones(10**6)")
        assert tell(first, "said['sum'] = sum(x)") == {"sum": sum(range(10**5))}


HUGE = "[int(l.split()[1]) for l in open('/proc/self/smaps_rollup') if l.startswith('AnonHuge')][0]"


@pytest.fixture
def huge_pages_if_asked() -> None:
    """Skip where the system gives none to those who ask, or gives them to all."""
    try:
        if "[madvise]" not in Path(HUGE_PAGES, "enabled").read_text(encoding="ascii"):
            pytest.skip("this system gives huge pages to all or to nobody")
    except OSError:
        pytest.skip("this system tells nothing of huge pages")
    code = f"x = [bytes(10**5) for _ in range(200)]\nprint({HUGE})"
    told = {**os.environ, "GLIBC_TUNABLES": warm.ASK_FOR_HUGE_PAGES}
    done = subprocess.run([sys.executable, "-c", code], env=told, capture_output=True, text=True)
    if done.returncode != 0 or int(done.stdout) == 0:
        pytest.skip("this system gives no huge pages to those who ask")


@pytest.mark.usefixtures("huge_pages_if_asked")
def test_kernels_share_huge_pages_with_their_parent() -> None:
    with kernel(("torch", *MODULES)) as client:
        assert tell(client, f"said['kB'] = {HUGE}")["kB"] > 0
        assert tell(client, "said['told'] = 'GLIBC_TUNABLES' in os.environ") == {"told": False}


@pytest.mark.usefixtures("huge_pages_if_asked")
def test_what_a_process_holds_is_gathered_in_huge_pages() -> None:
    code = (
        "from course_lib.grading.inside.huge_pages import collapse\n"
        f"x = [object() for _ in range(10**6)]\nbefore = {HUGE}\ncollapse()\nprint(before, {HUGE})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 1):
        assert after == before
    else:
        assert after > before


def test_a_module_that_cannot_be_imported_is_left_to_those_who_need_it() -> None:
    modules = ("no_such_module", "numpy", "course_lib.checks.answer")
    assert warm.line_with(modules) is not None
    with kernel(modules) as client:
        assert tell(client, "said['loaded'] = 'numpy' in sys.modules") == {"loaded": True}


def test_each_kernel_draws_random_numbers_of_its_own() -> None:
    draw = "import random, numpy\nsaid['drawn'] = [random.random(), float(numpy.random.rand())]"
    with kernel() as first, kernel() as second:
        assert not set(tell(first, draw)["drawn"]) & set(tell(second, draw)["drawn"])


def test_a_fork_does_not_draw_from_torch_what_its_parent_would() -> None:
    before = torch.initial_seed()
    warm_parent._renew_random_state()
    assert torch.initial_seed() != before


def test_a_kernel_that_ends_harms_neither_its_parent_nor_a_sibling() -> None:
    with kernel() as honest:
        with kernel() as client, pytest.raises(Gone, match="ended"):
            client.run("import os; os._exit(3)", 10, print)
        tell(honest, "said['alive'] = True")
        with kernel() as another:
            assert tell(another, "said['alive'] = True") == {"alive": True}


@pytest.fixture
def parent() -> Iterator[warm.WarmParent]:
    """A parent, and its end."""
    one = warm.WarmParent(MODULES)
    yield one
    one.close()


def test_a_parent_that_was_killed_is_started_again(parent: warm.WarmParent) -> None:
    before = parent.line()
    warm.fork_at(before, MODULES)
    assert warm.line_with(MODULES) is before
    parent.process.kill()
    parent.process.wait()
    with kernel() as client:
        assert tell(client, "said['alive'] = True") == {"alive": True}
    after = warm.line_with(MODULES)
    assert after is not None
    assert after is not before


def test_a_parent_that_was_begun_is_the_one_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = ("fractions", "json")
    warm.begin(modules)
    warm.begin(modules)
    with monkeypatch.context() as patched:
        patched.setattr(warm, "WarmParent", None)
        line = warm.line_with(modules)
        warm.begin(modules)
    assert line is not None
    assert line.alive


def test_a_parent_that_was_begun_and_ended_is_replaced() -> None:
    modules = ("fractions", "decimal")
    warm.begin(modules)
    begun = warm._parents[warm._key(modules)]
    begun.process.kill()
    begun.process.wait()
    assert warm.line_with(modules) is not None


def test_a_parent_that_ends_before_it_is_ready_is_replaced_by_cold_kernels(
    parent: warm.WarmParent, caplog: pytest.LogCaptureFixture
) -> None:
    modules = ("a module of this test",)
    _expect_python(parent)  # what has only just begun may outlive the program that starts it
    parent.process.kill()
    parent.process.wait()
    warm.fork_at(parent.line(), modules)
    assert warm.line_with(modules) is None
    assert "Kernels start cold, which is slower: the warm parent ended." in caplog.text


def test_with_a_line_its_kernels_end_and_those_of_other_lines_go_on(parent: warm.WarmParent) -> None:
    lines = [parent.line(), parent.line()]
    for each in lines:
        each.expect_ready()
    with forked(parent, lines[0]) as (ended, first), forked(parent, lines[1]) as (goes_on, second):
        lines[0].close()
        _expect_end({first})
        with pytest.raises(Gone):
            list(ended.take(20))
        assert second in descendants(parent.process.pid)
        with forked(parent, lines[1]):  # beside it
            assert list(goes_on.take(0)) == []


@contextmanager
def forked(parent: warm.WarmParent, line: line.Line) -> Iterator[tuple[Wire, int]]:
    """A kernel at the other end of a line: the wire to it, and its process."""
    before, wire = descendants(parent.process.pid), Wire()
    line.fork(wire.theirs)
    wire.close_theirs()
    try:
        assert any(b"ready" in frame for frame in wire.take(20))
        yield wire, max(descendants(parent.process.pid) - before)
    finally:
        wire.close()


def _expect_python(parent: warm.WarmParent) -> None:
    """Wait until the last of the programs that start one another runs."""
    deadline, python = time.monotonic() + 20, sys.executable.encode() + b"\0"
    while time.monotonic() < deadline:
        for each in descendants(parent.process.pid):
            with suppress(OSError):
                if Path(f"/proc/{each}/cmdline").read_bytes().startswith(python):
                    return
        time.sleep(0.005)
    raise AssertionError("no Python among what the parent is started by")


def _expect_end(processes: set[int]) -> None:
    """Wait for the end of these processes."""
    deadline = time.monotonic() + 20
    while processes & set(parents()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_where_a_fork_cannot_be_closed_in_kernels_start_cold(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    modules = ("json",)
    seen = [Path("/usr"), *line.concealed()]  # which every kernel sees
    monkeypatch.setattr(line, "concealed", lambda: seen)
    with kernel(modules) as client:
        assert tell(client, "said['processes'] = os.getpid() < 20") == {"processes": True}
    assert "Kernels start cold, which is slower" in caplog.text
    assert "not closed in" in caplog.text
    assert warm.line_with(modules) is None


def test_a_parent_leaves_no_process() -> None:
    parent = warm.WarmParent(("json",))
    one = parent.line()
    one.expect_ready()
    with forked(parent, one) as (kernel, _):
        processes = descendants(parent.process.pid) | {parent.process.pid}
        parent.close()
        _expect_end(processes)
        with pytest.raises(Gone):
            list(kernel.take(20))
    assert not one.alive


def test_a_parent_that_still_imports_is_ended_at_once() -> None:
    parent = warm.WarmParent(("torch",))
    start = time.monotonic()
    parent.close()
    assert time.monotonic() - start < 1.5


def test_a_parent_that_cannot_start_leaves_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "closed", lambda *words, **options: ["no such program"])
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="no such program"):
        warm.WarmParent(("json",))
    assert os.listdir("/proc/self/fd") == before


def test_a_fork_that_fails_is_told_and_the_parent_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = warm_parent.Server(theirs, _refused)
    with mine, theirs:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fork", _refused)
            server._fork(theirs, {"number": 7}, [os.open(os.devnull, os.O_RDONLY)])
        said = json.loads(mine.recv(1000))
    for each in (server.ended, server.ended_write):
        os.close(each)
    assert "too many processes" in said["trouble"]


def _refused() -> int:
    raise BlockingIOError("too many processes")
