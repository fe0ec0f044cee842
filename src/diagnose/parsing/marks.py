"""The texts that a large log is searched for: read off the case base, but for how tracebacks look.

A line matters that holds a literal of a device wording, or of a rule that reads a log's lines. These are
hundreds, too many to be searched for at the speed of grep. A few dozen parts of them are not: every
literal holds at least one, and only near a part the literals themselves are looked for (`search`).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from diagnose.model import FamilyRule, Marks, Wording
from diagnose.parsing.families import LINE
from diagnose.parsing.peeling import LINE_LAYERS
from diagnose.parsing.tracebacks.reader import FORMS

#: What tracebacks and exceptions are known by, in every printed form (tests/parsing/forms).
TRACEBACK = tuple(dict.fromkeys(mark for form in FORMS for mark in form.marks))
EXCEPTION = tuple(
    dict.fromkeys(
        [mark for form in FORMS for mark in form.common]
        + [mark for layer in LINE_LAYERS for mark in layer.marks]
    )
)
#: Of a literal so much is looked for: no more can be needed to tell it from another one.
LONGEST = 128
#: Shorter parts stand in too many lines, and make the search slow; a literal that is shorter is a part
#: itself. From the second length on a longer part is no rarer.
_SHORTEST, _ENOUGH = 4, 6


def derive(wordings: Sequence[Wording], families: Sequence[FamilyRule]) -> Marks:
    """The marks of this knowledge, always the same ones for the same knowledge."""
    devices = _shortest(x for w in wordings if w.device_error for x in w.literals)
    rules = [_shortest(rule.literals) for rule in families if LINE in rule.types]
    parts = _cover({text for of in (devices, *rules) for text in of})
    return Marks(devices, tuple(of for of in rules if of), parts)


def _shortest(literals: Iterable[str]) -> tuple[str, ...]:
    """The literals that hold no other one, nor what every exception is known by."""
    found: list[str] = []
    for literal in sorted({text[:LONGEST] for text in literals}, key=lambda x: (len(x), x)):
        if not any(text in literal for text in (*TRACEBACK, *EXCEPTION, *found)):
            found.append(literal)
    return tuple(found)


def _cover(literals: Collection[str]) -> tuple[str, ...]:
    """Parts of the literals such that each of these holds one: in turn the part that most of those hold
    which are still without, where longer parts count more."""
    holders: dict[str, set[str]] = defaultdict(set)
    for literal in literals:
        for part in _parts(literal):
            holders[part].add(literal)

    def gain(part: str) -> tuple[int, bool]:
        # Words begin alike in every log: the search is slow where many parts begin with a blank.
        return -len(holders[part]) * min(len(part), _ENOUGH), part[0] == " "

    queue = [(gain(part), part) for part in holders]
    heapq.heapify(queue)
    chosen: list[str] = []
    left = set(literals)
    while left:
        promised, part = heapq.heappop(queue)
        holders[part] &= left
        if holders[part] and (now := gain(part)) != promised:
            heapq.heappush(
                queue, (now, part)
            )  # gains only shrink: one that kept its own is the best
        elif holders[part]:
            left -= holders[part]
            chosen.append(part)
    return tuple(chosen)


def _parts(literal: str) -> set[str]:
    size = len(literal)
    if size <= _SHORTEST:
        return {literal}
    return {
        literal[start : start + length]
        for length in range(_SHORTEST, min(size, _ENOUGH + 2) + 1)
        for start in range(size - length + 1)
    }
