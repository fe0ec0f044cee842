"""The nodes of a tree in the order of `ast.walk`, found once: the same functions are asked about again for
each meeting, call and run of a program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = Function | ast.ClassDef


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


@lru_cache(maxsize=16)
def _parents(tree: ast.Module) -> Mapping[int, ast.AST]:
    """What each node of a file stands in, by the node's identity."""
    return {id(inner): outer for outer in walk(tree) for inner in ast.iter_child_nodes(outer)}


def path_to(tree: ast.Module, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, outermost first, itself last; nothing where it is not in the file."""
    parents = _parents(tree)
    path = [node]
    while (outer := parents.get(id(path[-1]))) is not None:
        path.append(outer)
    return path[::-1] if path[-1] is tree else []


@lru_cache(maxsize=16)
def functions_by_line(tree: ast.Module) -> Mapping[int, Function]:
    """The innermost function that each line of a file is in."""
    functions = (one for one in walk(tree) if isinstance(one, Function))  # outer ones come first
    return {
        line: one
        for one in functions
        for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)
    }
