"""Edits of the line that brings some of a batch to its device: it brings all of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.placement.device_patterns import destinations
from diagnose.placement.semantics import nodes
from diagnose.repair.synthesis.transfers import Move, own_spots


def batching(error: BaseException) -> Iterator[Move]:
    """The edits, for each mapping in the running functions whose tensors are on the cpu and elsewhere, and
    which such a line has assigned.

    Args:
        error: a live failure.
    """
    texts = Texts()
    for frame, spot in own_spots(error, texts):
        apart = {name for name, held in list(frame.f_locals.items()) if _is_apart(held)}
        text = texts.of(spot.file)
        for one in (
            nodes(text.function(spot.node), ast.Assign) if text is not None and apart else ()
        ):
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=written) if (
                    name in apart and one.lineno < spot.line
                ):
                    yield from _whole(spot.source, name, written)


def _whole(source: Source, name: str, written: ast.expr) -> Iterator[Move]:
    """The edits by which an assignment of some moved parts moves all of them."""
    for device in dict.fromkeys(map(ast.unparse, destinations(written))):
        made = f"{{k: v.to({device}) for k, v in {name}.items()}}"
        with suppress(Refused):
            edit = file_edit(source, [replaced(source, written, made)])
            yield Move("move-input", edit, moves=(name, device))


def _is_apart(held: Any) -> bool:
    """Whether a mapping holds nothing but tensors, on the cpu and elsewhere."""
    if type(held) is not dict or not held:
        return False
    tensors = [one for one in dict.values(held) if isinstance(one, torch.Tensor)]
    kinds = {one.device.type for one in tensors}
    return len(tensors) == len(held) and len(kinds) > 1 and "cpu" in kinds
