"""What to ask where no cause is sure: the questions whose answers would tell the causes apart best.

A question is worth the entropy of the causes' confidences that its answer is expected to take away. The
answers are taken as independent given the cause, so that what a question adds to those already chosen
never grows with their number; `choose` relies on it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import mul
from types import MappingProxyType

from diagnose.bulkhead import guarded
from diagnose.casebase.store import Casebase
from diagnose.model import Question, QuestionRule, Reply
from diagnose.placeholders import LOCAL, fill, placeholders
from diagnose.ranking.causes import Scored
from diagnose.scene import Scene

#: No question where the best cause has this confidence. Below it the first cause is mostly a defensible
#: one, as its confidence says, but every second time another was the labelled one.
SURE = 0.8
#: How many questions a reader is asked at most.
LIMIT = 3
#: A question must take away this many bits.
WORTH = 0.08
#: Causes of less confidence do not enter.
CONSIDERED = 0.03
#: Exponent of the confidences in what a reply points to. Below 1, since an answer that comes as a surprise
#: contradicts the facts that the confidences rest on.
_TRUST = 0.5
#: A reply also names the next cause where that is at least this much of the first.
_ALSO = 0.5

Beliefs = Mapping[str, float]
#: Id of a question -> which of its answers was given, from 0, or `UNKNOWN`: then it is not asked again.
Answers = Mapping[str, int]
UNKNOWN = -1
_NONE: Answers = MappingProxyType({})
Rows = tuple[tuple[float, ...], ...]


def answered(
    ranked: Sequence[Scored], answers: Answers, rules: Iterable[QuestionRule]
) -> tuple[Scored, ...]:
    """All causes with the confidences that answers to questions leave them, most likely first.

    A question or an answer that there is none of changes nothing.

    Args:
        ranked: all causes with their confidences.
        answers: id of a question -> which of its answers was given, from 0.
        rules: the questions.
    """
    beliefs = {scored.cause.id: scored.confidence for scored in ranked}
    given = [
        rows[answers[rule.id]]
        for rule in rules
        if rule.id in answers and 0 <= answers[rule.id] < len(rows := rows_of(rule, beliefs))
    ]
    if not given:
        return tuple(ranked)
    # The same order as in what the replies pointed to.
    joint = [
        belief * math.prod(likely) ** (1 / _TRUST)
        for belief, *likely in zip(beliefs.values(), *given, strict=True)
    ]
    total = sum(joint) or 1.0
    after = (
        scored._replace(confidence=share / total)
        for scored, share in zip(ranked, joint, strict=True)
    )
    return tuple(sorted(after, key=lambda scored: -scored.confidence))


def ask(
    ranked: Sequence[Scored],
    scene: Scene,
    facts: Collection[str],
    known: Mapping[str, str],
    casebase: Casebase,
    answers: Answers = _NONE,
) -> tuple[Question, ...]:
    """The questions to put, the most telling one first; none where the first cause is sure.

    Args:
        ranked: all causes with their confidences, as `causes.rank` gives them.
        scene: the report, looked at.
        facts: the ids of what it shows, which decides what there is to ask.
        known: what it says for each placeholder (`placeholders.values`).
        casebase: the questions, and the operands' roles.
        answers: of which questions there are answers, which are not asked again.
    """
    if not ranked or ranked[0].confidence >= SURE:
        return ()
    beliefs = {scored.cause.id: scored.confidence for scored in ranked}
    chosen = choose(
        [rule for rule in casebase.questions() if rule.id not in answers and applies(rule, facts)],
        considered(beliefs),
    )
    if not chosen:
        return ()
    put = (
        guarded(f"questions/{rule.id}", partial(_put, rule, known, scene, beliefs), None)
        for rule in chosen
    )
    return tuple(question for question in put if question is not None)


def considered(beliefs: Beliefs) -> Beliefs:
    """The causes that are likely enough to be told apart; their beliefs add up to 1."""
    likely = {cause: belief for cause, belief in beliefs.items() if belief >= CONSIDERED}
    total = sum(likely.values())
    return {cause: belief / total for cause, belief in likely.items()}


def applies(rule: QuestionRule, facts: Collection[str]) -> bool:
    """Whether the facts leave something to ask."""
    return (
        all(fact in facts for fact in rule.all)
        and (not rule.any or any(fact in facts for fact in rule.any))
        and not any(fact in facts for fact in rule.none)
    )


# --- which questions ------------------------------------------------------------------------------


def choose(
    rules: Iterable[QuestionRule], beliefs: Beliefs, limit: int = LIMIT, worth: float = WORTH
) -> list[QuestionRule]:
    """Greedily, the rules with the greatest expected gain, each given the answers to those before.

    ``beliefs`` add up to 1. Of two that gain as much, the first wins.
    """
    branches: list[Sequence[float]] = [tuple(beliefs.values())]
    chosen: list[QuestionRule] = []
    # Gains never grow, so that one from an earlier round is a bound, which mostly spares the rest.
    waiting = []
    for position, rule in enumerate(rules):
        rows = rows_of(rule, beliefs)
        waiting.append((gain(rows, beliefs, branches), -position, len(chosen), rule, rows))
    while waiting and len(chosen) < limit:
        waiting.sort(key=lambda candidate: candidate[:2])
        bound, order, computed, rule, rows = waiting.pop()
        if bound < worth:
            break
        if computed < len(chosen):
            waiting.append((gain(rows, beliefs, branches), order, len(chosen), rule, rows))
            continue
        chosen.append(rule)
        branches = [tuple(map(mul, branch, row)) for branch in branches for row in rows]
    return chosen


def rows_of(rule: QuestionRule, beliefs: Beliefs) -> Rows:
    """For each answer its likelihood under each of the believed causes."""
    likelihood, others = rule.likelihood, rule.others
    return tuple(zip(*(likelihood.get(cause, others) for cause in beliefs), strict=True))


def gain(rows: Rows, beliefs: Beliefs, branches: Sequence[Sequence[float]]) -> float:
    """Bits that an answer is expected to take away: the mutual information of cause and answer.

    It is H(answer | earlier answers) - H(answer | cause); the cause makes the earlier ones no matter.

    Args:
        rows: as `rows_of` gives them.
        beliefs: the causes' confidences before any answer.
        branches: for each combination of earlier answers, its probability together with each cause.
    """
    causes = tuple(beliefs.values())
    after = _bits(sum(map(mul, branch, row)) for branch in branches for row in rows)
    before = _bits(map(sum, branches))
    noise = _bits(p for row in rows for p in map(mul, causes, row)) - _bits(causes)
    return after - before - noise


def _bits(probabilities: Iterable[float]) -> float:
    """The entropy of what has these probabilities."""
    possible = [p for p in probabilities if p > 0]
    return -math.fsum(map(mul, possible, map(math.log2, possible)))


# --- how they are put -----------------------------------------------------------------------------


def _put(rule: QuestionRule, known: Mapping[str, str], scene: Scene, beliefs: Beliefs) -> Question:
    """The question for this report, in its general form where the report lacks a value."""
    site = scene.site
    code = place = None
    if rule.code is not None:
        local = bool(placeholders(rule.code) & LOCAL)
        if not local or (site is not None and site.frame.own):
            code = fill(rule.code, known)
        if code is not None and local:
            place = known.get("place")
    command = fill(rule.command, known) if rule.command is not None and code is None else None
    return Question(
        id=rule.id,
        text=fill(rule.ask, known) or fill(rule.general or "", known) or rule.ask,
        replies=tuple(
            Reply(fill(text, known) or text, _leading(row, beliefs))
            for text, row in zip(rule.answers, rows_of(rule, beliefs), strict=True)
        ),
        code=code,
        place=place,
        command=command,
    )


def _leading(row: Sequence[float], beliefs: Beliefs) -> tuple[str, ...]:
    """The cause that an answer points to, and the next where it is close behind."""
    joint = sorted(
        (
            (likely * belief**_TRUST, cause)
            for likely, (cause, belief) in zip(row, beliefs.items(), strict=True)
        ),
        reverse=True,
    )
    return tuple(cause for share, cause in joint[:2] if share >= _ALSO * joint[0][0])
