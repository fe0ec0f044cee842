"""What is built on the wrong device is moved where it is built: ``Net()`` becomes ``Net().to(device)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.definitions.nodes import (
    after_statement,
    moved,
    statement_of,
    target_device,
)
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Source, Suspect

#: Methods after which it is decided where a value is.
MOVES = frozenset({"to", "cuda", "cpu", "xpu", "npu", "hpu", "mps", "type_as"})


def module(suspect: Suspect) -> Sequence[Change]:
    """A module is moved where it is built; one of several results of a call in a statement of its own."""
    source, node = suspect.spot.source, value_of(suspect)
    device = target_device(suspect)
    statement = statement_of(source, node)
    if isinstance(statement, ast.Expr) and statement.value is node:
        if suspect.owner is None:
            raise Refused("what the call returns is not kept")
        return [after_statement(source, statement, f"{suspect.owner}.to({device})")]
    if unpacked(statement, node):
        return [after_statement(source, statement, f"{named(statement, suspect)}.to({device})")]
    return [_moved(source, node, device)]


def tensor(suspect: Suspect) -> Sequence[Change]:
    """A tensor is moved where it is made."""
    source, node = suspect.spot.source, value_of(suspect)
    return [_moved(source, node, target_device(suspect))]


def _moved(source: Source, node: ast.expr, device: str) -> Change:
    if is_moved(node):
        raise Refused("it is moved already")
    if isinstance(node, (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.ListComp, ast.Starred)):
        raise Refused("what is to be moved is no tensor or module by its form")
    return moved(source, node, device)


def value_of(suspect: Suspect) -> ast.expr:
    """The expression of a suspect's spot: that of an assignment or return, or the node itself."""
    node = suspect.spot.node
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.NamedExpr)):
        node = node.value or node
    if not isinstance(node, ast.expr):
        raise Refused("what is to be moved is no expression")
    return node


def is_moved(node: ast.expr) -> bool:
    """Whether an expression ends with a move, such as ``.to(device)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MOVES
    )


def unpacked(statement: ast.stmt, value: ast.expr) -> bool:
    """Whether a statement gives the parts of a value to several names."""
    return (
        isinstance(statement, ast.Assign)
        and statement.value is value
        and any(isinstance(target, (ast.Tuple, ast.List)) for target in statement.targets)
    )


def named(statement: ast.stmt, suspect: Suspect) -> str:
    """A suspect's name, if the statement binds it. Raises `Refused` where it does not."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    bound = {ast.unparse(one) for target in targets for one in getattr(target, "elts", [target])}
    if suspect.name not in bound:
        raise Refused("the statement has several results, and it is not known which one is meant")
    return suspect.name


KINDS = {
    "move-module": module,
    "move-loss": module,
    "move-metric": module,
    "index-to-device": tensor,
}
