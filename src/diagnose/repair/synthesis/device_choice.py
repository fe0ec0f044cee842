"""Edits of what decides where an operand is made or moved to: what the program calls its device.

``rows = torch.arange(n, device=device)`` is right as it stands, and ``device`` is not: where that was
bound, handed in or kept, another expression of a device takes its place; a call that leaves it out gives
it, and a function that chooses a GPU by itself is told one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch

from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import class_around
from diagnose.hooks.introspection import fields
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import assigned
from diagnose.kinds import Origin
from diagnose.placement import Device, Spot
from diagnose.placement.devices import CPU, META, written
from diagnose.placement.semantics import (
    argument,
    bound,
    bound_arguments,
    calls,
    defaults,
    nodes,
    scope_of,
)
from diagnose.repair.synthesis.live_failure import (
    LiveFailure,
    Proposal,
    Running,
    place_of,
    proposed,
)
from diagnose.repair.synthesis.transfers import of_weights
from diagnose.tracing.stacks import Line, Stack

#: So many edits are proposed, of each place so many.
_MOST, _EACH = 6, 2
#: Methods whose only argument may be a device; so many names of one are followed.
_TAKING, _DEPTH = frozenset({"to", "cuda"}), 5
_KIND, _CAUSE = "use-like-device-of-other", "hardcoded-device"


class _Choice(NamedTuple):
    """An expression of a device, and how the program came there, innermost line first; ``left``: a call,
    and the parameter for a device that it leaves out."""

    spot: Spot
    stack: Stack
    left: str = ""


def deciding(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, those of what the latest event of an operand took its device from first."""
    seen: dict[str, Proposal] = {}
    for stray, other in failure.pairs:
        wanted = place_of(other)
        if wanted not in (None, CPU, META) and place_of(stray) != wanted:
            for choice in _choices(failure, stray):
                for one in islice(_chosen_else(failure, choice, wanted), _EACH):
                    seen.setdefault(one.edit.text, one)
                    if len(seen) == _MOST:
                        yield from seen.values()
                        return
    yield from seen.values()


def _choices(failure: LiveFailure, stray: Operand) -> Iterator[_Choice]:
    """What decided where an operand is, or the module that it belongs to; then what the running functions
    told to be where it is: nobody sees a move to the same place."""
    life = stray.life
    events = list(reversed(life.events)) if life is not None else []
    of_module = life is not None and life.maker in (Origin.WEIGHT, Origin.OUTPUT)
    above = life.module if life is not None and of_module else None
    while above is not None:
        events += reversed(above.events)
        above = above.owner
    for event in events:
        spot = failure.texts.spot(event.stack[0]) if event.stack else None
        if spot is not None:
            yield from _named(failure, spot, _device_of(spot.node), event.stack)
    for running in failure.running:
        for node in calls(running.scope):
            given = _device_of(node) if node.lineno <= running.line.number else None
            if given is not None and str(running.value(given)) == stray.device:
                yield from _named(failure, running.spot, given, running.stack)


def _named(
    failure: LiveFailure, spot: Spot, given: ast.expr | None, stack: Stack
) -> Iterator[_Choice]:
    if isinstance(given, ast.Name | ast.Attribute):
        yield from _followed(_Choice(spot._replace(node=given), stack), failure, _DEPTH)


def _device_of(node: ast.AST) -> ast.expr | None:
    """The device that a call names: of what it makes, or where it moves something to."""
    if not isinstance(node, ast.Call):
        return None
    taking = isinstance(node.func, ast.Attribute) and node.func.attr in _TAKING
    return argument(node, "device") or (node.args[0] if taking and len(node.args) == 1 else None)


def _followed(choice: _Choice, failure: LiveFailure, depth: int) -> Iterator[_Choice]:
    """Where a name of a device got its value: bound, handed in by the caller, or kept by an object."""
    spot, stack, _ = choice
    match spot.node:
        case ast.Name() as name if depth:
            scope = scope_of(spot.source.tree, name)
            if (made := assigned(name, scope, spot.line)) is not None:
                made_there = choice._replace(spot=spot._replace(node=made))
                yield from _reached(made_there, failure, depth)
            elif isinstance(scope, ast.FunctionDef) and len(stack) > 1:
                caller = failure.texts.spot(stack[1])
                given = bound_arguments(scope, caller.node) if caller is not None else {}
                if caller is not None and name.id in given:
                    handed = _Choice(caller._replace(node=given[name.id]), stack[1:])
                    yield from _reached(handed, failure, depth)
                elif caller is not None and _is_none(defaults(scope).get(name.id)):
                    yield _Choice(caller, stack[1:], name.id)
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if depth:
            kind = class_around(spot.source, spot.node)
            for one in bound(kind, f"self.{name}") if kind is not None else ():
                if one.value is not None:
                    yield _Choice(spot._replace(node=one.value), ())


def _reached(choice: _Choice, failure: LiveFailure, depth: int) -> Iterator[_Choice]:
    """An expression, after what it is itself a name of."""
    if isinstance(choice.spot.node, ast.Name):
        yield from _followed(choice, failure, depth - 1)
    else:
        yield choice


def _is_none(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and default.value is None


def _chosen_else(
    failure: LiveFailure, choice: _Choice, wanted: Device | None
) -> Iterator[Proposal]:
    """The edits that put what the program calls the wanted device there. A device that is written down, or
    asked for by its availability, was chosen on purpose."""
    spot, node = choice.spot, choice.spot.node
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.IfExp | ast.Call):
        return
    said = (str(one.value).partition(":")[0] for one in nodes(node, ast.Constant))
    if not choice.left and not {"cpu", "cuda"}.isdisjoint(said):
        return
    for device in _known(failure, spot, choice.stack, wanted):
        if device != ast.unparse(node):
            left = choice.left and isinstance(node, ast.Call)
            make = (with_argument, node, choice.left) if left else (replaced, node)
            yield from proposed(_KIND, spot.source, *make, device, cause=_CAUSE)


def _known(
    failure: LiveFailure, spot: Spot, stack: Sequence[Line], wanted: Device | None
) -> Iterator[str]:
    """Expressions of the wanted device: those in scope, of what the function was given, of a model that the
    object keeps; its name."""
    yield from failure.devices(spot, wanted, stack)
    yield from _of_parameters(failure, spot, stack, wanted)
    kind = class_around(spot.source, spot.node)
    owners = [one.f_locals.get("self") for one, _ in failure.lives.alive]
    for owner in (one for one in owners if kind is not None and _is_one(one, kind.name)):
        for name, held in fields(owner):
            if isinstance(held, torch.nn.Module) and _home(held) == {wanted}:
                yield f"next(self.{name}.parameters()).device"
    yield f'"{wanted}"'


def _of_parameters(
    failure: LiveFailure, spot: Spot, stack: Sequence[Line], wanted: Device | None
) -> Iterator[str]:
    """Of a function that has returned, what its caller holds tells where its parameters were."""
    function = scope_of(spot.source.tree, spot.node)
    code = stack[1].code if len(stack) > 1 else None
    callers = [one for one in failure.running if one.line.code is code]
    spot_of_call = failure.texts.spot(stack[1]) if callers else None
    if not isinstance(function, ast.FunctionDef) or spot_of_call is None:
        return
    for name, given in bound_arguments(function, spot_of_call.node).items():
        for home, where in _homes(callers[0], given, ast.Name(name)):
            if home == wanted:
                yield where


def _homes(running: Running, node: ast.expr, name: ast.expr) -> Iterator[tuple[Device | None, str]]:
    """Where what an expression holds is, a tensor or a model in one place, and how that is told by a name
    of it."""
    held = running.value(node)
    if isinstance(held, torch.Tensor):
        yield written(str(held.device)), f"{ast.unparse(name)}.device"
    elif isinstance(held, torch.nn.Module) and len(homes := _home(held)) == 1:
        yield homes.pop(), of_weights(name)


def _is_one(owner: object, kind: str) -> bool:
    return any(one.__name__ == kind for one in type(owner).__mro__)


def _home(model: torch.nn.Module) -> set[Device | None]:
    return {written(str(one.device)) for one in model.parameters()}
