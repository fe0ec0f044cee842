"""Errors that a log tells of without having failed of them: expected by a test, or got over.

A program that catches an error and goes on says so ("retrying on cpu", "skipped"): beside the error, and
the log goes on after it. Where either is missing the error stands, but for that of a rank which goes on
printing until another one fails.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.selection import Candidate
from diagnose.patterns import lazy

_ANNOUNCED = lazy(
    r"\b(?:re-?trying|will retry|fall(?:s|ing|en)? back|fell back|skipp(?:ed|ing)|recover(?:ed|ing))\b",
    re.IGNORECASE,
)
_EXPECTED = lazy(r"^(?:XFAIL|XPASS|SKIPPED|PASSED)\b")
_ENOUGH = 3  # lines after an error that show that the program goes on
#: Lines before a traceback's frames, or after its exception, that may announce what is done about it.
_NEAR = 2
#: Lines that a rank prints after an error before another one fails, if it has got over it; what is printed
#: as a process dies does not count.
_WENT_ON = 20
_DYING = lazy(r"^(?:\s*(?:frame #\d|wandb:|\[?[EWF]\d{3,4} )|.*\[(?:PG|Rank) )")


def standing(found: Sequence[Candidate], lines: Sequence[Peeled]) -> list[Candidate]:
    """The failures that were not got over."""
    said = [line for line in lines if line.text.strip()]
    numbers = [line.number for line in said]
    stand = [candidate for candidate in found if not _got_over(candidate, said, numbers)]
    outlived = _outlived(stand, said)
    return [
        candidate for candidate in stand if candidate.trace.at > outlived.get(candidate.channel, 0)
    ]


def _outlived(found: Sequence[Candidate], said: Sequence[Peeled]) -> dict[str | None, int]:
    """For each process that went on, the line up to which its errors were got over."""
    last: dict[str | None, int] = {}
    for candidate in found:
        if candidate.final:
            last[candidate.channel] = max(candidate.trace.at, last.get(candidate.channel, 0))
    if len(last) < 2:
        return {}
    latest = max(last.values())
    printed = Counter(
        line.channel
        for line in said
        if line.channel in last
        and last[line.channel] < line.number < latest
        and not _DYING.match(line.text)
    )
    return {channel: last[channel] for channel, count in printed.items() if count >= _WENT_ON}


def went_on(candidate: Candidate, lines: Sequence[Peeled]) -> bool:
    """True where more than an end follows the last line of a failure."""
    rest = (line for line in lines if line.number > candidate.trace.at + 1 and line.text.strip())
    return sum(1 for _, _ in zip(range(_ENOUGH), rest, strict=False)) == _ENOUGH


def told(
    lines: Sequence[Peeled], found: Sequence[Candidate], standing: Sequence[Candidate]
) -> Sequence[Peeled]:
    """The lines but for those of errors that do not stand, and those that say themselves that an error
    was expected or got over."""
    kept = {id(candidate) for candidate in standing}
    over = [c.trace.at for c in found if id(c) not in kept]
    gone = {number for at in over for number in range(at, at + _NEAR + 1)}
    last = lines[-_ENOUGH].number if len(lines) >= _ENOUGH else 0
    return [
        line
        for line in lines
        if line.number not in gone
        and not _EXPECTED.match(line.text)
        and not (line.number < last and _ANNOUNCED.search(line.text))
    ]


def _got_over(candidate: Candidate, said: Sequence[Peeled], numbers: Sequence[int]) -> bool:
    """True where the lines around a traceback announce that the program goes on, and it does."""
    starts = [f.at for t in (candidate.trace, *candidate.chain) for f in t.frames if f.at]
    start = bisect_left(numbers, min(starts, default=candidate.trace.at))
    end = bisect_right(numbers, candidate.trace.at)
    if len(said) - end < _ENOUGH:
        return False
    around = (*said[max(0, start - _NEAR) : start], *said[end : end + _NEAR])
    return any(
        line.channel == candidate.channel and _announces(line.text, candidate) for line in around
    )


def _announces(text: str, candidate: Candidate) -> bool:
    """True for a line that says of this error that it was got over; one that quotes another error does
    not ("sample 8 skipped: ...")."""
    announced = _ANNOUNCED.search(text)
    if announced is None:
        return False
    rest = text[announced.end() :]
    quoted = rest[1:].strip()[:60] if rest.startswith(":") else ""
    return quoted in " ".join((candidate.trace.type or "", candidate.trace.message))
