"""Edits of calls that leave out the device: what is called would bring its inputs there by itself."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import with_argument
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Texts
from diagnose.placement.semantics import argument, arguments
from diagnose.repair.synthesis.transfers import Move, own_spots, written_as

_NAME = "device"


def telling(error: BaseException) -> Iterator[Move]:
    """The edits, in the innermost running line first: the call is told where the model is that it is given,
    or a tensor.

    Args:
        error: a live failure.
    """
    for frame, spot in own_spots(error, Texts()):
        call = spot.node
        if not isinstance(call, ast.Call) or not _leaves_out(call, value(call.func, frame)):
            continue
        for home, where in _homes(call, frame):
            for device in written_as(home, frame, where):
                with suppress(Refused):
                    change = with_argument(spot.source, call, _NAME, device)
                    yield Move("use-like-device-of-other", file_edit(spot.source, [change]))


def _leaves_out(call: ast.Call, called: Any) -> bool:
    """Whether a function takes a device that is None where it is not given, and is not given one."""
    shown = not any(isinstance(one, ast.Starred) for one in call.args)
    if not shown or argument(call, _NAME) or any(one.arg is None for one in call.keywords):
        return False
    if not (inspect.isfunction(called) or inspect.isclass(called)):
        return False
    with suppress(TypeError, ValueError):
        known = inspect.signature(called).parameters
        place = list(known).index(_NAME) if _NAME in known else -1
        return place >= len(call.args) and known[_NAME].default is None
    return False


def _homes(call: ast.Call, frame: FrameType) -> Iterator[tuple[str, str]]:
    """The GPUs of what a call is given, each with an expression that tells it."""
    for one in arguments(call):
        held = value(one, frame)
        if isinstance(held, torch.nn.Module):
            devices = {str(weight.device) for weight in held.parameters()}
            where = f"next({ast.unparse(one)}.parameters()).device"
        elif isinstance(held, torch.Tensor):
            devices, where = {str(held.device)}, f"{ast.unparse(one)}.device"
        else:
            continue
        if len(devices) == 1 and (home := devices.pop()).startswith("cuda"):
            yield home, where
