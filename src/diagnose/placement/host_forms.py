"""Forms by which a program leaves on the host what an optimizer or a loader needs on the GPU."""

from __future__ import annotations

import ast

from diagnose.model import TorchNames

#: What DeepSpeed calls its optimizers of the host's: ``...Adam``, ``...Adagrad``, ``...Lion``.
_ON_HOST = "DeepSpeedCPU"


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
    """A statement that gives a weight of an optimizer the state that was kept elsewhere, as a whole."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name())],
            value=ast.Name() | ast.Subscript() | ast.Call(func=ast.Name(id="dict")),
        ):
            return node
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
