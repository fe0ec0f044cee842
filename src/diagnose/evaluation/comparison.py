"""What changed between two runs: only reports whose log and label are the same in both are compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from diagnose.evaluation.formulas import calibration, calibration_error, sign_test
from diagnose.evaluation.measures import MEASURES
from diagnose.evaluation.runs import Made, Outcome
from diagnose.evaluation.summary import answers

#: Values are saved with four digits.
_SAME = 1e-4

Pair = tuple[Outcome, Outcome]


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure before and after, over the ``n`` reports that have it in both runs.

    ``better`` and ``worse`` count the reports that moved, ``chance`` is how often chance alone makes so
    uneven a split (None for an error, which no single report has).
    """

    measure: str
    before: float
    after: float
    n: int
    better: int
    worse: int
    chance: float | None

    @property
    def moved(self) -> bool:
        """True when a report moved, or the error that all of them make."""
        return bool(self.better or self.worse) or abs(self.after - self.before) > _SAME


@dataclass(frozen=True, slots=True)
class Change:
    """A report with the measures that went one way, and its first cause with the confidence in it."""

    name: str
    measures: tuple[str, ...]
    before: tuple[str, float | None]
    after: tuple[str, float | None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against an earlier one, which ``made`` describes. ``added`` and ``removed`` stand in one run
    only; ``altered`` have another log or label."""

    made: Made
    compared: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    altered: tuple[str, ...]
    figures: tuple[Difference, ...]
    worse: tuple[Change, ...]
    better: tuple[Change, ...]


def compare(made: Made, before: Sequence[Outcome], after: Sequence[Outcome]) -> Comparison:
    """The comparison of a run with an earlier one."""
    earlier = {outcome.name: outcome for outcome in before}
    later = {outcome.name: outcome for outcome in after}
    shared = [(earlier[name], outcome) for name, outcome in later.items() if name in earlier]
    pairs = [(a, b) for a, b in shared if (a.log, a.label) == (b.log, b.label)]
    return Comparison(
        made=made,
        compared=len(pairs),
        added=tuple(name for name in later if name not in earlier),
        removed=tuple(name for name in earlier if name not in later),
        altered=tuple(b.name for a, b in shared if (a.log, a.label) != (b.log, b.label)),
        figures=tuple(_differences(pairs)),
        worse=tuple(_changes(pairs, -1)),
        better=tuple(_changes(pairs, 1)),
    )


def _differences(pairs: Sequence[Pair]) -> Iterator[Difference]:
    for measure in MEASURES.values():
        if measure.kind == "error":
            yield from _errors(measure.id, pairs)
            continue
        values = [
            (a.values[measure.id], b.values[measure.id])
            for a, b in pairs
            if measure.id in a.values and measure.id in b.values
        ]
        if not values:
            continue
        signs = [_sign(a, b) for a, b in values]
        better, worse = signs.count(1), signs.count(-1)
        yield Difference(
            measure=measure.id,
            before=math.fsum(a for a, _ in values) / len(values),
            after=math.fsum(b for _, b in values) / len(values),
            n=len(values),
            better=better,
            worse=worse,
            chance=sign_test(better, worse),
        )


def _errors(measure: str, pairs: Sequence[Pair]) -> Iterator[Difference]:
    before, after = answers(a for a, _ in pairs), answers(b for _, b in pairs)
    if before and after:
        errors = (calibration_error(calibration(before)), calibration_error(calibration(after)))
        yield Difference(measure, *errors, len(after), 0, 0, None)


def _changes(pairs: Iterable[Pair], sign: int) -> Iterator[Change]:
    for a, b in pairs:
        measures = tuple(
            measure
            for measure, value in b.values.items()
            if measure in a.values and _sign(a.values[measure], value) == sign
        )
        if measures:
            yield Change(b.name, measures, _said(a), _said(b))


def _sign(before: float, after: float) -> int:
    """1 better, -1 worse, 0 the same."""
    return (after - before > _SAME) - (before - after > _SAME)


def _said(outcome: Outcome) -> tuple[str, float | None]:
    return outcome.answer, outcome.causes[0][1] if outcome.causes else None
