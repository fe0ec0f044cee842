"""Which processes failed, and which of them first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from diagnose.parsing import selection
from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.prefixes import rank_of
from diagnose.patterns import lazy

_ROOT_CAUSE = lazy(r"Root Cause \(first observed failure\)")
_EXIT_CODE = lazy(r"^\s*exitcode\s*: (-?)\d+")
_RANK = lazy(r"^\s*rank\s*: (\d+)")


def first(lines: Sequence[Peeled]) -> str | None:
    """The channel of the rank that torchrun saw fail first."""
    root = False
    for line in lines:
        if _ROOT_CAUSE.search(line.text):
            root = True
        elif root and (match := _RANK.match(line.text)):
            return f"rank{match[1]}"
    return None


def sharing(
    chosen: selection.Candidate, found: Sequence[selection.Candidate], lines: Sequence[Peeled]
) -> tuple[tuple[int, ...], int]:
    """The ranks that failed in the same way, as far as the text ties them to it, and how many processes
    did.

    A prefix names the rank of its line. Lines without one may be any rank's: those that torchrun's summary
    lists only where as many printed the failure as failed by themselves, or as are listed at all.
    """
    alike = [c for c in found if c.trace.gist == chosen.trace.gist]
    ranks = {rank for c in alike if (rank := rank_of(c.channel)) is not None}
    if ranks or chosen.channel is not None:
        return tuple(sorted(ranks)), len(ranks)
    listed, summary = _listed(lines)
    printed = sum(c.trace.processes for c in alike if c.frames and c.trace.at < summary)
    for ranks in ({rank for rank, ended in listed.items() if not ended}, {*listed}):
        if len(ranks) == printed:
            return tuple(sorted(ranks)), printed
    return (), printed if listed or chosen.trace.processes > 1 else 1


def _listed(lines: Sequence[Peeled]) -> tuple[dict[int, bool], float]:
    """The ranks that torchrun's summary lists, each with whether a signal ended it, and the line in which
    that begins."""
    listed: dict[int, bool] = {}
    start, rank = math.inf, -1
    for line in lines:
        if match := _RANK.match(line.text):
            start, rank = min(start, line.number), int(match[1][:6])
        elif rank >= 0 and (code := _EXIT_CODE.match(line.text)):
            listed[rank], rank = code[1] == "-", -1
    return listed, start
