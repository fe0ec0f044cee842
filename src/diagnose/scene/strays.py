"""Which operands of a failing line may be the misplaced one, as its message, carets and syntax tell.

CPython's carets tell which operation of the line failed, the message which of its operands is where
("argument mat2"), the syntax tree what stood there. What none of them tells stays open.
"""

from __future__ import annotations

import ast

from diagnose.model import Mismatch, TorchNames
from diagnose.scene import single
from diagnose.scene.elementwise import compared, underlined
from diagnose.scene.meeting import Meeting, Said, decided, operand
from diagnose.scene.named import named


def told(met: Meeting, said: Said, torch: TorchNames) -> Meeting:
    """What met in the failing line, as its message and its syntax tell.

    Args:
        met: where it was.
        said: what the message says.
        torch: how torch's functions call their operands.
    """
    return named(met, said, torch) or _alone(met, said, torch) or compared(met, said, torch)


def _alone(met: Meeting, said: Said, torch: TorchNames) -> Meeting | None:
    """What a message of one tensor is about."""
    if said.role == "class-weight" and said.in_layer and isinstance(met.part, ast.Call):
        return decided(met, [(met.part.func, said.mismatch.found)])
    if (apart := _beside_meta(met, said.mismatch, torch)) is not None:
        return apart
    sides = single.sides(met.nodes, met.part, said.mismatch, torch, in_layer=said.in_layer)
    strays = tuple(operand(met, side.node, side.device) for side in sides)
    return met._replace(strays=strays) if strays else None


def _beside_meta(met: Meeting, mismatch: Mismatch, torch: TorchNames) -> Meeting | None:
    """The operand on meta: the first is the one that "the expected device" is taken from."""
    pair = underlined(met.part, torch)
    sides = list(zip(pair, (mismatch.expected, mismatch.found), strict=False))
    away = [side for side in sides if side[1] == "meta"]
    if len(pair) != 2 or len(away) != 1:
        return None
    strays, others = (
        tuple(operand(met, node, device) for node, device in some)
        for some in (away, [side for side in sides if side not in away])
    )
    return met._replace(strays=strays, others=others)
