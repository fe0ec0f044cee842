"""Edits of functions that send what they make to a GPU of their own choice, or make a generator that draws
on the cpu: they are told where, by who knows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice, permutations

from diagnose.fixes.codemods.expressions import with_argument, with_method
from diagnose.fixes.codemods.parameters import DEVICE, makes_generator, with_parameter
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.replay import Met
from diagnose.kinds import EventKind, Origin
from diagnose.placement import Device, Spot
from diagnose.placement.device_patterns import told_above
from diagnose.placement.devices import is_gpu
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.semantics import argument, arguments, called, calls, functions, names, nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.definitions import place_of
from diagnose.repair.synthesis.transfers import Move
from diagnose.tracing.stacks import Stack

#: What a function's other callers get, who say nothing: what it chose for all.
_DEFAULT = '"cuda"'
_CAUSE = "hardcoded-device"
#: So many names of the device are tried.
_MOST = 2


def informing(error: BaseException) -> Iterator[Move]:
    """The edits: of the function, which gets a parameter for the device, and of its call on the way to an
    operand of the failing call.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    for stray, other in permutations(found.operands, 2) if found is not None else ():
        wanted = place_of(other)
        if found is None or not is_gpu(wanted) or place_of(stray) == wanted:
            continue
        events = stray.life.events if stray.life is not None else ()
        for event in reversed(events):
            if event.what in (EventKind.MADE, EventKind.MOVED):
                yield from _edits(found, event.stack, wanted)
        if stray.side.tensor.maker == Origin.GENERATOR:
            yield from _of_generator(found, stray, wanted)


def _of_generator(found: Met, stray: Operand, wanted: Device) -> Iterator[Move]:
    """The edit of the function that makes a generator, of which nobody has seen how the program came there:
    told at its only call."""
    for step in stray.side.tensor.steps:
        function = step.spot.source.function_at(step.spot.line)
        if not isinstance(function, ast.FunctionDef) or not makes_generator(step.spot.node):
            continue
        source = step.spot.source
        given = calls(source.tree, function.name)
        if len(given) == 1:
            caller = step.spot._replace(node=given[0], function=None)
            yield from _at(found, step.spot, function, caller, (), wanted)


def _at(
    found: Met, spot: Spot, function: ast.FunctionDef, caller: Spot, stack: Stack, wanted: Device
) -> Iterator[Move]:
    """The edit of a function, told the device at a call."""
    around = found.lives.scopes.frame(stack) or found.lives.scopes.around(caller)
    assert isinstance(caller.node, ast.Call)
    above = caller.source.function_at(caller.line)
    known = chain(
        in_scope(around, caller, wanted), told_above(above or caller.source.tree, caller.line)
    )
    for device in islice(dict.fromkeys(known), _MOST):
        with suppress(Refused):
            yield _told(spot, function, caller.node, device)


def _edits(found: Met, stack: Stack, wanted: Device) -> Iterator[Move]:
    """The edit of the function at the beginning of a stack, innermost line first."""
    texts = found.lives.texts
    spot = texts.spot(stack[0]) if stack else None
    function = spot.source.function_at(spot.line) if spot is not None else None
    if spot is None or not isinstance(function, ast.FunctionDef):
        return
    if not _chooses(spot.node):
        return
    for at, line in enumerate(stack[1:], 1):
        caller = texts.spot(line)
        if caller is None or caller.source is not spot.source:
            return
        if function is caller.source.function_at(caller.line):
            continue  # a comprehension of the function's
        call = caller.node
        if isinstance(call, ast.Call) and called(call) == function.name:
            yield from _at(found, spot, function, caller, stack[at:], wanted)
        return


def _chooses(node: ast.AST) -> bool:
    """Whether a call chooses a GPU by itself: ``.cuda()``, ``.to("cuda")``, ``device="cuda:0"``."""
    if not isinstance(node, ast.Call):
        return False
    given = arguments(node)
    if called(node) == "cuda" and isinstance(node.func, ast.Attribute):
        return not given
    told = argument(node, DEVICE) or (
        given[0] if called(node) == "to" and len(given) == 1 else None
    )
    return isinstance(told, ast.Constant) and str(told.value).startswith("cuda")


def _told(spot: Spot, function: ast.FunctionDef, call: ast.Call, device: str) -> Move:
    """Raises `Refused` where the function knows of a device already, or cannot get another parameter."""
    source, node = spot.source, spot.node
    assert isinstance(node, ast.Call)
    if DEVICE in (*names(function), *(one.arg for one in nodes(function.args, ast.arg))):
        raise Refused("the function has a device of its own")
    if sum(one.name == function.name for one in functions(source.tree)) > 1:
        raise Refused("it may be another function of that name that is called")
    if called(node) in ("cuda", "to") and isinstance(node.func, ast.Attribute):
        told = with_method(source, node, f"to({DEVICE})")
    else:
        told = with_argument(source, node, DEVICE, DEVICE)
    given = with_argument(source, call, DEVICE, device)
    others = [one for one in calls(source.tree, function.name) if one is not call]
    draws = makes_generator(node)
    default = ("None" if draws else _DEFAULT) if others or function.args.defaults else None
    edit = file_edit(source, [with_parameter(source, function, default), told, given])
    if draws:
        return Move("generator-on-device", edit, cause="generator-device")
    return Move("use-like-device-of-other", edit, cause=_CAUSE)
