"""Which expression of the failing line stands for an operand, and what its text tells of the operand."""

from __future__ import annotations

import ast
from typing import Any

from diagnose.hooks.introspection import is_a
from diagnose.hooks.live_values import Lives
from diagnose.hooks.operands import assigned, standing_for
from diagnose.kinds import EventKind, Origin
from diagnose.placement import Spot, Step
from diagnose.placement.provenance import has
from diagnose.placement.tensors import Module, Tensor

#: Modules above each other.
_DEEPEST = 40


def bound(lives: Lives, node: ast.AST | None, spot: Spot) -> Step | None:
    """The assignment that gave the failing function's variable what it holds."""
    text = lives.texts.of(spot.file)
    found = assigned(node, text.function(spot.node), spot.line) if text is not None else None
    return Step(EventKind.BOUND, spot._replace(node=found)) if found is not None else None


def looped(lives: Lives, tensor: Tensor, node: ast.AST | None, spot: Spot) -> None:
    """Takes for a batch what a loop of the failing function binds and another function made."""
    scope = lives.scopes.around(spot)
    loop = scope.bound.get(node.id) if isinstance(node, ast.Name) else None
    made = next((step.spot for step in tensor.steps if step.what == EventKind.MADE), None)
    if (
        made is None
        or not isinstance(loop, ast.For)
        or tensor.maker not in (Origin.FACTORY, Origin.ARRAY)
    ):
        return
    if not made.is_beside(spot):
        tensor.maker = Origin.BATCH
        tensor.steps = (*tensor.steps, Step(EventKind.BOUND, spot._replace(node=loop)))


def constructed(lives: Lives, tensor: Tensor, node: ast.AST, spot: Spot) -> None:
    """Gives what ``torch.Tensor(...)`` made its birth, of which torch tells nobody."""
    if tensor.maker != Origin.OTHER or has(tensor.steps, EventKind.MADE):
        return
    given = bound(lives, node, spot)
    made = given.spot.node if given is not None else node
    if isinstance(made, ast.Call) and ast.unparse(made.func).endswith("Tensor"):
        tensor.maker = Origin.FACTORY
        tensor.steps = (Step(EventKind.MADE, spot._replace(node=made), tensor.device),)
        tensor.frame = lives.scopes.around(spot)


def node_of(lives: Lives, thing: Any, spot: Spot) -> ast.expr | None:
    """The part of an expression that stands for an object."""
    if not lives.alive:
        return None
    return standing_for(spot.node, lives.alive[-1][0], lambda value: value is thing)


def node_of_module(lives: Lives, module: Module, spot: Spot) -> ast.expr | None:
    """The part of an expression that stands for a module or one around it."""
    family: list[Module] = []
    one: Module | None = module
    while one is not None and len(family) < _DEEPEST:
        family.append(one)
        one = one.owner

    def wanted(value: Any) -> bool:
        return is_a(value, lives.torch.nn.Module) and lives.module_value(value) in family

    return standing_for(spot.node, lives.alive[-1][0], wanted) if lives.alive else None
