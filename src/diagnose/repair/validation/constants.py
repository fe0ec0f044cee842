"""Edits that register as a constant what a model may be meant to learn."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.placement.semantics import calls, dotted, last_name, nodes
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch

#: What makes all elements of a tensor alike.
_ALIKE = frozenset({"zeros", "ones", "zeros_like", "ones_like", "full", "full_like"})
#: What gives a tensor another shape alone.
_SHAPED = frozenset({"view", "reshape", "unsqueeze", "expand", "float", "to", "cuda"})
#: What weighs by a tensor.
_WEIGHED = frozenset({"softmax", "log_softmax", "sigmoid", "exp", "softplus", "tanh"})


def learned(patch: Patch) -> Iterator[Sentence]:
    """No edit makes a buffer of equal numbers by which a class with Parameters weighs something, and which
    nobody writes to: that would change nothing for ever, so it may be meant to be trained."""
    edited, tree = patch.edited, patch.new
    for made in nodes(tree, ast.ClassDef):
        if not any(last_name(node) == "Parameter" for node in nodes(made, ast.expr)):
            continue
        for node in calls(made):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="register_buffer"),
                    args=[ast.Constant(value=str(name)), value],
                ) if node.lineno in edited and _is_alike(value):
                    if _weighs(made, name) and not _is_written(tree, name):
                        yield said("learned", line=node.lineno, name=name)


def _is_alike(value: ast.expr) -> bool:
    """Whether all elements of what an expression makes are one number, and there are several."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in _ALIKE:
            return True
        if value.func.attr not in _SHAPED:
            return False
        value = value.func.value
    return False


def _weighs(made: ast.ClassDef, name: str) -> bool:
    """Whether a class takes the exponential of an attribute, or the like, multiplies by it or adds it."""

    def own(node: ast.AST) -> bool:
        return dotted(node) == f"self.{name}"

    for node in nodes(made, ast.Call, ast.BinOp):
        match node:
            case ast.Call(func=func, args=args) if last_name(func) in _WEIGHED:
                if any(map(own, args)) or own(getattr(func, "value", func)):
                    return True
            case ast.BinOp(left=left, op=ast.Mult() | ast.Add(), right=right):
                if own(left) or own(right):
                    return True
    return False


def _is_written(tree: ast.Module, name: str) -> bool:
    """Whether a file sets an attribute of that name, or an element of it, or calls a method that writes."""
    for node in nodes(tree, ast.Attribute, ast.Subscript, ast.Call):
        match node:
            case ast.Attribute(attr=attr, ctx=ast.Store()) if attr == name:
                return True
            case ast.Subscript(value=ast.Attribute(attr=attr), ctx=ast.Store()) if attr == name:
                return True
            case ast.Call(func=ast.Attribute(value=held, attr=method)):
                match held:  # a part of it, or its values
                    case ast.Subscript(value=whole) | ast.Attribute(value=whole, attr="data"):
                        held = whole
                if (
                    isinstance(held, ast.Attribute)
                    and held.attr == name
                    and re.search("[^_]_$", method)
                ):
                    return True
    return False
