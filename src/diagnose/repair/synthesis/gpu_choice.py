"""Edits of what chooses a GPU that is not there: a rank among all machines becomes the one on its own, a
number that is computed is counted in a circle, one that is written down becomes the first, and a list of
the first few all that are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.placement.semantics import nodes
from diagnose.repair.model import ABSENT_GPU, ABSENT_LISTED
from diagnose.repair.synthesis.transfers import Move, own_spots

#: Calls whose only argument is a device, or a GPU's number; those that nothing but a GPU is chosen by.
_TAKING = frozenset({"to", "cuda", "set_device", "device"})
_CHOOSING = frozenset({"cuda", "set_device"})
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
#: What a program calls the rank of a process on its own machine.
_LOCAL = "local_rank"
_RANK = re.compile("(global_|world_)?rank")


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
        for node in nodes(scope, ast.expr):
            if node.lineno <= spot.line:
                yield from _chosen(spot.source, node, frame)
    for source in {spot.file: spot.source for _, spot in running}.values():
        for node in nodes(source.tree, ast.expr):
            number = _number(node)
            if number is not None and not any(_is_there(value(number, f)) for f, _ in running):
                for chosen in (_of_the_machine(source, number), _counted(source, number, None)):
                    if chosen is not None:
                        yield from _numbered(source, node, number, chosen)
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
            yield from _numbered(source, node, number, counted)
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
                yield from _numbered(source, node, number, counted)


def _number(node: ast.AST) -> ast.expr | None:
    """The name of a number by which an expression chooses a GPU, wherever it stands."""
    match node:
        case ast.JoinedStr(
            values=[
                ast.Constant(value="cuda:"),
                ast.FormattedValue(value=ast.Name() | ast.Attribute() as number),
            ]
        ):
            return number
        case ast.Call(
            func=ast.Attribute(attr="device"),
            args=[ast.Constant(value="cuda"), ast.Name() | ast.Attribute() as number],
        ):
            return number
        case ast.Call(
            func=ast.Attribute(attr=called), args=[ast.Name() | ast.Attribute() as number]
        ) if called in _CHOOSING:
            return number
    return None


def _of_the_machine(source: Source, number: ast.expr) -> str | None:
    """The rank on its own machine that the program keeps beside one among all machines."""
    name = number.attr if isinstance(number, ast.Attribute) else ast.unparse(number)
    if not _RANK.fullmatch(name):
        return None
    local = _RANK.sub(_LOCAL, name)
    for node in nodes(source.tree, ast.expr, ast.arg):
        match node, number:
            case ast.Attribute(attr=other), ast.Attribute(value=owner) if other == local:
                return f"{ast.unparse(owner)}.{local}"
            case ((ast.Name(id=other, ctx=ast.Store()) | ast.arg(arg=other)), ast.Name()):
                if other == local:
                    return local
    return None


def _counted(source: Source, number: ast.expr, frame: FrameType | None) -> str | None:
    """A number that is taken in a circle; None for one that is so already, or that is there."""
    held = value(number, frame) if frame is not None else None
    known = frame is not None and isinstance(number, ast.Name | ast.Attribute)
    if known and (type(held) is not int or _is_there(held)):
        return None
    if isinstance(number, ast.Constant | ast.JoinedStr | ast.IfExp) or (
        isinstance(number, ast.BinOp) and isinstance(number.op, ast.Mod)
    ):
        return None
    name, needed = spelled(source, "torch.cuda.device_count", number)
    if needed:
        return None
    text = text_of(source, number)
    return f"{text if isinstance(number, _ATOMS) else f'({text})'} % {name}()"


def _is_there(held: object) -> bool:
    """Whether this is the number of a GPU that is there."""
    return type(held) is int and held < torch.cuda.device_count()


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


def _numbered(source: Source, node: ast.expr, number: ast.expr, text: str) -> Iterator[Move]:
    """The edit of an expression that chooses a GPU by a number; an f-string is written anew."""
    if isinstance(node, ast.JoinedStr):
        quote = "'" if '"' in text else '"'
        yield from _edit(source, node, f"f{quote}cuda:{{{text}}}{quote}", "rank-device")
    else:
        yield from _edit(source, number, text, "rank-device")


def _edit(source: Source, node: ast.expr, text: str, cause: str) -> Iterator[Move]:
    with suppress(Refused):
        edit = file_edit(source, [replaced(source, node, text)])
        kind = "set-rank-device" if cause == "rank-device" else "use-like-device-of-other"
        yield Move(kind, edit, cause=cause, says="present")
