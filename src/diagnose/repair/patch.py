"""A file as it was and as it is edited: what every reader of a patch asks, each of it taken once."""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import NamedTuple

from diagnose.placement.semantics import Function, arguments, called, calls, functions_by_line
from diagnose.repair.syntax import tree_of

_MOVES = frozenset({"to", "cuda", "cpu"})
_HOST = re.compile("cpu|offload")


class Hunk(NamedTuple):
    """One place of a patch: the lines that are gone and those in their place, counted from 0, and both
    texts."""

    gone: range
    made: range
    was: str
    now: str


class Transfer(NamedTuple):
    """A move that a patch adds: the call, what it moves, the function or the file that it stands in."""

    call: ast.Call
    moved: ast.expr
    scope: ast.AST

    @property
    def line(self) -> int:
        """The line of the move."""
        return self.call.lineno

    @property
    def name(self) -> str:
        """What it moves, as it is written."""
        return ast.unparse(self.moved)

    @property
    def given(self) -> Set[str]:
        """The arguments of the function that it stands in."""
        own = self.scope.args.args if isinstance(self.scope, Function) else ()
        return {one.arg for one in own}


class Patch:
    """A file before and after its edits; the trees are shared, and not to be changed.

    Args:
        before: the text as it was.
        after: the edited text. Its trees raise SyntaxError where it is no Python.
    """

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self.after = after

    @cached_property
    def old(self) -> ast.Module:
        """The tree of the file as it was."""
        return tree_of(self.before)

    @cached_property
    def new(self) -> ast.Module:
        """The tree of the edited file."""
        return tree_of(self.after)

    @cached_property
    def rows(self) -> Sequence[str]:
        """The lines of the edited file."""
        return self.after.splitlines()

    @cached_property
    def hunks(self) -> Sequence[Hunk]:
        """The places where both differ, in their order."""
        old, new = self.before.splitlines(), self.rows
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        return [
            Hunk(range(i, j), range(k, m), "\n".join(old[i:j]), "\n".join(new[k:m]))
            for what, i, j, k, m in matcher.get_opcodes()
            if what != "equal"
        ]

    @cached_property
    def edited(self) -> frozenset[int]:
        """The numbers of the lines, from 1 on, that the file did not have there."""
        return frozenset(line + 1 for hunk in self.hunks for line in hunk.made)

    @property
    def added(self) -> Sequence[tuple[int, str]]:
        """Those lines: number and text."""
        return [(line, self.rows[line - 1]) for line in sorted(self.edited)]

    @cached_property
    def transfers(self) -> Sequence[Transfer]:
        """The moves in edited lines that the program did not have."""
        scopes = functions_by_line(self.new)
        return [
            Transfer(call, callee(call), scopes.get(call.lineno, self.new))
            for call in self._unknown(moves(self.old), moves(self.new))
        ]

    def _unknown(self, old: Iterable[ast.Call], new: Iterable[ast.Call]) -> Iterator[ast.Call]:
        known, every = Counter(map(ast.unparse, old)), [(one, ast.unparse(one)) for one in new]
        known -= Counter(said for one, said in every if one.lineno not in self.edited)
        for one, said in every:
            if one.lineno in self.edited:
                known[said] -= 1
                if known[said] < 0:
                    yield one


@lru_cache(maxsize=16)
def patch_of(before: str, after: str) -> Patch:
    """A file before and after; who asks for the same again shares what has been looked up."""
    return Patch(before, after)


def move_of(node: ast.AST) -> ast.Call | None:
    """A node, if it is a call that moves something."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _MOVES:
            return node
    return None


def moves(scope: ast.AST) -> list[ast.Call]:
    """The calls in a node that move something, outermost first."""
    return [one for one in calls(scope) if move_of(one)]


def callee(call: ast.Call) -> ast.expr:
    """What a method is called of."""
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def goes_to_cpu(call: ast.Call) -> bool:
    """Whether a move is one to the cpu, or to where things are offloaded, as its text says."""
    named = any(_HOST.search(ast.unparse(one)) for one in arguments(call))
    return named or (isinstance(call.func, ast.Attribute) and called(call) == "cpu")


def unmoved(call: ast.Call) -> str:
    """A call, without the moves of what it is made of: where a part of it is moved, it is the same one."""
    made = copy.deepcopy(call)
    if isinstance(made.func, ast.Attribute):
        made.func.value = _Unmoved().visit(made.func.value)
    made.args = [_Unmoved().visit(one) for one in made.args]
    return ast.unparse(made)


class _Unmoved(ast.NodeTransformer):
    """Leaves out the moves of an expression."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return callee(node) if move_of(node) is not None else node
