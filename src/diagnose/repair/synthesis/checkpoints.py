"""Edits of the calls that load: a checkpoint to a GPU that is not there, before anything was misplaced, and
batches that are on a GPU and get pinned, which only memory of the host can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress

from diagnose.casebase.store import load
from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import DeviceType
from diagnose.placement import Device, Suspect
from diagnose.placement.devices import CPU
from diagnose.placement.semantics import argument, called
from diagnose.repair.model import ABSENT_SAVED
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running

_KEYWORD, _PINS = "map_location", "pin_memory"


def loading(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits: to where the program's device is, else to the cpu; in the innermost call first."""
    if failure.recorder is None or not failure.says(ABSENT_SAVED):
        return
    for running in failure.running:
        for wanted in (Device(DeviceType.CUDA), CPU):
            if isinstance(running.spot.node, ast.Call):
                known = failure.devices(running.spot, wanted, running.stack)
                devices = tuple(one for one in known if one != _KEYWORD)
                cause = "checkpoint-location"
                suspect = Suspect(cause, "", running.spot, None, wanted, devices)
                with suppress(Refused):
                    edit = _edit(suspect, running.spot.node, running)
                    yield Proposal("map-location", edit)


def _edit(suspect: Suspect, call: ast.Call, running: Running) -> FileEdit:
    """The call says where to; where it hands on what it was told itself, and that was nothing, this is
    what it says then. Raises Refused."""
    source, names = suspect.spot.source, load().knowledge.torch
    given = argument(call, _KEYWORD)
    if given is not None and not isinstance(given, ast.Constant):
        if running.value(given) is not None or not isinstance(given, ast.Name | ast.Attribute):
            raise Refused("it is told where to")
        told = f"{text_of(source, given)} or {target_device(suspect)}"
        return file_edit(source, [replaced(source, given, told)])
    unpacked = [one.value for one in call.keywords if one.arg is None]
    if unpacked and called(call) in names.checkpoint_loaders:
        held = [running.value(one) for one in unpacked]
        if any(not isinstance(one, Mapping) or _KEYWORD in one for one in held):
            raise Refused("** may hold a map_location already")
        changes = [with_argument(source, call, _KEYWORD, target_device(suspect))]
        return file_edit(source, changes)
    return define("map-location", suspect, torch=names)
