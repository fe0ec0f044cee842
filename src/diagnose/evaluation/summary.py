"""The figures of a run: measures, causes, confusions, calibration."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diagnose.evaluation.formulas import Bin, calibration, calibration_error, wilson
from diagnose.evaluation.labels import NOT_DEVICE
from diagnose.evaluation.measures import MEASURES
from diagnose.evaluation.runs import Outcome


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure over the ``n`` reports whose label has it; an error has no interval."""

    measure: str
    value: float
    n: int
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class CauseFigure:
    """One cause: how many reports are ``labelled`` with it and how many of these ``found`` (a defensible
    answer); how often it was ``answered`` first, and how often that was ``right``."""

    cause: str
    labelled: int
    found: int
    answered: int
    right: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """Reports of one cause that were answered with another; ``accepted``: their label finds that
    defensible."""

    label: str
    answer: str
    accepted: bool
    reports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. ``matrix`` counts (label's cause, answer), a defensible answer as the label's
    own."""

    reports: int
    device: int
    negative: int
    figures: tuple[Figure, ...]
    causes: tuple[CauseFigure, ...]
    confusions: tuple[Confusion, ...]
    matrix: Counter[tuple[str, str]]
    bins: tuple[Bin, ...]

    def figure(self, measure: str) -> Figure | None:
        """The figure of a measure, None where no label has it."""
        return next((figure for figure in self.figures if figure.measure == measure), None)


def summarize(outcomes: Sequence[Outcome]) -> Summary:
    """The figures of some outcomes."""
    bins = calibration(answers(outcomes))
    return Summary(
        reports=len(outcomes),
        device=sum(outcome.cause not in (None, NOT_DEVICE) for outcome in outcomes),
        negative=sum(outcome.cause == NOT_DEVICE for outcome in outcomes),
        figures=tuple(_figures(outcomes, bins)),
        causes=tuple(_causes(outcomes)),
        confusions=tuple(_confusions(outcomes)),
        matrix=_matrix(outcomes),
        bins=bins,
    )


def answers(outcomes: Iterable[Outcome]) -> list[tuple[float, bool]]:
    """The confidence of each answer to a device failure and whether it was defensible."""
    return [
        (outcome.causes[0][1], outcome.right)
        for outcome in outcomes
        if outcome.causes and outcome.cause not in (None, NOT_DEVICE)
    ]


def _figures(outcomes: Sequence[Outcome], bins: Sequence[Bin]) -> Iterable[Figure]:
    values: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        for score in outcome.scores:
            values[score.measure].append(score.value)
    for measure in MEASURES.values():
        if measure.kind == "error":
            if bins:
                yield Figure(measure.id, calibration_error(bins), sum(b.n for b in bins), None)
        elif found := values.get(measure.id):
            mean = math.fsum(found) / len(found)
            yield Figure(measure.id, mean, len(found), wilson(mean, len(found)))


def _causes(outcomes: Sequence[Outcome]) -> Iterable[CauseFigure]:
    """By cause, the most frequent label first."""
    scored = [outcome for outcome in outcomes if outcome.cause is not None]
    labelled = Counter(outcome.cause for outcome in scored)
    found = Counter(outcome.cause for outcome in scored if outcome.right)
    answered = Counter(outcome.answer for outcome in scored if outcome.problem is None)
    right = Counter(outcome.answer for outcome in scored if outcome.right)
    names = {name for name in (*labelled, *answered) if name is not None}
    for cause in sorted(names, key=lambda name: (-labelled[name], name)):
        yield CauseFigure(cause, labelled[cause], found[cause], answered[cause], right[cause])


def _confusions(outcomes: Sequence[Outcome]) -> Iterable[Confusion]:
    """Answers other than the label's cause: mistakes before defensible ones, the most frequent first."""
    groups: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.cause and outcome.problem is None and outcome.answer != outcome.cause:
            groups[outcome.cause, outcome.answer, outcome.right].append(outcome.name)
    for (label, answer, accepted), names in sorted(
        groups.items(), key=lambda item: (item[0][2], -len(item[1]), item[0])
    ):
        yield Confusion(label, answer, accepted, tuple(names))


def _matrix(outcomes: Sequence[Outcome]) -> Counter[tuple[str, str]]:
    return Counter(
        (outcome.cause, outcome.cause if outcome.right else outcome.answer)
        for outcome in outcomes
        if outcome.cause and outcome.problem is None
    )
