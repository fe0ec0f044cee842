"""Edits of what brings a batch to its device, whatever that is nested in or one tensor after the other: it
goes through one more container."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from diagnose.casebase.store import load
from diagnose.fixes.codemods.flat_batches import passing_over
from diagnose.fixes.codemods.nested_batches import movers, nested
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.repair.synthesis.transfers import Move, own_spots


def nesting(error: BaseException) -> Iterator[Move]:
    """The edits, for each such place in the files of the running functions. Where nothing of that kind
    is handed to it they change nothing.

    Args:
        error: a live failure.
    """
    torch = load().knowledge.torch
    sources = {spot.file: spot.source for _, spot in own_spots(error, Texts())}
    for source in sources.values():
        for function in movers(source, torch):
            for changes in nested(source, function, torch):
                yield from _edit(source, changes)
        for change in passing_over(source, torch):
            yield from _edit(source, [change])


def _edit(source: Source, changes: Sequence[Change]) -> Iterator[Move]:
    with suppress(Refused):
        edit = file_edit(source, changes)
        yield Move("move-input", edit, cause="input-not-moved", says="nested")
