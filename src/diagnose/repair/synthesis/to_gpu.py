"""Edits that bring to a GPU what is all on the cpu, where a kernel or the program's own check asks for one.

Nothing is apart there, so no operand tells where another is: a model goes together with what it is given,
or the ``"cpu"`` that decides for both becomes ``"cuda"``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

import torch

from diagnose import tracing
from diagnose.casebase.store import load
from diagnose.fixes.codemods import DEFINITIONS
from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.live_values import Lives
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Text, Texts
from diagnose.kinds import DeviceType, EventKind
from diagnose.placement import Device, Spot, Suspect
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.semantics import dotted, nodes, parent
from diagnose.repair.synthesis.transfers import (
    Move,
    Stray,
    change_of,
    operands_of,
    own_frames,
    strays_of,
)
from diagnose.tracing.stacks import Line

#: The first GPU, as a program writes it that has one.
_GPU, _WRITTEN = Device(DeviceType.CUDA), '"cuda"'
#: So many edits are proposed.
_MOST = 8
#: What asks whether there is a GPU: where there is one, its other branch is not taken.
_FALLBACK = re.compile("available|device_count")
#: Functions and keywords whose "cpu" is meant: tables that are loaded, results that leave.
_MEANT = frozenset({"load", "load_file", "map_location", "Generator", "get", "startswith"})


class _Call(NamedTuple):
    """A call in a running function; the model that it is of, if it is of one."""

    frame: FrameType
    spot: Spot
    text: Text
    model: ast.expr | None


def bringing(error: BaseException) -> Iterator[Move]:
    """The edits, those of the outermost call of a model first.

    Args:
        error: a live failure of what is on the cpu only.
    """
    recorder = tracing.witness(error)
    if recorder is None:
        return
    texts = Texts()
    alive = [(f, line, s) for f, line in own_frames(error) if (s := texts.spot(line)) is not None]
    if not alive:
        return
    frames = [(frame, line) for frame, line, _ in alive]
    lives = Lives(recorder, texts, frames, alive[-1][2], frames)
    yield from islice(_edits([(frame, spot) for frame, _, spot in alive], lives), _MOST)


def _edits(alive: Sequence[tuple[FrameType, Spot]], lives: Lives) -> Iterator[Move]:
    yield from _decided(alive, lives.texts)
    calls = list(_calls(alive, lives.texts))
    if all(call.model is None for call in calls):
        calls = list(map(_given_a_model, calls))
    for call in [one for one in calls if one.model is not None][:1]:
        moving, giving = _building(call, lives), _giving(call, lives)
        for source in {spot.source.path: spot.source for spot, _ in moving}.values():
            changes = [change for spot, change in moving if spot.source is source]
            beside = giving if source is call.spot.source else []
            for several in ([*changes, *beside], changes) if beside else (changes,):
                with suppress(Refused):
                    names = [ast.unparse(call.model), *_names(beside)] if call.model else []
                    yield Move(
                        "move-module",
                        file_edit(source, several),
                        moves=(", ".join(names[: len(several)]), _WRITTEN),
                    )
    for call in calls[:2]:
        if giving := _giving(call, lives):
            with suppress(Refused):
                edit = file_edit(call.spot.source, giving)
                yield Move("move-input", edit, moves=(", ".join(_names(giving)), _WRITTEN))


def _calls(alive: Sequence[tuple[FrameType, Spot]], texts: Texts) -> Iterator[_Call]:
    """The calls that the running functions stand at, outermost first, up to the first of a model."""
    for frame, spot in alive:
        text = texts.of(spot.file)
        if text is None or not isinstance(spot.node, ast.Call):
            continue
        func = spot.node.func
        owners = [func, func.value] if isinstance(func, ast.Attribute) else [func]
        model = next((one for one in owners if _is_on_cpu(value(one, frame))), None)
        own = model is not None and dotted(model) == "self"
        yield _Call(frame, spot, text, None if own else model)
        if model is not None and not own:
            return


def _given_a_model(call: _Call) -> _Call:
    """A call that computes with the weights of a model that it is given, as if it were the model's."""
    given = (one for one in operands_of(call.spot.node) if _is_on_cpu(value(one, call.frame)))
    model = next((one for one in given if dotted(one) != "self"), None)
    return call._replace(model=model)


def _is_on_cpu(held: Any) -> bool:
    """Whether something is a module that has nothing elsewhere."""
    return isinstance(held, torch.nn.Module) and all(
        one.device.type == "cpu" for one in (*held.parameters(), *held.buffers())
    )


def _building(call: _Call, lives: Lives) -> list[tuple[Spot, Change]]:
    """The change of where the model of a call is built, that moves it."""
    assert call.model is not None
    life = lives.life_of(value(call.model, call.frame))
    made = next((event for event in life.events if event.what == EventKind.MADE), None)
    for at, line in enumerate(made.stack if made is not None else ()):
        spot = lives.texts.spot(line)
        if spot is None or isinstance(spot.node, ast.Expr) or made is None:
            continue
        with suppress(Refused):
            devices = _devices(lives, spot, made.stack[at:])
            suspect = Suspect("", ast.unparse(call.model), spot, None, _GPU, devices)
            changes = DEFINITIONS["move-module"](suspect, load().knowledge.torch)
            return [(spot, change) for change in changes]
    return []


def _devices(lives: Lives, spot: Spot, stack: Sequence[Line]) -> tuple[str, ...]:
    around = lives.scopes.frame(stack) or lives.scopes.around(spot)
    return (*in_scope(around, spot, _GPU), _WRITTEN)


def _giving(call: _Call, lives: Lives) -> list[Change]:
    """The changes that move what a call is given: where it is bound in this function, else in the call."""
    operands = operands_of(call.spot.node)
    strays = strays_of(operands, "cuda:0", call.frame)
    strays = [one for one in strays if one.node is not call.model]
    strays += [Stray(one, "one") for one in operands if _is_made(one)]
    scope, line = call.text.function(call.spot.node), call.spot.line
    frame = lives.scopes.around(call.spot)
    device = next(iter([*in_scope(frame, call.spot, _GPU), _WRITTEN]))
    found = []
    for one in strays:
        bound = assigned(one.node, scope, line)
        place = one._replace(node=bound) if bound is not None else one
        with suppress(Refused):
            found.append(change_of(call.spot, place, device))
    return found if len(found) == len(strays) else []


def _is_made(node: ast.expr) -> bool:
    """Whether an operand is a tensor that is made right there, and not told to be elsewhere."""
    if not isinstance(node, ast.Call) or any(one.arg == "device" for one in node.keywords):
        return False
    module, _, name = ast.unparse(node.func).rpartition(".")
    return module == "torch" and name in load().knowledge.torch.factories


def _names(changes: Sequence[Change]) -> list[str]:
    return [ast.unparse(change.node) for change in changes]


def _decided(alive: Sequence[tuple[FrameType, Spot]], texts: Texts) -> Iterator[Move]:
    """What decides for the cpu decides for a GPU: each ``"cpu"`` that a program writes as a device."""
    for file in dict.fromkeys(spot.file for _, spot in alive):
        text = texts.of(file)
        for node in nodes(text.source.tree, ast.Constant) if text is not None else ():
            if text is not None and _decides(node, text):
                with suppress(Refused):
                    edit = file_edit(text.source, [replaced(text.source, node, _WRITTEN)])
                    yield Move("change-launch-flag", edit)


def _decides(node: ast.Constant, text: Text) -> bool:
    if node.value != "cpu":
        return False
    inner: ast.AST = node
    while not isinstance(inner, ast.stmt):
        outer = parent(text.source.tree, inner)
        match outer:
            case None | ast.Compare() | ast.Dict() | ast.Subscript():
                return False
            case ast.JoinedStr() if inner is node:
                return False
            case ast.IfExp(test=test) if _FALLBACK.search(ast.unparse(test)):
                return False
            case ast.keyword(arg=name) if name in _MEANT:
                return False
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _MEANT:
                return False
            case ast.Attribute() | ast.Expr(value=ast.Constant()):
                return False
        inner = outer
    return True
