"""The expressions that stand for the tensors that met in a failing line: what is said of them, as values.

Which they are, `diagnose.scene.strays` tells.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from diagnose.model import Mismatch
from diagnose.scene import calls
from diagnose.scene.devices import kind
from diagnose.scene.sourceline import SourceLine


class Operand(NamedTuple):
    """An operand of the failing operation: its node, its text in the line, and the device that the
    message gives it. ``layer`` marks a layer that is called, whose own weights are the operand."""

    node: ast.expr
    text: str
    layer: bool = False
    device: str | None = None


class Meeting(NamedTuple):
    """The tensors that met in a line: those that may be misplaced, and those that they met.

    ``part`` is the part of the line that failed, None where the traceback does not tell; ``nodes`` are its
    nodes, or those of the whole line."""

    line: SourceLine
    nodes: tuple[ast.AST, ...]
    part: ast.AST | None = None
    strays: tuple[Operand, ...] = ()
    others: tuple[Operand, ...] = ()


def texts(met: Meeting | None) -> tuple[str, ...]:
    """The texts of the operands that may be the misplaced one, such as ``self.pe[:, : x.size(1)]``.

    One where the message tells the role and the line shows what stood there; all operands of the line
    where an elementwise operation failed, whose message always names the GPU first; none otherwise.
    Between cpu and accelerator it is the one on the cpu; of two GPUs both sides are told.

    A layer's own weights are told as the layer's call, ``self.fc(…)``.
    """
    found = (f"{one.text}(…)" if one.layer else one.text for one in met.strays) if met else ()
    # What stands for the cut rest of a line has no name.
    return tuple(dict.fromkeys(text for text in found if text.strip("([{_")))


class Said(NamedTuple):
    """What a message says of the operation that failed.

    ``role`` is that of the argument that it names, ``roles`` the device of each role that it tells;
    ``elementwise`` where it is of an operation that takes its operands one by one, ``in_layer`` where the
    op failed inside torch, called by the line, ``recurrent`` where that was in a recurrent layer.
    """

    mismatch: Mismatch
    role: str | None
    roles: Mapping[str, str]
    elementwise: bool
    in_layer: bool
    recurrent: bool = False


def decided(met: Meeting, sides: Sequence[tuple[ast.expr | None, str | None]]) -> Meeting | None:
    """Between cpu and accelerator the operand on the cpu is the stray; of two GPUs both may be."""
    cpu = [(node, device) for node, device in sides if device is not None and kind(device) == "cpu"]
    strays, others = (cpu, [side for side in sides if side not in cpu]) if cpu else (sides, [])
    shown, rest = (
        tuple(
            operand(met, node, device)
            for node, device in some
            if node is not None and not isinstance(node, ast.Starred)
        )
        for some in (strays, others)
    )
    return met._replace(strays=shown, others=rest) if shown else None


def operand(met: Meeting, node: ast.expr, device: str | None = None) -> Operand:
    """An expression of the line as an operand; one that is called is a layer."""
    called = any(call.func is node for call in calls.calls(met.line.nodes))
    return Operand(node, met.line.segment(node), called, device)
