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
from diagnose.placement.reasons.scope import in_scope
from diagnose.repairing.model import ABSENT_SAVED
from diagnose.repairing.moving import Move, own_frames


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
    lines = [line for _, line in reversed(frames)]
    spots = [texts.spot(line) for line in lines]
    innermost = next((spot for spot in spots if spot is not None), None)
    if innermost is None:
        return
    lives = Lives(recorder, texts, frames, innermost, frames)
    for at, spot in enumerate(spots):
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
