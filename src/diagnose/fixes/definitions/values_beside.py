"""Layers in a dict that no ModuleDict can replace, for its keys or for what is asked of it, are registered
beside it: the dict stays as it is, and its values move with the module."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.imports import spelled
from diagnose.fixes.definitions.places import (
    called,
    class_around,
    statement_of,
    text_of,
    walk_calls,
)
from diagnose.fixes.definitions.statements import after_statement
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Source

#: Methods of a dict that put something else into it, or take something out.
_CHANGING = frozenset({"update", "setdefault", "pop", "popitem", "clear"})


def values_beside(source: Source, target: ast.Attribute) -> list[Change]:
    """The changes that register the values of the dict that an attribute is set to.

    Args:
        source: the file.
        target: the attribute, as it is set: ``self.heads`` of ``self.heads = {"train": nn.Linear(2, 2)}``.

    Raises:
        Refused: the class changes the dict later, has an attribute of the new one's name, or is none; the
            file makes replicas, which get no dict of their own.
    """
    statement, of, kept = (
        statement_of(source, target),
        text_of(source, target),
        f"{target.attr}_modules",
    )
    owner = class_around(source, statement)
    if owner is None:
        raise Refused("no class keeps the dict")
    if any(called(one) == "DataParallel" for one in walk_calls(source.tree)):
        raise Refused("the replicas of DataParallel would share what the dict holds")
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and node.attr == kept:
            raise Refused(f"the class has an attribute {kept}")
        if _changes(node, target):
            raise Refused(f"the class changes {of} later")
    name, needed = spelled(source, "torch.nn.ModuleList", statement)
    code = f"{text_of(source, target.value)}.{kept} = {name}({of}.values())"
    return [after_statement(source, statement, code), *needed]


def _changes(node: ast.AST, target: ast.Attribute) -> bool:
    """Whether a node changes a dict that was set to an attribute, or sets another one."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return node is not target and ast.unparse(node) == ast.unparse(target)
        case ast.Subscript(value=held, ctx=ast.Store() | ast.Del()):
            return ast.unparse(held) == ast.unparse(target)
        case ast.Call(func=ast.Attribute(value=held, attr=name)) if name in _CHANGING:
            return ast.unparse(held) == ast.unparse(target)
    return False
