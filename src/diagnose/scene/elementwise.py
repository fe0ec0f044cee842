"""The operands of an operation that takes them one by one, whose message names none of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.model import TorchNames
from diagnose.scene import calls
from diagnose.scene.devices import kind
from diagnose.scene.meeting import Meeting, Operand, Said, operand


def compared(met: Meeting, said: Said, torch: TorchNames) -> Meeting:
    """The operands of an elementwise operation, whose message names none of them.

    Between two GPUs the first operand's device comes first; between cpu and GPU always the GPU.
    """
    mismatch = said.mismatch
    if mismatch.argument == "other":
        return met._replace(strays=tuple(operand(met, node) for node in _others(met, torch)))
    if not said.elementwise:
        return met
    pair = underlined(met.part, torch)
    devices = mismatch.devices[:2]
    if len(pair) == 2:
        gpus = len(devices) == 2 and all(kind(device) == "gpu" for device in devices)
        known: Sequence[str | None] = devices if gpus else (None, None)
        sides = [operand(met, node, at) for node, at in zip(pair, known, strict=True)]
        shown = [side for side in sides if not calls.is_number(side.node, torch)]
        if not gpus and len(shown) == 2 and (stray := _surely_on_cpu(shown, torch)) is not None:
            others = tuple(side for side in shown if side is not stray)
            return met._replace(strays=(stray,), others=others)
        return met._replace(strays=tuple(shown))
    return met._replace(strays=tuple(operand(met, node) for node in _leaves(met, torch)))


def underlined(part: ast.AST | None, torch: TorchNames) -> list[ast.expr]:
    """The two operands of the operation that the carets underline."""
    match part:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=left, value=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.Call() as call:
            given = calls.elementwise(call, torch)
            return given if len(given) == 2 else []
    return []


def _surely_on_cpu(sides: Sequence[Operand], torch: TorchNames) -> Operand | None:
    """The operand that is made without a device, or taken to the cpu, in the line itself."""
    sure = [side for side in sides if calls.makes_tensor(side.node, torch) or _ends_in(side, "cpu")]
    moved = [side for side in sides if _ends_in(side, "cuda")]
    if len(sure) == 1:
        return sure[0]
    if not sure and len(moved) == 1:
        return next(side for side in sides if side is not moved[0])
    return None


def _ends_in(side: Operand, method: str) -> bool:
    match side.node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name == method
    return False


def _leaves(met: Meeting, torch: TorchNames) -> Iterator[ast.expr]:
    """What the line's operators join, without plain numbers and without the compound parts."""
    for node in met.nodes:
        sides: list[ast.expr] = []
        match node:
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                sides = [left, right]
            case ast.Compare(ops=[ast.Is() | ast.IsNot(), *_]):
                pass
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call():
                sides = calls.elementwise(node, torch)
        yield from (
            s for s in sides if not isinstance(s, ast.BinOp) and not calls.is_number(s, torch)
        )


def _others(met: Meeting, torch: TorchNames) -> Iterator[ast.expr]:
    """The second operands: what torch's signatures call ``other``."""
    for node in met.nodes:
        if isinstance(node, ast.BinOp):
            yield node.right
        elif isinstance(node, ast.Compare):
            yield node.comparators[0]
        elif isinstance(node, ast.Call):
            yield from calls.elementwise(node, torch)[1:2]
