"""The nodes of a tree in the order of `ast.walk`, found once: the same functions are asked about again for
each meeting, call and run of a program."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def walk(node: ast.AST) -> Sequence[ast.AST]:
    """A node and all below it. Trees that are analysed are not changed, so that what is found of a file,
    a class or a function is kept."""
    if isinstance(node, ast.Module):
        return _of_file(node)
    return _of_definition(node) if isinstance(node, _Definition) else _below(node)


def _below(node: ast.AST) -> Sequence[ast.AST]:
    found = [node]
    for one in found:  # which grows
        for name in one._fields:
            value = getattr(one, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return found


#: Few files are looked at at once, and each has many definitions.
_of_file = lru_cache(maxsize=16)(_below)
_of_definition = lru_cache(maxsize=1024)(_below)
