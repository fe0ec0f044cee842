"""Edits of the calls that load a checkpoint to a GPU that is not there: nothing was misplaced yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FrameType

from diagnose import tracing
from diagnose.casebase.store import load
from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.live_values import Lives
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Texts
from diagnose.kinds import DeviceType
from diagnose.placement import Device, Suspect
from diagnose.placement.devices import CPU
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.semantics import argument, called
from diagnose.repair.model import ABSENT_SAVED
from diagnose.repair.synthesis.transfers import Move, own_frames

_KEYWORD = "map_location"


def loading(error: BaseException) -> Iterator[Move]:
    """The edits: where the program's device is, else to the cpu; in the innermost call first.

    Args:
        error: a live failure.
    """
    recorder = tracing.witness(error)
    if recorder is None or ABSENT_SAVED not in str(error):
        return
    texts = Texts()
    frames = own_frames(error)
    inner = list(reversed(frames))
    lines = [line for _, line in inner]
    spots = [texts.spot(line) for line in lines]
    innermost = next((spot for spot in spots if spot is not None), None)
    if innermost is None:
        return
    lives = Lives(recorder, texts, frames, innermost, frames)
    for at, spot in enumerate(spots):
        if spot is None or not isinstance(spot.node, ast.Call):
            continue
        around = lives.scopes.frame(lines[at:]) or lives.scopes.around(spot)
        for wanted in (Device(DeviceType.CUDA), CPU):
            devices = tuple(one for one in in_scope(around, spot, wanted) if one != _KEYWORD)
            suspect = Suspect("checkpoint-location", "", spot, None, wanted, devices)
            with suppress(Refused):
                yield Move("map-location", _edit(suspect, spot.node, inner[at][0]))


def _edit(suspect: Suspect, call: ast.Call, frame: FrameType) -> FileEdit:
    """The call says where to; where it hands on what it was told itself, and that was nothing, this is
    what it says then. Raises Refused."""
    source, names = suspect.spot.source, load().knowledge.torch
    given = argument(call, _KEYWORD)
    if given is not None and not isinstance(given, ast.Constant):
        if value(given, frame) is not None or not isinstance(given, ast.Name | ast.Attribute):
            raise Refused("it is told where to")
        told = f"{text_of(source, given)} or {target_device(suspect)}"
        return file_edit(source, [replaced(source, given, told)])
    unpacked = [one.value for one in call.keywords if one.arg is None]
    if unpacked and called(call) in names.checkpoint_loaders:
        held = [value(one, frame) for one in unpacked]
        if any(not isinstance(one, Mapping) or _KEYWORD in one for one in held):
            raise Refused("** may hold a map_location already")
        changes = [with_argument(source, call, _KEYWORD, target_device(suspect))]
        return file_edit(source, changes)
    return define("map-location", suspect, torch=names)
