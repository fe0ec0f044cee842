"""What replicas share follows each of them: a cache asks for the device, what is kept moves when read."""

from __future__ import annotations

import ast

from diagnose.fixes.codemods.expressions import moved, replaced
from diagnose.fixes.codemods.positions import functions_around, statement_of, text_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.placement.device_patterns import of_input
from diagnose.placement.localization.replicas import CAUSE, asked_again, kept_by
from diagnose.placement.model import Source, Suspect


def rebuilt(suspect: Suspect) -> list[Change]:
    """``if self.x is None:`` asks as well whether ``self.x.device != device``; none for no cache."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause != CAUSE:
        return []
    if _is_read(node):
        raise Refused("what is read there is no device")
    kept = node if isinstance(node, ast.stmt) else statement_of(source, node)
    asked = asked_again(source, kept)
    if asked is None or not isinstance(kept, ast.Assign):
        return []
    inside = functions_around(source, kept)
    there = functions_around(source, asked)
    if inside[:1] != there[:1]:  # another method asks, which is given what it computes with
        suspect = suspect._replace(devices=(of_input(there[0]) or "",) if there else ())
    return [asked_anew(source, asked, text_of(source, kept_by(kept)[0]), _device(suspect))]


def asked_anew(source: Source, asked: ast.If, name: str, device: str) -> Change:
    """The change of a question whether something is made yet, which asks then as well whether that is on a
    device."""
    test = text_of(source, asked.test)
    if isinstance(asked.test, ast.IfExp | ast.Lambda | ast.NamedExpr):
        test = f"({test})"
    return replaced(source, asked.test, f"{test} or {name}.device != {device}")


def _is_read(node: ast.AST) -> bool:
    """Whether a node reads what replicas share, and no device."""
    reads = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)
    return reads and "device" not in ast.unparse(node)


def _device(suspect: Suspect) -> str:
    """The device of a replica: that of its input, for a replica has no ``parameters()``."""
    for device in filter(None, suspect.devices):
        if "parameters()" not in device and not device.startswith("self."):
            return device
    raise Refused("the function is given nothing whose device it is")


def as_read(suspect: Suspect) -> Change:
    """What the replicas share is moved to the input of each where it is read."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause != CAUSE or not isinstance(node, ast.expr) or not _is_read(node):
        raise Refused("it edits no definition")
    return moved(source, node, _device(suspect))
