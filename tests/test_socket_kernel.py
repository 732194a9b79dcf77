"""Cells do in the sandbox's kernel what they do in Jupyter's own, and it never keeps anybody waiting."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from course_lib.grading.jupyter_kernel import JupyterKernel
from course_lib.grading.kernel import MAX_MESSAGE, Gone, Kernel, Message
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
    "has a path": ["import sys\nsys.path, sys.argv[:1] == [], sys.stdin.read()"],
    "prints letters": ["print('ä→\U0001f600')"],
    "prints much": ["for i in range(3000): print('x' * 20)"],
}
# Addresses, numbers of processes, and where Python is, which has a short name in a home folder.
CHANGING = re.compile(r"0x[0-9a-f]+|(?<=ipykernel_)\d+|[~…]?[\w/.-]*(?=/lib/python)")


@pytest.fixture(scope="module")
def kernels() -> Iterator[dict[str, Kernel]]:
    """Jupyter's own kernel, one that is forked, and one that is started."""
    find_program("bwrap", "bubblewrap")
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("PYTEST_CURRENT_TEST")  # which lets ipykernel do less
        made: dict[str, Kernel] = {
            "jupyter": JupyterKernel("python3"),
            "forked": SandboxedKernel(MODULES),
            "cold": SandboxedKernel(()),
        }
    yield made
    for each in made.values():
        each.end()


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_shows_what_it_shows_in_jupyters_own_kernel(kernels: dict[str, Kernel], name: str) -> None:
    for code in CELLS[name]:
        shown = {kind: _shown(kernel, code) for kind, kernel in kernels.items()}
        assert shown["forked"] == shown["jupyter"]
        assert shown["cold"] == shown["jupyter"]


def _shown(kernel: Kernel, code: str) -> tuple[list[str], Any]:
    """The outputs of a cell, and what the kernel says of how it went."""
    outputs = Shown().cell()
    reply, interrupted = kernel.run(code, 30, outputs.hear, expression="6 * 7")
    assert not interrupted
    texts = [CHANGING.sub("…", str(each)) for each in kept(outputs.outputs)]
    return texts, (reply["status"], reply["execution_count"], reply["user_expressions"], reply["payload"])


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
    assert name == "prints" or not any("socket_kernel" in line for line in reply["traceback"])
    texts, _ = _shown(kernels[kind], "print('b')")
    assert texts == ["{'output_type': 'stream', 'name': 'stdout', 'text': 'b\\n'}"]


BROKEN = {
    "a length without end": b"\xff\xff\xff\xff",
    "a length that is too much": (MAX_MESSAGE + 1).to_bytes(4, "big"),
    "nothing more": None,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_wire_that_cannot_be_used_any_more_says_so(name: str) -> None:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        wire = Wire(mine)
        if BROKEN[name] is None:
            theirs.close()
        else:
            theirs.send(BROKEN[name])
        with pytest.raises(Gone):
            list(wire.take(10))


def test_a_wire_gives_whole_frames_and_waits_for_no_one_who_does_not_read() -> None:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        wire = Wire(mine)
        theirs.send(b"\0\0\0\1a\0\0\0\0\0\0")
        assert list(wire.take(10)) == [b"a", b""]
        assert list(wire.take(0.01)) == []
        theirs.send(b"\0\2bc")
        assert list(wire.take(10)) == [b"bc"]
        wire.put(bytes(2**24))
        start = time.monotonic()
        assert list(wire.take(0.1)) == []
        assert time.monotonic() - start < 5
        theirs.setblocking(False)
        read = 0
        while read < 2**24 + 4:
            with suppress(BlockingIOError):
                read += len(theirs.recv(2**20))
            assert list(wire.take(0)) == []
        assert read == 2**24 + 4
