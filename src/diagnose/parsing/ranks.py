"""Which processes failed, and which of them first."""

from __future__ import annotations

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


def sharing(chosen: selection.Candidate, found: Sequence[selection.Candidate]) -> tuple[int, ...]:
    """The ranks that failed in the same way."""
    wanted = selection.gist(chosen.trace)
    ranks = (rank_of(c.channel) for c in found if selection.gist(c.trace) == wanted)
    return tuple(sorted({rank for rank in ranks if rank is not None}))


def listed(chosen: selection.Candidate, lines: Sequence[Peeled]) -> tuple[int, ...]:
    """The ranks that torchrun's summary lists as failed by themselves, not ended by a signal, where the
    failure's own lines name none."""
    ranks: set[int] = set()
    rank: int | None = None
    for line in lines if chosen.channel is None else ():
        if match := _RANK.match(line.text):
            rank = int(match[1][:6])
        elif rank is not None and (code := _EXIT_CODE.match(line.text)):
            ranks |= {rank} if code[1] != "-" else set()
            rank = None
    return tuple(sorted(ranks))
