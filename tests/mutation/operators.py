"""Operators that Cosmic Ray has none of, written as its own are: on the nodes of parso's tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import parso
from cosmic_ray.operators.operator import Example, Operator

Position = tuple[tuple[int, int], tuple[int, int]]


class LeaveOutStatement(Operator):
    """Put `pass` in the place of a statement that is no definition and does not return."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """Where a simple statement stands."""
        if node.type == "simple_stmt" and node.children[0].type not in ("return_stmt", "keyword"):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The statement `pass`, as far to the right."""
        first = node.get_first_leaf()
        return parso.python.tree.Name("pass\n", first.start_pos, prefix=first.prefix)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """For the tests."""
        return (Example("x.sort()\n", "pass\n"),)


class LeaveOutArgument(Operator):
    """Call with one argument less."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """One for each argument of a call."""
        for argument in _arguments(node):
            yield argument.start_pos, argument.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The call without that argument and the comma behind it."""
        arguments, inside = _arguments(node), node.children[1]
        if len(arguments) == 1:
            del node.children[1]
        else:
            place = inside.children.index(arguments[index])
            del inside.children[place : place + 2]
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """For the tests."""
        return (
            Example("x.max(axis=0)", "x.max()"),
            Example("f(a, *b)", "f( *b)"),
            Example("f(a, *b)", "f(a,)", occurrence=1),
        )


class AnotherName(Operator):
    """Read another variable of the same function, or another attribute of the same object.

    Parameters: names, one of which takes the place of another; attributes, whether they stand behind "self.".
    """

    def __init__(self, names: Collection[str], attributes: bool = False) -> None:
        self.names = sorted(names)
        self.attributes = attributes

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """For every use of one of the names, one for each other name."""
        if node.type == "name" and node.value in self.names and self._is_used(node):
            for _ in self.names[1:]:
                yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The same use of another name."""
        others = [name for name in self.names if name != node.value]
        return parso.python.tree.Name(others[index], node.start_pos, prefix=node.prefix)

    def _is_used(self, node: Any) -> bool:
        if node.is_definition() or node.get_next_leaf() == "=":
            return False
        before = node.get_previous_leaf()
        if before is None or before != ".":
            return not self.attributes
        return self.attributes and before.get_previous_leaf().value == "self"

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """For the tests."""
        return (
            Example("c = a.b + f(b=a)", "c = b.b + f(b=a)", operator_args={"names": ("a", "b")}),
            Example("c = a.b + f(b=a)", "c = a.b + f(b=b)", 1, {"names": ("a", "b")}),
            Example("self.a(self.b.a, a)", "self.b(self.b.a, a)", 0, {"names": "ab", "attributes": True}),
            Example("self.a(self.b.a, a)", "self.a(self.a.a, a)", 1, {"names": "ab", "attributes": True}),
        )


def _arguments(node: Any) -> list[Any]:
    """The arguments of a call's brackets; none for other nodes."""
    if node.type != "trailer" or node.children[0] != "(" or len(node.children) == 2:
        return []
    inside = node.children[1]
    return [each for each in inside.children if each != ","] if inside.type == "arglist" else [inside]
