"""What an audit found, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.paths import place
from diagnose.rendering.words import clean
from diagnose.tracing.auditing import Finding

_SHOWN = 3
_SAID = {
    "not-optimized": "{times} parameters have gradients and no optimizer: {names}",
    "elsewhere": "{times} parameters are on {device}, the rest of their model is not: {names}",
    "meta": "{times} parameters are still on meta, without data: {names}",
    "copied": "the same tensor was copied to {device} {times} times",
}


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """A line a finding: where, and what."""
    for one in findings:
        file = one.line.code.co_filename if one.line is not None else "?"
        names = ", ".join(one.names[:_SHOWN]) + (", ..." if len(one.names) > _SHOWN else "")
        said = _SAID[one.kind].format(times=one.times, names=names, device=one.device)
        where = place(file, one.line.number if one.line is not None else None)
        yield clean(f"{where}: {one.kind}: {said}")
