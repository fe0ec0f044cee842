"""What a patch's text tells of it, read with what stands around the edits."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.semantics import Function, functions, names, parameters
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, callee, goes_to_cpu, move_of, moves


def parts(patch: Patch) -> Iterator[Sentence]:
    """No two edits of a function move what was made of one value that it is given, or a loop gives it; each
    part may be moved where it is taken out."""
    edited = patch.edited
    tree, known = patch.new, set(map(ast.unparse, moves(patch.old)))
    for scope in (tree, *functions(tree)):
        nodes = list(_own(scope))
        taken = {id(call) for node in nodes for call in _taken(node)}
        seen: dict[str, int] = {}
        calls = [call for call in map(move_of, nodes) if call and id(call) not in taken]
        for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
            if call.lineno not in edited or ast.unparse(call) in known or goes_to_cpu(call):
                continue
            origins = _origins(callee(call), nodes, _given(scope, nodes), call.lineno)
            for name in sorted(origins & set(seen)):
                yield said("parts", line=seen[name], other=call.lineno, name=name)
            seen |= dict.fromkeys(origins, call.lineno)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or a file, without those of the functions in it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, Function):
            yield node
            yield from _own(node)


def _given(scope: ast.AST, nodes: list[ast.AST]) -> set[str]:
    """The names that a function's caller or a loop gives values."""
    found: set[str] = set()
    if isinstance(scope, Function):
        found = {one.arg for one in parameters(scope)} - {"self"}
    for node in nodes:
        if isinstance(node, ast.For):
            found |= set(names(node.target))
    return found


def _taken(node: ast.AST) -> Iterator[ast.AST]:
    """The moves of parts in the statement that gives them a name: ``y = batch[1].to(device)``."""
    if isinstance(node, ast.Assign):
        value = node.value
        for one in value.elts if isinstance(value, ast.Tuple) else [value]:
            call = move_of(one)
            if call and isinstance(callee(call), ast.Name | ast.Subscript | ast.Attribute):
                yield call


def _origins(
    node: ast.AST, nodes: list[ast.AST], given: set[str], line: int, depth: int = 6
) -> set[str]:
    """The given names that a value is made of, by views, parts and arithmetic of them."""
    found: set[str] = set()
    for one in _values(node):
        made = [
            other
            for other in nodes
            if isinstance(other, ast.Assign)
            and other.lineno < line
            and any(_binds(target, one) for target in other.targets)
        ]
        if made and depth:
            last = max(made, key=lambda other: other.lineno)
            found |= _origins(last.value, nodes, given, last.lineno, depth - 1)
        elif one in given:
            found.add(one)
    return found


def _binds(target: ast.expr, name: str) -> bool:
    """Whether an assignment gives a name a value, or a part of one."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(_binds(one, name) for one in target.elts)
    return ast.unparse(target) == name


def _values(node: ast.AST) -> Iterator[str]:
    """The names of which an expression takes parts, or calls methods."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner) | ast.Starred(value=inner):
            yield from _values(inner)
        case ast.Attribute(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
            yield from _values(inner)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            yield from (*_values(left), *_values(right))
