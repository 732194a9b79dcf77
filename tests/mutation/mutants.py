"""Every version of a solution that differs from it in one small way."""

from __future__ import annotations

import ast
import contextlib
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

from .operators import AnotherName, LeaveOutArgument, LeaveOutStatement

# These put random numbers in, or need to be told where; AnotherName does that thoroughly.
LEFT_OUT = ("core/VariableReplacer", "core/VariableInserter")


@dataclass(frozen=True)
class Mutant:
    """One version of a function: its code, and the line that differs as it is in the solution and here."""

    code: str
    before: str
    after: str


def plain(code: str) -> str:
    """The code without comments, docstrings and annotations, of which none changes what it does.

    >>> plain("def f(x: int) -> int:\\n    'Docstring.'\\n    return (x + 1)  # comment")
    'def f(x):\\n    return x + 1'
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def mutants(code: str) -> list[Mutant]:
    """All different ones, in the order of the operators; what cannot be compiled is none.

    >>> [each.after for each in mutants("def f(x): return -x")]
    ['return +x', 'return ~x', 'return not x', 'return x']
    """
    code = plain(code)
    nodes, found = list(ast_nodes(get_ast(code))), {}
    for operator in operators(code):
        for occurrence in range(sum(len(list(operator.mutation_positions(node))) for node in nodes)):
            changed = mutate_code(code, operator, occurrence)
            with contextlib.suppress(SyntaxError):
                found[ast.unparse(ast.parse(changed))] = None
    found.pop(code, None)
    return [Mutant(each, *difference(code, each)) for each in found]


def operators(code: str) -> Iterator[Operator]:
    """Cosmic Ray's, and ours for the names in this code."""
    for name in operator_names():
        if name not in LEFT_OUT:
            yield get_operator(name)()
    yield LeaveOutStatement()
    yield LeaveOutArgument()
    attributes = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef):
            yield AnotherName(names_in(node))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            attributes.add(node.attr)
    yield AnotherName(attributes, attributes=True)


def names_in(function: ast.FunctionDef) -> set[str]:
    """A function's parameters and the variables it assigns."""
    names = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    names |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names - {"self", "_"}


def difference(before: str, after: str) -> tuple[str, str]:
    """The lines that differ; a statement that is left out stays as a comment.

    >>> difference("x = f(x)\\nreturn x", "pass\\nreturn x")
    ('x = f(x)', 'pass  # x = f(x)')
    """
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    old, new = (" ".join(line[2:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return old, f"pass  # {old}" if new == "pass" else new
