"""Cheats that turn the notebook's own machinery: IPython's hooks, its methods, its messages."""

from __future__ import annotations

from .cheat import WRONG, Cheat, answer, both, cell

KEPT = f"{WRONG}\nwrong = softmax\n"
OUTSIDE = "the verdict is made outside the kernel; test cells do not run"
NOT_HEARD = "while a kernel is asked, nothing but one output with bundles is heard"

CHEATS = [
    Cheat(
        "ast-hook",
        "an AST transformer of IPython that removes every assert",
        OUTSIDE,
        cell(
            """
import ast
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(NoAsserts())
"""
        ),
    ),
    Cheat(
        "input-hook",
        "an input transformer of IPython that turns a test cell into its points",
        OUTSIDE,
        cell("get_ipython().input_transformers_post.append(lambda lines: ['2.0'])"),
    ),
    Cheat(
        "patched-run-cell",
        "IPython's run_code replaced by one that runs nothing",
        OUTSIDE,
        cell(
            """
async def nothing(self, code, result=None, **options):
    return False
type(get_ipython()).run_code = nothing
"""
        ),
    ),
    Cheat(
        "patched-compile",
        "builtins.compile replaced by one that compiles “pass”",
        OUTSIDE,
        cell(
            """
import ast, builtins
original = builtins.compile
def harmless(source, *args, **kwargs):
    if isinstance(source, ast.Module) and "assert" in ast.unparse(source):
        source = ast.parse("pass")
    return original(source, *args, **kwargs)
builtins.compile = harmless
"""
        ),
    ),
    Cheat(
        "display-hook",
        "a displayhook that shows 2.0 whatever a cell's value is",
        OUTSIDE,
        cell(
            """
hook = type(get_ipython().displayhook)
shown = hook.compute_format_data
hook.compute_format_data = lambda self, result: ({"text/plain": "2.0"}, {})
"""
        ),
    ),
    Cheat(
        "no-last-value",
        "the setting by which a cell has no last value: nbgrader then counts it as passed",
        OUTSIDE,
        cell("get_ipython().ast_node_interactivity = 'none'"),
    ),
    Cheat(
        "events",
        "a hook before each cell that displays the points first: nbgrader takes the first result",
        OUTSIDE,
        cell("get_ipython().events.register('pre_run_cell', lambda info: get_ipython().displayhook(2.0))"),
    ),
    Cheat(
        "forged-result",
        "the tested function displays 2.0 as if it were the cell's value",
        NOT_HEARD,
        answer(KEPT + "def softmax(scores):\n    get_ipython().displayhook(2.0)\n    return wrong(scores)"),
    ),
    Cheat(
        "forged-message",
        "a thread that sends results over the kernel's own socket, as replies to each test cell",
        NOT_HEARD,
        both(
            answer(
                KEPT + "import time\ndef softmax(scores):\n    time.sleep(0.02)\n    return wrong(scores)"
            ),
            cell(
                """
import threading, time
kernel, seen = get_ipython().kernel, set()
def forge(until=time.time() + 60):
    while time.time() < until:
        parent = kernel.get_parent("shell")
        if parent and parent["header"]["msg_id"] not in seen:
            seen.add(parent["header"]["msg_id"])
            content = {"execution_count": 1, "data": {"text/plain": "2.0"}, "metadata": {}}
            kernel.session.send(kernel.iopub_socket, "execute_result", content, parent=parent)
        time.sleep(0.002)
threading.Thread(target=forge, daemon=True).start()
"""
            ),
        ),
    ),
    Cheat(
        "filtered-messages",
        "the kernel's session replaced: it says that every cell ended well, and sends no error",
        OUTSIDE,
        cell(
            """
session = type(get_ipython().kernel.session)
send = session.send
def only_good_news(self, stream, kind, content=None, *args, **kwargs):
    if kind == "error":
        return None
    if kind == "execute_reply":
        content = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
    return send(self, stream, kind, content, *args, **kwargs)
session.send = only_good_news
"""
        ),
    ),
    Cheat(
        "idle-early",
        "the tested function says over the socket that its cell has ended well, before it has",
        "a bundle must be there when the kernel says that it has ended",
        answer(
            KEPT
            + """
def softmax(scores):
    import time
    kernel = get_ipython().kernel
    parent = kernel.get_parent("shell")
    reply = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
    # In the marking's own kernel all messages take one way, in Jupyter's the reply takes another.
    kernel.session.send(kernel.shell_stream or kernel.iopub_socket, "execute_reply", reply, parent=parent,
                        ident=kernel._shell_parent_ident.get())
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent=parent)
    time.sleep(0.3)
    return wrong(scores)
"""
        ),
    ),
    Cheat(
        "startup-file",
        "a file in IPython's start-up folder, which runs in the kernels of others",
        "each kernel has a home of its own, which goes with it",
        cell(
            """
import os
folder = os.path.join(os.path.expanduser("~"), ".ipython", "profile_default", "startup")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "00-left.py"), "w") as file:
    file.write("import builtins\\nbuiltins.left = 'left behind ' 'by a startup file'\\n")
"""
        ),
        goal="leak",
        friends={"friend": cell("import builtins\nprint(getattr(builtins, 'left', 'nothing'))")},
    ),
]
