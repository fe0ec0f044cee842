"""Edits of what decides where an operand is made or moved to: what the program calls its device.

``rows = torch.arange(n, device=device)`` is right as it stands, and ``device`` is not: where that was
bound, handed in or kept, another expression of a device takes its place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, permutations
from typing import NamedTuple

import torch

from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import class_around
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import fields
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Texts
from diagnose.hooks.replay import Met
from diagnose.kinds import Origin
from diagnose.placement import Device, Spot
from diagnose.placement.devices import CPU, META, written
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.semantics import argument, bound, bound_arguments, calls, defaults, nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.definitions import place_of
from diagnose.repair.synthesis.transfers import Move
from diagnose.tracing.stacks import Line, Stack

#: So many edits are proposed, of each place so many.
_MOST, _EACH = 6, 2
#: Methods whose only argument may be a device; so many names of one are followed.
_TAKING, _DEPTH = frozenset({"to", "cuda"}), 5


class _Choice(NamedTuple):
    """An expression of a device, and how the program came there, innermost line first; ``left``: a call,
    and the parameter for a device that it leaves out."""

    spot: Spot
    stack: Stack
    left: str = ""


def deciding(error: BaseException) -> Iterator[Move]:
    """The edits, those of what the latest event of an operand took its device from first.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    if found is not None:
        yield from islice(_edits(found), _MOST)


def _edits(found: Met) -> Iterator[Move]:
    seen = set[str]()
    for stray, other in permutations(found.operands, 2):
        wanted = place_of(other)
        if wanted in (None, CPU, META) or place_of(stray) == wanted:
            continue
        for choice in _choices(found, stray):
            for one in islice(_instead(found, choice, wanted), _EACH):
                if one.edit.text not in seen:
                    seen.add(one.edit.text)
                    yield one


def _choices(found: Met, stray: Operand) -> Iterator[_Choice]:
    """What decided where an operand is, or the module that it belongs to."""
    life = stray.life
    events = list(reversed(life.events)) if life is not None else []
    above = (
        life.module if life is not None and life.maker in (Origin.WEIGHT, Origin.OUTPUT) else None
    )
    while above is not None:
        events += reversed(above.events)
        above = above.owner
    for event in events:
        spot = found.lives.texts.spot(event.stack[0]) if event.stack else None
        given = _device_of(spot.node) if spot is not None else None
        if spot is not None and isinstance(given, ast.Name | ast.Attribute):
            start = _Choice(spot._replace(node=given), event.stack)
            yield from _followed(start, found.lives.texts, _DEPTH)
    yield from _staying(found, stray)


def _staying(found: Met, stray: Operand) -> Iterator[_Choice]:
    """What the running functions told to be where the operand is: nobody sees a move to the same place."""
    texts = found.lives.texts
    lines = [line for _, line in found.lives.alive]
    for at in reversed(range(len(lines))):
        frame, spot = found.lives.alive[at][0], texts.spot(lines[at])
        text = texts.of(spot.file) if spot is not None else None
        for node in calls(text.function(spot.node)) if text is not None and spot else ():
            given = _device_of(node) if node.lineno <= lines[at].number else None
            if spot is None or not isinstance(given, ast.Name | ast.Attribute):
                continue
            if str(value(given, frame)) == stray.device:
                choice = _Choice(spot._replace(node=given), tuple(lines[at::-1]))
                yield from _followed(choice, texts, _DEPTH)


def _device_of(node: ast.AST) -> ast.expr | None:
    """The device that a call names: of what it makes, or where it moves something to."""
    if not isinstance(node, ast.Call):
        return None
    taking = isinstance(node.func, ast.Attribute) and node.func.attr in _TAKING
    return argument(node, "device") or (node.args[0] if taking and len(node.args) == 1 else None)


def _followed(choice: _Choice, texts: Texts, depth: int) -> Iterator[_Choice]:
    """Where a name of a device got its value: bound, handed in by the caller, or kept by an object."""
    spot, stack, _ = choice
    text = texts.of(spot.file)
    if text is None or not depth:
        return
    match spot.node:
        case ast.Name() as name:
            scope = text.function(name)
            if (made := assigned(name, scope, spot.line)) is not None:
                yield from _reached(choice._replace(spot=spot._replace(node=made)), texts, depth)
            elif isinstance(scope, ast.FunctionDef) and len(stack) > 1:
                caller = texts.spot(stack[1])
                given = bound_arguments(scope, caller.node) if caller is not None else {}
                if caller is not None and name.id in given:
                    handed = _Choice(caller._replace(node=given[name.id]), stack[1:])
                    yield from _reached(handed, texts, depth)
                elif caller is not None and _is_optional(scope, name.id):
                    yield _Choice(caller, stack[1:], name.id)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            kind = class_around(spot.source, spot.node)
            for one in bound(kind, f"self.{name}") if kind is not None else ():
                if one.value is not None:
                    yield _Choice(spot._replace(node=one.value), ())


def _reached(choice: _Choice, texts: Texts, depth: int) -> Iterator[_Choice]:
    """An expression, after what it is itself a name of."""
    if isinstance(choice.spot.node, ast.Name):
        yield from _followed(choice, texts, depth - 1)
    else:
        yield choice


def _is_optional(function: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter is None where it is not given."""
    default = defaults(function).get(name)
    return isinstance(default, ast.Constant) and default.value is None


def _instead(found: Met, choice: _Choice, wanted: Device | None) -> Iterator[Move]:
    """The edits that put what the program calls the wanted device there. A device that is written down, or
    asked for by its availability, was chosen on purpose."""
    spot, node = choice.spot, choice.spot.node
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.IfExp | ast.Call):
        return
    if not choice.left and any(_is_written(one) for one in nodes(node, ast.Constant)):
        return
    for device in _known(found, spot, choice.stack, wanted):
        if device != ast.unparse(node):
            with suppress(Refused):
                if choice.left and isinstance(node, ast.Call):
                    change = with_argument(spot.source, node, choice.left, device)
                else:
                    change = replaced(spot.source, node, device)
                edit = file_edit(spot.source, [change])
                yield Move("use-like-device-of-other", edit, cause="hardcoded-device")


def _is_written(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return text.partition(":")[0] in ("cpu", "cuda")
    return False


def _known(found: Met, spot: Spot, stack: Sequence[Line], wanted: Device | None) -> Iterator[str]:
    """Expressions of the wanted device: those in scope, of what the function was given, of a model that the
    object keeps; its name."""
    frame = found.lives.scopes.frame(stack) or found.lives.scopes.around(spot)
    yield from in_scope(frame, spot, wanted)
    yield from _of_parameters(found, spot, stack, wanted)
    kind = class_around(spot.source, spot.node)
    owners = [one.f_locals.get("self") for one, _ in found.lives.alive]
    for owner in (one for one in owners if kind is not None and _is_one(one, kind.name)):
        for name, held in fields(owner):
            if isinstance(held, torch.nn.Module) and _home(held) == {wanted}:
                yield f"next(self.{name}.parameters()).device"
    yield f'"{wanted}"'


def _of_parameters(
    found: Met, spot: Spot, stack: Sequence[Line], wanted: Device | None
) -> Iterator[str]:
    """Of a function that has returned, what its caller holds tells where its parameters were."""
    text = found.lives.texts.of(spot.file)
    function = text.function(spot.node) if text is not None else None
    caller = found.lives.texts.spot(stack[1]) if len(stack) > 1 else None
    holders = [
        frame for frame, line in found.lives.alive if stack[1:] and line.code is stack[1].code
    ]
    if not isinstance(function, ast.FunctionDef) or caller is None or not holders:
        return
    for name, given in bound_arguments(function, caller.node).items():
        held = value(given, holders[-1])
        if isinstance(held, torch.Tensor) and written(str(held.device)) == wanted:
            yield f"{name}.device"
        elif isinstance(held, torch.nn.Module) and _home(held) == {wanted}:
            yield f"next({name}.parameters()).device"


def _is_one(owner: object, kind: str) -> bool:
    return any(one.__name__ == kind for one in type(owner).__mro__)


def _home(model: torch.nn.Module) -> set[Device | None]:
    return {written(str(one.device)) for one in model.parameters()}
