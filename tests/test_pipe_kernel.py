"""Cells do in the sandbox's kernel what they do in Jupyter's own, and it never keeps anybody waiting."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from course_lib.grading.inside.stream import Stream
from course_lib.grading.jupyter_kernel import JupyterKernel
from course_lib.grading.kernel import ENDED, MAX_MESSAGE, SILENT, Gone, Kernel, Message
from course_lib.grading.outputs import Shown, kept
from course_lib.grading.sandboxed_kernel import SandboxedKernel, Wire
from programs import find_program

MODULES = ("numpy", "course_lib.checks.answer")
CELLS = {
    "prints": ["print('a', end='')\nprint('b')\nimport sys\nprint('c', file=sys.stderr)\nprint('d')"],
    "shows": ["import numpy as np\nnp.eye(2)"],
    "has no value": ["x = 1", "x;"],
    "displays": ["from IPython.display import HTML, Markdown\ndisplay(Markdown('*a*'), HTML('<i>'))\n'c'"],
    "updates": ["h = display('a', display_id=True)\nh.update('b')"],
    "clears": ["from IPython.display import clear_output\nprint('a')\nclear_output(wait=True)\nprint('b')"],
    "imports a package and not its modules": ["import matplotlib\nhasattr(matplotlib, 'pyplot')"],
    "asks whether it draws at once": ["import matplotlib.pyplot as plt\nplt.isinteractive()"],
    "plots": ["import matplotlib.pyplot as plt\nplt.plot([1, 2]);"],
    "plots inline": ["%matplotlib inline\nimport pylab\npylab.plot([2, 1])\npylab.show()\nprint('after')"],
    "raises": ["def f():\n    return 1 / 0\nf()"],
    "is not Python": ["x = = 1"],
    "raises in the middle": ["print('a')\nraise KeyError('b')\nprint('c')"],
    "exits": ["raise SystemExit('a')"],
    "warns": ["import warnings\nwarnings.warn('a')"],
    "logs": ["import logging\nlogging.warning('a')"],
    "writes past Python": [
        "import os, time\nprint('a', flush=True)\n_ = os.write(1, b'\\xc3\\xa4\\n')\ntime.sleep(0.3)"
    ],
    "runs a program": [
        "import subprocess, time\n_ = subprocess.run(['echo', 'a'], stdout=1)\ntime.sleep(0.3)"
    ],
    "uses a shell": ["!echo a; echo b >&2"],
    "uses magics": ["%%capture caught\nprint('a')", "caught.stdout", "%%bash\necho a"],
    "awaits": ["import asyncio\nawait asyncio.sleep(0.01)\n'a'"],
    "leaves a task": [
        "import asyncio\nasync def later():\n    print('later')\ntask = asyncio.create_task(later())",
        "await task\nprint('now')",
    ],
    "runs a loop of its own": [
        "import asyncio\nasync def later():\n    pass\nasyncio.run(coroutine := later())"
    ],
    "asks": ["input('?')"],
    "debugs": ["import pdb\npdb.run('1')"],
    "reads a file": ["open('nothing')"],
    "prints in a thread": [
        "import threading\nt = threading.Thread(target=print, args=('a',))\nt.start()\nt.join()"
    ],
    "prints in a child": [
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "    pool.map(print, ['a'])\nprint('b')"
    ],
    "asks for help": ["len?"],
    "knows its history": ["'a'", "In[-2], _"],
    "stores": ["x = 1\n%store x"],
    "knows where it is": [
        "__name__, __builtins__.__name__, type(get_ipython()).__name__, 'IPKernelApp' in get_ipython().config"
    ],
    "pickles what it defines": [
        "import pickle\nclass C: pass\npickle.loads(pickle.dumps(C())).__class__ is C"
    ],
    "has a path": ["import sys, pathlib\nsys.path, pathlib.Path(sys.argv[0]).stem, sys.stdin.read()"],
    "writes more than is shown": [
        "import os, time\n_ = os.system('seq 1000000')\ntime.sleep(0.5)\nprint('a')",
        "print('b')",
    ],
    "opens its output anew": [
        "import os, time\nprint('a' * 100, flush=True)",
        "_ = os.system('echo b > /dev/stdout; echo c; echo d | tee /dev/stderr')\ntime.sleep(0.3)",
        "print('e')",
    ],
    "runs loops in loops": [
        "import asyncio, nest_asyncio2\nnest_asyncio2.apply()\nasync def f():\n    return 1",
        "asyncio.run(f())",
        "asyncio.run(f())",
    ],
    "sends by itself": [
        "kernel = get_ipython().kernel\ncontent = {'name': 'stdout', 'text': 'a'}\n"
        "_ = kernel.send_response(kernel.iopub_socket, 'stream', content)"
    ],
    "prints letters": ["print('ä→\U0001f600')"],
    "prints in a thread that goes on": [
        "import threading, time\nt = threading.Timer(0.3, print, ['late'])\nt.start()",
        "time.sleep(0.6)\nprint('second')",
    ],
    "prints much": ["for i in range(3000): print('x' * 20)"],
}
# Addresses, numbers of processes, and where a file is, which has a short name in a home folder.
COLOUR = re.compile(r"\\x1b\[[\d;]*m")
CHANGING = re.compile(r"0x[0-9a-f]+|(?<=ipykernel_)\d+|(?<=File )[^:]+")


STREAM = "{{'output_type': 'stream', 'name': 'stdout', 'text': '{}\\n'}}"
STARTS: dict[str, Callable[[], Kernel]] = {
    "jupyter": partial(JupyterKernel, "python3"),
    "forked": partial(SandboxedKernel, MODULES),
    "cold": partial(SandboxedKernel, ()),
}


@pytest.fixture(scope="module")
def kernels() -> Iterator[dict[str, Kernel]]:
    """Jupyter's own kernel, one that is forked, and one that is started."""
    find_program("bwrap", "bubblewrap")
    made: dict[str, Kernel] = {}
    with ExitStack() as ends:
        with pytest.MonkeyPatch.context() as patched:
            patched.delenv("PYTEST_CURRENT_TEST")  # which lets ipykernel do less
            for name, start in STARTS.items():
                made[name] = start()
                ends.callback(made[name].end)
        yield made


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_shows_what_it_shows_in_jupyters_own_kernel(kernels: dict[str, Kernel], name: str) -> None:
    shown = {kind: [_shown(kernel, code) for code in CELLS[name]] for kind, kernel in kernels.items()}
    assert shown == dict.fromkeys(STARTS, shown["jupyter"])


def _shown(kernel: Kernel, code: str) -> tuple[list[str], Any]:
    """The outputs of a cell, and what the kernel says of how it went."""
    outputs = Shown().cell()
    reply, interrupted = kernel.run(code, 30, outputs.hear, expression="6 * 7")
    assert not interrupted
    texts = [CHANGING.sub("…", COLOUR.sub("", str(each))) for each in kept(outputs.outputs)]
    return texts, (reply["status"], reply["execution_count"], reply["user_expressions"], reply["payload"])


@pytest.mark.parametrize("kind", ["forked", "cold"])
def test_what_is_written_without_end_is_cut_and_the_kernel_goes_on(
    kernels: dict[str, Kernel], kind: str
) -> None:
    kernel = kernels[kind]
    for code in ("print('a' * 20_000_000)", "import os\nos.system('yes | head -c 20000000')"):
        texts, (status, *_) = _shown(kernel, code)
        assert status == "ok"
        assert "The rest is left out" in texts[0]
    assert _shown(kernel, "_ = os.system('echo b')")[0] == [STREAM.format("b")]
    assert _shown(kernel, "print('a\\ud800b')")[0] == [STREAM.format("a?b")]  # half a letter


@pytest.fixture(params=[MODULES, ()], ids=["forked", "cold"])
def kernel(request: pytest.FixtureRequest) -> Iterator[SandboxedKernel]:
    """A kernel that ran nothing else."""
    find_program("bwrap", "bubblewrap")
    one = SandboxedKernel(request.param)
    yield one
    one.end()


def test_a_kernel_has_no_pipes_and_sockets_but_its_own(kernel: Kernel) -> None:
    code = """
import os
names = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd") if int(number) > 2]
kinds = [os.readlink(name).split(":")[0] for name in names if os.path.islink(name)]
print(kinds.count("pipe"), kinds.count("socket"))
"""
    pipes = 3 + 2  # and of each of its streams one end
    assert _shown(kernel, code)[0] == [STREAM.format(f"{pipes} 2")]


def test_a_kernel_that_ends_is_noticed_at_once(kernel: Kernel) -> None:
    start = time.monotonic()
    with pytest.raises(Gone, match=ENDED[:20]):
        kernel.run("import os\nos._exit(0)", 30, print)
    assert time.monotonic() - start < 5


FORGED = """
kernel = get_ipython().kernel
kernel.session.send(None, 'execute_reply', {'status': 'ok'}, parent=kernel.get_parent('shell'))
while True:
    pass
"""


def test_what_was_printed_long_before_a_kernel_ended_is_shown(kernel: Kernel) -> None:
    outputs = Shown().cell()
    with pytest.raises(Gone):
        kernel.run("import ctypes, time\nprint('a')\ntime.sleep(1)\nctypes.string_at(0)", 30, outputs.hear)
    assert outputs.outputs[0].text == "a\n"


def test_a_request_that_ipykernel_fails_to_answer_is_answered_at_once(kernel: Kernel) -> None:
    start = time.monotonic()
    kernel.run("get_ipython().run_cell_async = 1", 30, print)
    reply, interrupted = kernel.run("1", 30, print)
    assert not interrupted
    assert reply["ename"] == "TypeError"
    assert time.monotonic() - start < 5


def test_a_reply_without_an_end_ends_the_kernel_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    find_program("bwrap", "bubblewrap")
    monkeypatch.setattr("course_lib.grading.kernel.GRACE", 0.3)
    kernel = SandboxedKernel(MODULES)
    with pytest.raises(Gone, match=SILENT[:20]):
        kernel.run(FORGED, 30, print)


def test_a_closed_stream_takes_no_text() -> None:
    stream = Stream("stdout", 1, lambda: None, print)
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.write("a")


STUCK = {
    "loops": "print('a')\nwhile True:\n    pass",
    "awaits": "import asyncio\nprint('a')\nawait asyncio.sleep(60)",
    "sleeps": "import time\nprint('a')\ntime.sleep(60)",
    "prints": "while True:\n    print('a' * 100)",
}


@pytest.mark.parametrize("kind", ["forked", "cold"])
@pytest.mark.parametrize("name", STUCK)
def test_a_cell_that_takes_too_long_is_interrupted_and_the_kernel_goes_on(
    kernels: dict[str, Kernel], name: str, kind: str
) -> None:
    heard: list[Message] = []
    reply, interrupted = kernels[kind].run(STUCK[name], 0.5, heard.append)
    assert interrupted
    assert reply["ename"] in ("KeyboardInterrupt", "CancelledError")
    said = [(each["msg_type"], each["content"]) for each in heard]
    assert "".join(content["text"] for kind, content in said if kind == "stream").startswith("a")
    assert [content["ename"] for kind, content in said if kind == "error"] == [reply["ename"]]
    assert name == "prints" or not any("pipe_kernel" in line for line in reply["traceback"])
    texts, _ = _shown(kernels[kind], "print('b')")
    assert texts == [STREAM.format("b")]


def _wire() -> tuple[Wire, int, int]:
    """A wire, and the other ends: where requests come out, and where answers go in."""
    wire = Wire()
    return wire, wire.theirs[0], wire.theirs[1]


@pytest.mark.parametrize(("sent", "reason"), [((MAX_MESSAGE + 1).to_bytes(4, "big"), SILENT), (b"\0", ENDED)])
def test_a_wire_that_cannot_be_used_any_more_says_so(sent: bytes, reason: str) -> None:
    wire, _, answers = _wire()
    os.write(answers, sent)
    wire.close_theirs()
    with pytest.raises(Gone, match=re.escape(reason)):
        list(wire.take(10))
    wire.interrupt()
    wire.close()


def test_a_wire_gives_whole_frames_and_waits_for_no_one_who_does_not_read() -> None:
    wire, requests, answers = _wire()
    os.write(answers, b"\0\0\0\1a\0\0\0\0\0\0")
    assert list(wire.take(10)) == [b"a", b""]
    assert list(wire.take(0.01)) == []
    os.write(answers, b"\0\2bc")
    assert list(wire.take(10)) == [b"bc"]
    wire.put(bytes(2**24))
    start = time.monotonic()
    assert list(wire.take(0.1)) == []
    assert time.monotonic() - start < 5
    os.set_blocking(requests, False)
    read = 0
    while read < 2**24 + 4:
        with suppress(BlockingIOError):
            read += len(os.read(requests, 2**20))
        assert list(wire.take(0)) == []
    assert read == 2**24 + 4
    wire.close()


KEYRING = """
import ctypes
libc, name = ctypes.CDLL(None), b"a name of this test"
found = libc.syscall(250, 10, ctypes.c_long(-3), b"user", name, 0) > 0  # KEYCTL_SEARCH, in the session's
added = libc.syscall(248, b"user", name, b"text", 4, ctypes.c_long(-3)) > 0
print(found, added)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of system calls differ")
@pytest.mark.parametrize("modules", [MODULES, ()], ids=["forked", "cold"])
def test_kernels_share_no_keyring(modules: tuple[str, ...]) -> None:
    find_program("bwrap", "bubblewrap")
    code = f"""
import ctypes, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
ctypes.CDLL(None).syscall(250, 1, b"a session of this test")
from course_lib.grading.sandboxed_kernel import SandboxedKernel
for _ in range(2):
    kernel = SandboxedKernel({modules!r})
    kernel.run({KEYRING!r}, 20, lambda message: print(message["content"].get("text", ""), end=""))
    kernel.end()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] in (["False True"] * 2, ["False False"] * 2), done.stderr
