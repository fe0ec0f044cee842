"""A parsed file with the ways from its nodes up, and what its statements bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from placing import BODIES, bare, head


class Stated(NamedTuple):
    """A simple statement, or the head of one with a body: as it stands, and without what places."""

    node: ast.stmt
    owner: str
    full: str
    bare: str


class Tree:
    """A parsed file with the ways from its nodes up."""

    def __init__(self, tree: ast.Module) -> None:
        self.parents = dict[ast.AST, ast.AST]()
        self.statements = list[ast.stmt]()
        self._add(tree)

    def _add(self, node: ast.AST) -> None:
        for field in BODIES:
            for one in getattr(node, field, None) or ():
                self.parents[one] = node
                if isinstance(one, ast.stmt):
                    self.statements.append(one)
                self._add(one)

    def within(self, first: int, number: int) -> list[Stated]:
        """The statements of which a line stands among ``number`` from ``first`` on, in the file's order."""
        last = first + number - 1
        found = []
        for node in self.statements if number else ():
            if node.lineno <= last and _head_end(node) >= first:
                own = head(node)
                for one in ast.walk(own):
                    for child in ast.iter_child_nodes(one):
                        self.parents[child] = node if one is own else one
                found.append(Stated(node, self.owner(node), ast.dump(own), ast.dump(bare(own))))
        return sorted(found, key=lambda one: one.node.lineno)

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """What holds a node, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that holds a node."""
        for one in self.up(node):
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                return one
        return None

    def owner(self, node: ast.AST) -> str:
        """The names of the classes and functions that hold a node, with dots."""
        names = [
            one.name
            for one in self.up(node)
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
        return ".".join(reversed(names))

    def functions(self) -> set[str]:
        """The names, with dots, of all functions and classes."""
        held = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return {
            f"{self.owner(one)}.{one.name}".lstrip(".")
            for one in self.statements
            if isinstance(one, held)
        }

    def holder(self, node: ast.AST) -> ast.ClassDef | None:
        """The class that holds a node."""
        return next((one for one in self.up(node) if isinstance(one, ast.ClassDef)), None)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is part of."""
        return (
            node
            if isinstance(node, ast.stmt)
            else next(one for one in self.up(node) if isinstance(one, ast.stmt))
        )


def _head_end(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def root_of(node: ast.AST) -> str:
    """The name that attributes and items are taken of; empty where there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """All names in a node."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """All arguments of a function."""
    args = function.args
    return [
        *args.posonlyargs,
        *args.args,
        *args.kwonlyargs,
        *filter(None, (args.vararg, args.kwarg)),
    ]


def loops(tree: Tree, node: ast.AST) -> Iterator[ast.For | ast.comprehension]:
    """The loops of a node's function that hold it, also those of comprehensions."""
    for one in tree.up(node):
        if isinstance(one, ast.For):
            yield one
        elif isinstance(one, ast.ListComp | ast.DictComp | ast.GeneratorExp | ast.SetComp):
            yield from one.generators
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            return


def keeps_attribute(node: ast.stmt) -> bool:
    """Whether a statement assigns an attribute of ``self``."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and root_of(node.targets[0]) == "self"
    )
