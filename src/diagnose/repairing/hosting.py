"""Edits of what a function of the host is given in a list: the parts that are on a GPU come to the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import torch

from diagnose.fixes.definitions.expressions import around
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.rewriting import Change
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Text, Texts
from diagnose.placement import Source
from diagnose.repairing.moving import Move, operands_of, own_spots

_REFUSED = "device type tensor to numpy"
_TO_HOST = ".detach().cpu()"


def hosting(error: BaseException) -> Iterator[Move]:
    """The edits: of the parts where the list is written, else of all that it holds.

    Args:
        error: a live failure.
    """
    if _REFUSED not in str(error):
        return
    texts = Texts()
    for frame, spot in own_spots(error, texts):
        if (text := texts.of(spot.file)) is None:
            continue
        for given in operands_of(spot.node):
            changes = _changes(spot.source, text, given, frame)
            with suppress(Refused):
                if changes:
                    edit = file_edit(spot.source, changes)
                    yield Move("cpu-before-numpy", edit, cause="host-copy-needed")
        return


def _changes(source: Source, text: Text, given: ast.expr, frame: FrameType) -> list[Change]:
    held = value(given, frame)
    written = assigned(given, text.function(given), given.lineno)
    for node in (given, written):
        if isinstance(node, ast.List | ast.Tuple):
            stray = [one for one in node.elts if _is_away(value(one, frame))]
            return [around(source, one, "", _TO_HOST) for one in stray]
    if isinstance(held, list | tuple) and held and all(map(_is_tensor, held)):
        return [around(source, given, f"[v{_TO_HOST} for v in ", "]")]
    return []


def _is_tensor(held: Any) -> bool:
    return isinstance(held, torch.Tensor)


def _is_away(held: Any) -> bool:
    return isinstance(held, torch.Tensor) and held.device.type == "cuda"
