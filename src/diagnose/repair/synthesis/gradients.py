"""Edits of a gradient that is set by hand for a parameter that is elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.expressions import moved
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.repair.synthesis.transfers import Move, own_spots

_REFUSED = "assign a gradient with device type"


def granting(error: BaseException) -> Iterator[Move]:
    """The edit: what is set goes to its parameter.

    Args:
        error: a live failure.
    """
    if _REFUSED not in str(error):
        return
    texts = Texts()
    for _, spot in own_spots(error, texts)[:1]:
        text = texts.of(spot.file)
        match text.statement(spot.node) if text is not None else None:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr="grad")], value=given):
                device = f"{text_of(spot.source, owner)}.device"
                for one in _tensors(given):
                    with suppress(Refused):
                        edit = file_edit(spot.source, [moved(spot.source, one, device)])
                        yield Move(
                            "move-tensor-at-line", edit, moves=(text_of(spot.source, one), device)
                        )


def _tensors(given: ast.expr) -> list[ast.expr]:
    """What may be set: of a choice, what is not None."""
    match given:
        case ast.IfExp(body=body, orelse=other):
            return [*_tensors(body), *_tensors(other)]
        case ast.Constant(value=None):
            return []
    return [given]
