"""What a traceback shows of the run that failed: lines that ran, and functions that calls entered."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from diagnose.placement.model import Source
from diagnose.placement.semantics import called, lines_of


class Line(NamedTuple):
    """A line of one of the user's files."""

    path: str
    number: int


#: Functions that are entered by a call of their object.
_OF_CALLS = frozenset({"forward", "__call__"})


class StackTrace:
    """The user's lines of a traceback, outermost first.

    Args:
        lines: the lines.
        called: the places of those that the one before calls, with no library but torch between the two.
        of_main: the first file may be the program that was run.
    """

    def __init__(
        self, lines: Sequence[Line] = (), called: Collection[int] = (), *, of_main: bool = True
    ) -> None:
        self.lines = tuple(lines)
        self.of_main = of_main
        self._called = called
        self._numbers = dict[str, list[int]]()
        for line in lines:
            self._numbers.setdefault(line.path, []).append(line.number)

    def at(self, lines: Sequence[Line]) -> StackTrace:
        """The same with its lines where they are in edited files."""
        return StackTrace(lines, self._called, of_main=self.of_main)

    def is_of(self, source: Source) -> bool:
        """Whether a line is one of a file's."""
        return source.path in self._numbers

    def is_in(self, source: Source, first: ast.AST, last: ast.AST | None = None) -> bool:
        """Whether a line is one of a node's, or of those from the first of one to the last of another."""
        return any(number in lines_of(first, last) for number in self._numbers.get(source.path, ()))

    def ends_in(self, source: Source, node: ast.AST) -> bool:
        """Whether it failed in one of a node's lines."""
        last = self.lines[-1] if self.lines else None
        return last is not None and last.path == source.path and last.number in lines_of(node)

    def calling(self) -> Iterator[Line]:
        """The lines that call one another, innermost first."""
        for position in range(len(self.lines) - 1, -1, -1):
            yield self.lines[position]
            if position not in self._called:
                return

    def branch(self, source: Source, node: ast.If) -> bool | None:
        """Whether the test of an ``if`` held: a line of one of its blocks ran, or one behind a block that
        leaves the function. None where the lines do not tell."""
        body = self.is_in(source, node.body[0], node.body[-1])
        orelse = bool(node.orelse) and self.is_in(source, node.orelse[0], node.orelse[-1])
        if body or orelse:
            return body if body is not orelse else None
        if not isinstance(node.body[-1], ast.Return | ast.Raise):
            return None
        function, end = source.function_at(node.lineno), lines_of(node).stop
        after = (n for n in self._numbers.get(source.path, ()) if n >= end)
        behind = any(source.function_at(number) is function for number in after)
        return False if behind else None

    def entered(self, source: Source, node: ast.AST) -> Line | None:
        """The line of the function that a call went on to; None where the lines do not tell."""
        if not isinstance(node, ast.Call) or source.path not in self._numbers:
            return None
        for position, (line, inner) in enumerate(pairwise(self.lines), 1):
            here = line.path == source.path and line.number in lines_of(node)
            if here and position in self._called:
                return inner
        return None

    @staticmethod
    def fits(node: ast.AST, function: str) -> bool:
        """Whether a call may be the one that entered a function, by their names."""
        return function in _OF_CALLS or (isinstance(node, ast.Call) and called(node) == function)
