"""What else it may be, where files or a process show the misplaced value: what the traceback says alone.

A value that was followed through a program outweighs all that a traceback tells, so that no other cause is
left. It is seldom wrong, and then the traceback's own first cause is most often the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.ranking.causes import Scored


def doubted(ranked: Sequence[Scored], alone: Sequence[Scored]) -> tuple[Scored, ...]:
    """The causes with what the first one leaves divided anew: half as all the evidence has it, half as the
    traceback alone does. The first cause and its confidence stay.

    Args:
        ranked: all causes by all the evidence, most likely first.
        alone: all causes by the traceback alone.
    """
    if not ranked:
        return ()
    first, *others = ranked
    rest = 1 - first.confidence
    traced = {scored.cause.id: scored for scored in alone if scored.cause.id != first.cause.id}
    seen = sum(scored.confidence for scored in others) or 1.0
    told = sum(scored.confidence for scored in traced.values()) or 1.0
    divided = list[Scored]()
    for scored in others:
        own = traced.get(scored.cause.id, scored)
        share = (scored.confidence / seen + own.confidence / told) / 2
        facts = {fact.id: fact for fact in (*scored.support, *own.support)}
        divided.append(scored._replace(confidence=rest * share, support=tuple(facts.values())))
    return (first, *sorted(divided, key=lambda one: (-one.confidence, one.cause.id)))
