"""Edits of loaders that pin what is on a GPU already: only memory of the host can be pinned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.expressions import without_argument
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.placement.semantics import argument, calls
from diagnose.repair.synthesis.transfers import Move, own_spots

_REFUSED = "only dense CPU tensors can be pinned"
_KEYWORD = "pin_memory"


def pinning(error: BaseException) -> Iterator[Move]:
    """The edits, of each call in the running functions' files that asks for it.

    Args:
        error: a live failure.
    """
    if _REFUSED not in str(error):
        return
    texts = Texts()
    spots = reversed(own_spots(error, texts))
    for source in {spot.file: spot.source for _, spot in spots}.values():
        for node in calls(source.tree):
            if argument(node, _KEYWORD) is not None:
                with suppress(Refused):
                    edit = file_edit(source, [without_argument(source, node, _KEYWORD)])
                    yield Move("other", edit, cause="input-not-moved", says="unpinned")
