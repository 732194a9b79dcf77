"""Which submissions hold the same code, once names of variables, comments and layout are set aside."""

from __future__ import annotations

import ast
import json
import warnings
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from course_lib.grading.class_record import marked_path

FEWEST = 2  # functions; a single short one is the same by chance


@dataclass(frozen=True)
class Alike:
    """Students all of whose written answers are the same: how many functions, and in how many points are
    missing. What is wrong in the same way says more: of a short right answer there are few versions.
    """

    students: tuple[str, ...]
    functions: int
    wrong: int


def alike(codes: Mapping[str, Mapping[str, str]], wrong: Mapping[str, Collection[str]]) -> tuple[Alike, ...]:
    """Groups of students with the same code, the largest first.

    Parameters: codes, by student the text of each function's cell; wrong, by student the functions that lost
    points.
    """
    groups: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for student, functions in codes.items():
        read = {name: plain_code(code) for name, code in functions.items()}
        written = tuple(sorted((name, code) for name, code in read.items() if code))
        if len(written) >= FEWEST:
            groups[written].append(student)
    found = [
        Alike(tuple(sorted(who)), len(written), len({name for name, _ in written} & set(wrong[who[0]])))
        for written, who in groups.items()
        if len(who) > 1
    ]
    return tuple(sorted(found, key=lambda each: (-each.wrong, -len(each.students), each.students)))


def answers(root: Path, assignment: str, student: str, functions: Collection[str]) -> dict[str, str]:
    """The text of each function's cell in a student's marked notebook; nothing where there is none."""
    path = marked_path(root, student, assignment)
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    named = {cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"): cell["source"] for cell in cells}
    return {name: "".join(named[name]) for name in functions if name in named}


def plain_code(code: str) -> str:
    """What code does, without what it looks like; nothing where no answer is written yet.

    What cannot be read, or is nested too deeply, is compared as text.

    >>> one = "def f(x):  # mine\\n    total = x + 1\\n    return total"
    >>> two = 'def f(value):\\n    "Add one."\\n    y = value+1\\n    return y'
    >>> plain_code(one) == plain_code(two) != plain_code(one.replace("+", "-"))
    True
    >>> plain_code("def f(x):\\n    raise NotImplementedError('f')")
    ''
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # a student's "\\d" is no concern here
            return _plain(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " ".join(code.split())


def _plain(tree: ast.Module) -> str:
    bodies = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for node in bodies:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    if all(_says_nothing(node) for node in tree.body) or any(_is_stub(node) for node in bodies):
        return ""
    return ast.dump(_Renamed(tree).visit(tree))


def _says_nothing(node: ast.stmt) -> bool:
    """A text, dots or pass, or a module that the answer would use."""
    return isinstance(node, (ast.Pass, ast.Import)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _is_stub(node: ast.FunctionDef | ast.ClassDef) -> bool:
    last = node.body[-1]
    return len(node.body) == 1 and isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last)


class _Renamed(ast.NodeTransformer):
    """Variables and arguments by the order in which they come; hints of types are left out."""

    def __init__(self, tree: ast.AST) -> None:
        own = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
        own += [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.names = {name: f"v{number}" for number, name in enumerate(dict.fromkeys(own))}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self.names[node.arg])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.Assign([node.target], node.value))
