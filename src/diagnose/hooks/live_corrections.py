"""What only the running process tells of a suspect: its rank, and how much of a model is on meta."""

from __future__ import annotations

import ast
import os

from diagnose.hooks.live_values import Lives
from diagnose.kinds import ConstraintKind
from diagnose.placement import Spot, Suspect
from diagnose.placement.devices import META
from diagnose.placement.machine import Meeting
from diagnose.placement.provenance import born_at
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import Frame
from diagnose.tracing.lives import MOVES


def corrected(suspect: Suspect, meeting: Meeting, lives: Lives) -> Suspect:
    """A suspect by the rules of placement, as what is known of the process changes it."""
    if suspect.cause == "hardcoded-device" and _ignores_rank(suspect, meeting):
        return suspect._replace(cause="rank-device")
    if suspect.cause == "meta-tensor" and meeting.what == ConstraintKind.META:
        spot = _put_on_meta(meeting.sides[0].tensor, meeting.spot, lives)
        return suspect._replace(spot=spot or suspect.spot)
    return suspect


def _ignores_rank(suspect: Suspect, meeting: Meeting) -> bool:
    """Whether something is on the first GPU that met what is on the one of this process's rank."""
    rank = os.environ.get("LOCAL_RANK", "")
    if not rank.isdecimal() or suspect.device is None or suspect.device.number == int(rank):
        return False
    places = (side.tensor.device for side in meeting.sides)
    return any(one is not None and one.number == int(rank) for one in places)


def _put_on_meta(tensor: Tensor, failed: Spot, lives: Lives) -> Spot | None:
    """Where what cannot be copied was put on meta; None where the move itself is to be another.

    `to_empty` in the move's place would lose what the rest of the model holds, and cannot be written where
    a library moves.
    """
    born = born_at(tensor.steps)
    if born is None or not (lives.is_partly(META, tensor.module) or not _is_move(failed.node)):
        return None
    spot: Spot | None = born.spot
    frame: Frame | None = tensor.frame
    while spot is not None:
        text = lives.texts.of(spot.file)
        block = text.around(spot.node, ast.With) if text is not None else None
        if isinstance(block, ast.With) and "meta" in ast.unparse(block.items[0]):
            return spot._replace(node=block)
        spot, frame = (frame.call, frame.caller) if frame is not None else (None, None)
    return born.spot if _is_move(failed.node) else None


def _is_move(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in MOVES
    return False
