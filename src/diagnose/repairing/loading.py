"""Edits of the calls that load a checkpoint to a GPU that is not there: nothing was misplaced yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose import tracing
from diagnose.casebase.store import load
from diagnose.fixes.definitions import define
from diagnose.fixes.editing import Refused
from diagnose.hooks.lives import Lives
from diagnose.hooks.positions import Texts
from diagnose.placement import Device, Suspect
from diagnose.placement.devices import CPU
from diagnose.placement.scope import in_scope
from diagnose.repairing.moving import Move, frames_of
from diagnose.tracing.stacks import is_own

_REFUSED = "Attempting to deserialize object on"


def loading(error: BaseException) -> Iterator[Move]:
    """The edits: where the program's device is, else to the cpu; in the innermost call first.

    Args:
        error: a live failure.
    """
    recorder = tracing.witness(error)
    if recorder is None or _REFUSED not in str(error):
        return
    texts = Texts()
    frames = [(f, line) for f, line in frames_of(error, lambda _: True) if is_own(line.code)]
    spots = [spot for _, line in reversed(frames) if (spot := texts.spot(line)) is not None]
    if not spots:
        return
    lives = Lives(recorder, texts, frames, spots[0], frames)
    lines = [line for _, line in reversed(frames)]
    for at, line in enumerate(lines):
        spot = texts.spot(line)
        if spot is None or not isinstance(spot.node, ast.Call):
            continue
        around = lives.scopes.frame(lines[at:]) or lives.scopes.around(spot)
        for wanted in (Device("cuda"), CPU):
            devices = tuple(in_scope(around, spot, wanted))
            suspect = Suspect("checkpoint-location", "", spot, None, wanted, devices)
            with suppress(Refused):
                yield Move(
                    "map-location", define("map-location", suspect, torch=load().knowledge.torch)
                )
