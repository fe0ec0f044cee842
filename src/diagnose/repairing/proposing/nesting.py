"""Edits of functions that bring a batch to its device whatever it is nested in: they go through one more
container."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from diagnose.casebase.store import load
from diagnose.fixes.definitions.nesting import movers, nested
from diagnose.fixes.editing import Refused
from diagnose.fixes.file_edit import file_edit
from diagnose.hooks.positions import Texts
from diagnose.repairing.proposing.moving import Move, own_spots


def nesting(error: BaseException) -> Iterator[Move]:
    """The edits, for each such function in the files of the running functions. Where nothing of that kind
    is handed to it they change nothing.

    Args:
        error: a live failure.
    """
    torch = load().knowledge.torch
    sources = {spot.file: spot.source for _, spot in own_spots(error, Texts())}
    for source in sources.values():
        for function in movers(source, torch):
            for changes in nested(source, function, torch):
                with suppress(Refused):
                    edit = file_edit(source, changes)
                    yield Move("move-input", edit, cause="input-not-moved", says="nested")
