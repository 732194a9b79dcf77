"""Which modules kernels of an assignment's submissions find imported: what the solution imports, and checks.

It is told without importing anything that takes long: warm parents wait for it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from course_lib.checks.assignments import MODULES

from .plain import parsed, plain

# What is not handed out: a kernel's list of modules would tell of it.
SECRET = re.compile(
    r"^([ \t]*)### BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME)$.*?### END \2$", re.MULTILINE | re.DOTALL
)
# What questions are answered by, and what a notebook's own first cell loads.
CHECKS = ("course_lib.checks.answer", "course_lib.checks.check")
# What the first optimiser of a process imports, which takes as long as torch itself.
COMPILER = "torch._dynamo"
TORCH_USED = "course_lib.checks.torch_used"
ASSIGNMENTS = "course_lib.checks.assignments"


def preloaded_for(solution: Path) -> list[str]:
    """The modules that students' versions of a solution notebook import, and what its checks import; nothing
    where it cannot be read, which whoever needs more of it will say.

    None of them may start a thread: a fork would lose it, and kernels start cold where a parent has any.
    """
    try:
        cells = json.loads(solution.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    found = dict.fromkeys(name for source in sources for name in _imported(source))
    own = MODULES.get(solution.stem)
    checks = [*CHECKS, *([f"{ASSIGNMENTS}.{own}"] if own else [])]
    compiler = [COMPILER] if any("optim." in source for source in sources) else []
    used = [TORCH_USED] if any(name.partition(".")[0] == "torch" for name in found) else []
    return [*found, *checks, *compiler, *used]


def _imported(source: str) -> Iterator[str]:
    """The modules of a cell's import statements, but for those that students do not see."""
    tree = parsed(plain(SECRET.sub(r"\1pass", source)))
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
