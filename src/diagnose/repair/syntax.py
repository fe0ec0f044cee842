"""The syntax of a program's texts, read once for all that ask: its blocks, and what a line stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache


@lru_cache(maxsize=16)
def tree_of(text: str) -> ast.Module:
    """A text's syntax tree, which others have as well: it is not to be changed. Raises SyntaxError."""
    return ast.parse(text)


def spans(node: ast.AST, line: int) -> bool:
    """Whether a node of a file stands in a line of it, counted from 1; a node without lines does not."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return bool(first <= line <= (last or 0))


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statements of each body and branch of a file, outermost first."""
    for node in ast.walk(tree):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block
