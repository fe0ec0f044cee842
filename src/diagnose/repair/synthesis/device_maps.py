"""Edits of where a model was loaded to that is trained on another GPU, and can't be moved there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.placement.semantics import nodes
from diagnose.repair.synthesis.transfers import Move, own_spots

#: What a trainer says of a quantized model that is elsewhere.
_ELSEWHERE = "on a different device than the one you're training on"


def mapping(error: BaseException) -> Iterator[Move]:
    """The edits, of each map in the running functions' files that names one device for a whole model: the
    process's own GPU, which is the one that trains.

    Args:
        error: a live failure.
    """
    if _ELSEWHERE not in str(error):
        return
    spots = own_spots(error, Texts())
    for source in {spot.file: spot.source for _, spot in spots}.values():
        for node in nodes(source.tree, ast.Dict):
            match node:
                case ast.Dict(keys=[ast.Constant(value="")], values=[device]):
                    name, needed = spelled(source, "torch.cuda.current_device", device)
                    with suppress(Refused):
                        edit = file_edit(source, [replaced(source, device, f"{name}()"), *needed])
                        yield Move("pin-device-map", edit)
