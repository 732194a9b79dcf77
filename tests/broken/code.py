"""Code that ends, blocks, floods or robs its kernel, in a cell of its own or in an answer."""

from __future__ import annotations

from cheats.cheat import Change, answer, cell

from .entry import Broken

NEVER = "It took too long|did not come to its end|was stopped before"
ENDED = "kernel ended"


def softmax(body: str) -> Change:
    """An answer to the first question that goes wrong when it is called; it can earn 14 points elsewhere."""
    return answer("def softmax(scores):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines()))


def last(code: str) -> Change:
    """A last cell of the student's own."""
    return cell(code, at=-1)


# What a kernel hears and answers by, be it pipes or sockets; some of them can be read only.
WIRES = """
import contextlib, os, stat
def is_wire(number):
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return False
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)
for each in filter(is_wire, range(3, 64)):
    with contextlib.suppress(OSError):
"""
# Another function for what sends a bundle.
DISPLAY = "import json\nimport IPython.display as shown\nreal = shown.display\n"
WITHOUT_REASON = """
def other(data, raw=False):
    (kind, text), = data.items()
    bundles = json.loads(text)
    for bundle in bundles:
        del bundle['missing']
    real({kind: json.dumps(bundles)}, raw=True)
shown.display = other
"""
NULL = """
def other(data, raw=False):
    kernel = get_ipython().kernel
    content = {'data': None, 'metadata': {}, 'transient': {}}
    kernel.session.send(kernel.iopub_socket, 'display_data', content, parent=kernel.get_parent())
shown.display = other
"""
STUB = "def softmax(scores):\n    return scores"

CODE = [
    Broken("exit", "a cell that calls os._exit", last("import os\nos._exit(0)")),
    Broken("exit-in-answer", "an answer that calls os._exit", softmax("import os\nos._exit(0)"), 14, ENDED),
    Broken("sys-exit", "a cell that calls sys.exit", last("import sys\nsys.exit()")),
    Broken("quit", "a cell that says quit()", last("quit()")),
    Broken("kill", "a cell that kills its own process", last("import os\nos.kill(os.getpid(), 9)")),
    Broken(
        "kill-all",
        "a cell that kills the process above its own",
        last("import os\ntry: os.kill(os.getppid(), 9)\nexcept OSError: pass"),
    ),
    Broken("segfault", "a cell that reads address 0", last("import ctypes\nctypes.string_at(0)")),
    Broken("endless", "a cell without end", last("while True: pass")),
    Broken("endless-answer", "an answer without end", softmax("while True: pass"), 14, NEVER),
    Broken(
        "stubborn",
        "a cell without end that swallows interrupts",
        last("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
    ),
    Broken(
        "stubborn-answer",
        "an answer without end that swallows interrupts",
        softmax("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
        14,
        NEVER + "|" + ENDED,
    ),
    Broken(
        "deaf",
        "a cell that ignores all signals",
        last("import signal, time\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(10 ** 6)"),
    ),
    Broken(
        "forks",
        "a cell that starts processes without end",
        last(
            "import os, time\ntry:\n    for _ in range(500):\n"
            "        if os.fork() == 0: time.sleep(60); os._exit(0)\nexcept OSError: pass"
        ),
    ),
    Broken(
        "threads",
        "a cell that starts threads without end",
        last(
            "import threading, time\ntry:\n    for _ in range(5000):\n"
            "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
            "except RuntimeError: pass"
        ),
    ),
    Broken(
        "deadlock",
        "a cell that waits for a lock it holds",
        last("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"),
    ),
    Broken("memory", "a cell that asks for all memory", last("x = [bytearray(1 << 30) for _ in range(64)]")),
    Broken(
        "disk",
        "a cell that fills the disk",
        last("with open('/tmp/full', 'wb') as file:\n    for _ in range(2000): file.write(bytes(1 << 20))"),
    ),
    Broken(
        "disk-here",
        "a cell that fills its own folder",
        last("for n in range(64):\n    with open(f'full-{n}', 'wb') as file: file.write(bytes(1 << 24))"),
    ),
    Broken("flood", "a cell that prints without end", last("while True: print('x' * 1000)")),
    Broken("one-line", "a cell that prints one line of 50 MB", last("print('x' * 50_000_000)")),
    Broken(
        "stderr-flood",
        "a cell that writes past the kernel",
        last("import os\nfor _ in range(2000): os.write(2, b'x' * 10_000)"),
    ),
    Broken("recursion", "a cell that calls itself", last("def f(): f()\nf()")),
    Broken(
        "c-recursion",
        "a cell that exhausts C's stack",
        last("import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()"),
    ),
    Broken("input", "a cell that asks", last("input('Your name? ')")),
    Broken("getpass", "a cell that asks for a password", last("import getpass\ngetpass.getpass()")),
    Broken("pip", "a cell that installs", last("%pip install --quiet einops")),
    Broken("reset", "a cell that forgets everything", last("%reset -f")),
    Broken("run", "a cell that runs a file that is not there", last("%run helpers.py")),
    Broken(
        "bash",
        "a cell that deletes all it can",
        last("%%bash\nrm -rf ~/* COURSE/victims COURSE/gradebook.db"),
    ),
    Broken("shell", "a cell that deletes its folder", last("!rm -rf ./* ~/.[a-z]*")),
    Broken("descriptors", "a cell that closes every file", last("import os\nos.closerange(0, 1000)")),
    Broken(
        "wires",
        "a cell that closes what the kernel hears and answers by",
        last(WIRES + "        os.close(each)"),
    ),
    Broken(
        "garbage",
        "a cell that sends no messages but bytes",
        last(WIRES + "        os.write(each, b'\\0\\0\\0\\2\\x80{')"),
    ),
    Broken(
        "empty-message",
        "a cell that sends a message in which nothing stands",
        last(WIRES + "        os.write(each, b'\\0\\0\\0\\2{}')"),
    ),
    Broken(
        "half-frame",
        "a cell that begins a message and never ends it",
        last(WIRES + "        os.write(each, b'\\0\\0\\x80\\0{')"),
    ),
    Broken(
        "endless-frame",
        "a cell that begins a message of four gigabytes",
        last(WIRES + "        os.write(each, b'\\xff\\xff\\xff\\xff{')"),
    ),
    Broken(
        "deep-message",
        "a cell that sends objects in objects without end",
        last(WIRES + "        os.write(each, b'\\0\\0\\xff\\xff' + b'[' * 0xffff)"),
    ),
    Broken(
        "two-bundles",
        "a cell after which every answer sends two bundles; it is left out then",
        last(
            "import course_lib.checks.answer as a\nfrom IPython.display import display\nreal = a.answer\n"
            "def twice(sent):\n    real(sent)\n    real(sent)\na.answer = twice"
        ),
    ),
    Broken(
        "two-bundles-answer",
        "an answer that sends a bundle of its own, too",
        answer(
            "import course_lib.checks.answer as a\nreal = a.answer\n"
            "def twice(sent):\n    real(sent)\n    real(sent)\n"
            "a.answer = twice\ndef softmax(scores):\n    return scores"
        ),
        14,
        "could not be read",
    ),
    Broken(
        "bundle-without-reason",
        "a cell after which no answer says whether there is a function; it is left out then",
        last(DISPLAY + WITHOUT_REASON),
    ),
    Broken(
        "bundle-without-reason-answer",
        "an answer that does so",
        answer(DISPLAY + WITHOUT_REASON + STUB),
        14,
        "could not be read",
    ),
    Broken(
        "display-of-null", "a cell after which answers are null; it is left out then", last(DISPLAY + NULL)
    ),
    Broken(
        "display-of-null-answer",
        "an answer that does so",
        answer(DISPLAY + NULL + STUB),
        14,
        "could not be read",
    ),
    Broken(
        "lines-for-text",
        "a cell that prints lists of lines",
        last(
            "kernel = get_ipython().kernel\nfor text in ('a', ['b'], ['c']):\n"
            "    content = {'name': 'stdout', 'text': text}\n"
            "    kernel.session.send(kernel.iopub_socket, 'stream', content, parent=kernel.get_parent())"
        ),
    ),
    Broken("no-modules", "a cell that empties sys.modules", last("import sys\nsys.modules.clear()")),
    Broken("no-builtins", "a cell that empties builtins", last("import builtins\nvars(builtins).clear()")),
    Broken("odd-output", "an output that no file can hold", last("print('half a letter: \\ud800')")),
    Broken(
        "invalid-output",
        "a picture that is none",
        last("from IPython.display import display\ndisplay({'image/png': None}, raw=True)"),
    ),
    Broken(
        "deep-folders",
        "folders in folders",
        last("import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')"),
    ),
    Broken("page", "a cell that opens the pager", last("print?\n%page")),
    Broken("time-zone", "a cell that turns back the clock", last("import time\ntime.time = lambda: 0.0")),
]
