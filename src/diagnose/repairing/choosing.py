"""Edits of what chooses a GPU that is not there: a number that is computed, from a rank or an option, is
counted in a circle, one that is written down becomes the first, and a list of the first few all that are
there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

import torch

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.imports import spelled
from diagnose.fixes.definitions.places import text_of
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.repairing.model import ABSENT_GPU, ABSENT_LISTED
from diagnose.repairing.moving import Move, own_spots

#: Calls whose only argument is a device, or a GPU's number.
_TAKING = frozenset({"to", "cuda", "set_device", "device"})
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def choosing(error: BaseException) -> Iterator[Move]:
    """The edits: in the running functions, the innermost first, and then in the rest of their files.

    Args:
        error: a live failure.
    """
    if not any(one in str(error) for one in (ABSENT_GPU, ABSENT_LISTED)):
        return
    texts = Texts()
    running = own_spots(error, texts)
    for frame, spot in running:
        text = texts.of(spot.file)
        scope = text.function(spot.node) if text is not None else spot.node
        for node in ast.walk(scope):
            if getattr(node, "lineno", 0) <= spot.line:
                yield from _chosen(spot.source, node, frame)
    for source in {spot.file: spot.source for _, spot in running}.values():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and _is_absent(node.value):
                yield from _edit(source, node, '"cuda"', "hardcoded-device")
            elif isinstance(node, ast.List) and _counts_too_far(node):
                name, needed = spelled(source, "torch.cuda.device_count", node)
                if not needed:
                    yield from _edit(source, node, f"list(range({name}()))", "hardcoded-device")


def _chosen(source: Source, node: ast.AST, frame: FrameType) -> Iterator[Move]:
    """The edits of one expression that chooses a GPU."""
    match node:
        case ast.JoinedStr(
            values=[ast.Constant(value="cuda:"), ast.FormattedValue(value=number)]
        ) if (counted := _counted(source, number, frame)) is not None:
            quote = "'" if '"' in counted else '"'
            yield from _edit(source, node, f"f{quote}cuda:{{{counted}}}{quote}", "rank-device")
        case (
            ast.Call(
                func=ast.Attribute(attr=called) | ast.Name(id=called),
                args=[number] | [ast.Constant(value="cuda"), number],
            )
            | ast.Call(
                func=ast.Attribute(attr=called) | ast.Name(id=called),
                args=[],
                keywords=[ast.keyword(arg="device", value=number)],
            )
        ) if called in _TAKING:
            if isinstance(number, ast.Constant) and type(number.value) is int:
                if number.value >= torch.cuda.device_count():
                    yield from _edit(source, number, "0", "hardcoded-device")
            elif (counted := _counted(source, number, frame)) is not None:
                yield from _edit(source, number, counted, "rank-device")


def _counted(source: Source, number: ast.expr, frame: FrameType) -> str | None:
    """A number that is taken in a circle; None for one that is so already, or that is there."""
    held = value(number, frame)
    known = isinstance(number, ast.Name | ast.Attribute)
    if known and (type(held) is not int or held < torch.cuda.device_count()):
        return None
    if isinstance(number, ast.Constant | ast.JoinedStr) or (
        isinstance(number, ast.BinOp) and isinstance(number.op, ast.Mod)
    ):
        return None
    name, needed = spelled(source, "torch.cuda.device_count", number)
    if needed:
        return None
    text = text_of(source, number)
    return f"{text if isinstance(number, _ATOMS) else f'({text})'} % {name}()"


def _is_absent(held: object) -> bool:
    """Whether this is the name of a GPU that is not there."""
    if not isinstance(held, str) or not held.startswith("cuda:"):
        return False
    number = held.removeprefix("cuda:")
    return number.isdigit() and int(number) >= torch.cuda.device_count()


def _counts_too_far(node: ast.List) -> bool:
    """Whether a list counts GPUs from the first one, and more than there are."""
    numbers = [one.value for one in node.elts if isinstance(one, ast.Constant)]
    first = list(range(len(node.elts)))
    return len(first) > max(1, torch.cuda.device_count()) and numbers == first


def _edit(source: Source, node: ast.expr, text: str, cause: str) -> Iterator[Move]:
    with suppress(Refused):
        edit = file_edit(source, [replaced(source, node, text)])
        kind = "set-rank-device" if cause == "rank-device" else "use-like-device-of-other"
        yield Move(kind, edit, cause=cause, says="present")
