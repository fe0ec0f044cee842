"""The syntax of a program's texts, read once: each guard of a proof asks for that of the same few."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=16)
def tree_of(text: str) -> ast.Module:
    """A text's syntax tree, which others have as well: it is not to be changed. Raises SyntaxError."""
    return ast.parse(text)
