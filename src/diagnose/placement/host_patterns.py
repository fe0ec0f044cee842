"""Forms by which a program leaves on the host what an optimizer or a loader needs on the GPU."""

from __future__ import annotations

import ast

from diagnose.model import TorchNames

#: What DeepSpeed calls its optimizers of the host's: ``...Adam``, ``...Adagrad``, ``...Lion``.
_ON_HOST = "DeepSpeedCPU"
#: Methods, and functions, that copy what they are called of or given, and leave the copy where it is.
_COPIES = frozenset({"clone", "copy", "detach"})
_COPYING = frozenset({"copy", "deepcopy", "dict"})


def host_optimizer(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """An optimizer of the host's, or the setting by which DeepSpeed takes one."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name.startswith(_ON_HOST):
            return node
        case ast.Attribute(attr=name) if name.startswith(_ON_HOST):
            return node
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                named = isinstance(key, ast.Constant) and key.value == "offload_optimizer"
                if named and isinstance(value, ast.Dict):
                    return value
    return None


def put_state(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """A statement that gives a weight of an optimizer the state that was kept elsewhere, as a whole or by
    its values: as it was kept, or a copy of that."""
    match node:
        case (
            ast.Assign(
                targets=[ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name())],
                value=value,
            )
            | ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name()),
                    attr="update",
                ),
                args=[value],
            )
        ):
            return node if _as_kept(value) else None
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name()),
                    slice=key,
                )
            ],
            value=value,
        ):
            counted = isinstance(key, ast.Constant) and key.value == "step"
            return node if _as_kept(value) and not counted else None
    return None


def _as_kept(value: ast.expr) -> bool:
    """Whether an expression is something that was kept, or a copy of it that is where that is."""
    match value:
        case ast.Name() | ast.Subscript():
            return True
        case ast.DictComp(value=ast.IfExp(body=each, orelse=other)):
            return _as_kept(each) and _as_kept(other)
        case ast.DictComp(value=each):
            return _as_kept(each)
    held = copied(value)
    return held is not None and _as_kept(held)


def copied(value: ast.AST) -> ast.expr | None:
    """What a call copies where it is: ``copy.deepcopy(x)``, ``dict(x)``, ``x.clone()``; None for others."""
    match value:
        case ast.Call(func=ast.Attribute(value=held, attr=name), args=[], keywords=[]):
            return held if name in _COPIES else None
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[held], keywords=[]
        ) if name in _COPYING:
            return held
    return None


def orders_rows(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """A loader that draws the order of its rows by itself; where torch draws on the GPU by default its
    generator on the host cannot."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith(
            "DataLoader"
        ):
            told = {one.arg: one.value for one in node.keywords}
            shuffles = getattr(told.get("shuffle"), "value", None) is True
            return node if shuffles and "generator" not in told else None
    return None
