"""Edits of what an object makes once and keeps, on the device of that time: it is made anew where that is
another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from types import FrameType

import torch

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.places import text_of
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.repairing.meeting import meeting
from diagnose.repairing.moving import Move


def renewing(error: BaseException) -> Iterator[Move]:
    """The edits of the conditions, in the running functions, under which an operand is made.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    if found is None:
        return
    texts = found.lives.texts
    for stray, other in permutations(found.operands, 2):
        for name in _kept(stray.side.node):
            for frame, line in reversed(found.lives.alive):  # of a replica's thread, too
                spot = texts.spot(line)
                text = texts.of(spot.file) if spot is not None else None
                if spot is None or text is None:
                    continue
                function = text.function(spot.node)
                for node in ast.walk(function):
                    if isinstance(node, ast.If) and _asks_for(node.test, name):
                        for beside in _there(function, frame, other.device):
                            told = text_of(spot.source, node.test)
                            code = f"{told} or {name}.device != {beside}.device"
                            with suppress(Refused):
                                change = replaced(spot.source, node.test, code)
                                edit = file_edit(spot.source, [change])
                                yield Move("use-like-device-of-other", edit)


def _kept(node: ast.AST) -> Iterator[str]:
    """What an expression takes from its object."""
    for one in ast.walk(node):
        match one:
            case ast.Attribute(value=ast.Name(id="self")):
                yield ast.unparse(one)


def _asks_for(test: ast.expr, name: str) -> bool:
    """Whether a condition asks first whether something is None, and then nothing but other reasons."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=[first, *_]):
            return _asks_for(first, name)
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return ast.unparse(left) == name
    return False


def _there(function: ast.AST, frame: FrameType, device: str) -> Iterator[str]:
    """The first argument of a running function that is a tensor on a device."""
    arguments = getattr(function, "args", None)
    for one in arguments.args if isinstance(arguments, ast.arguments) else ():
        held = frame.f_locals.get(one.arg)
        if isinstance(held, torch.Tensor) and str(held.device) == device:
            yield one.arg
            return
