"""Which modules of this package a module needs, read from the code without running it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

PACKAGE = "course_lib"


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package, by its dotted name."""
    return {_name(path.relative_to(root)): path for path in sorted((root / PACKAGE).rglob("*.py"))}


def reachable(root: Path, start: Collection[str], without: Collection[str] = ()) -> set[str]:
    """The modules of the package that these need, themselves included, directly or through others.

    Parameters: without, modules that are not followed and not returned.
    """
    known, found = modules(root), set[str]()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name in known and name not in found and name not in without:
            found.add(name)
            waiting += _mentioned(name, known[name])
            waiting += [name.rpartition(".")[0]]  # importing a module imports the package that it is in
    return found


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _mentioned(name: str, path: Path) -> Iterator[str]:
    """What could be a module: names in imports, and files "x.py" beside it that are started by name."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".py"):
            yield f"{package}.{node.value.removesuffix('.py')}"
