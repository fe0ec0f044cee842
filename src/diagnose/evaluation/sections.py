"""A run as titled tables of text, which `layout` prints as plain text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnose.evaluation.comparison import Change, Comparison
from diagnose.evaluation.formulas import wilson
from diagnose.evaluation.measures import MEASURES
from diagnose.evaluation.runs import Made, Outcome
from diagnose.evaluation.summary import Summary

#: So many columns of a confusion matrix stand side by side on 80 columns.
_SIDE_BY_SIDE = 12
_EXAMPLES = 3

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a title. Columns in ``right`` are set flush right; ``note`` is a sentence below the
    title. Without rows only the note stands there."""

    title: str
    heads: Row = ()
    rows: tuple[Row, ...] = ()
    right: frozenset[int] = frozenset()
    note: str = ""


def sections(
    made: Made,
    summary: Summary,
    outcomes: Sequence[Outcome],
    comparison: Comparison | None = None,
    *,
    misses: bool = False,
) -> Iterator[Section]:
    """All tables of a run: the figures first, the changes and misses last."""
    yield _figures(made, summary)
    if summary.causes:
        yield _causes(summary)
        yield from _confusions(summary)
    if summary.bins:
        yield _calibration(summary)
    if comparison:
        yield from _comparison(comparison)
    yield from _problems(outcomes)
    if misses:
        yield _misses(outcomes)


def _figures(made: Made, summary: Summary) -> Section:
    rows = tuple(
        (
            figure.measure,
            f"{figure.value:.3f}",
            _interval(figure.interval),
            str(figure.n),
            MEASURES[figure.measure].about,
        )
        for figure in summary.figures
    )
    other = summary.reports - summary.device - summary.negative
    parts = [
        f"{summary.device} with a device cause",
        f"{summary.negative} of other kinds",
        *([f"{other} without a cause"] if other else []),
    ]
    return Section(
        f"{_count(summary.reports, 'labelled report')}: {', '.join(parts)}",
        ("measure", "value", "95 %", "n", "what is right"),
        rows,
        frozenset({1, 2, 3}),
        f"diagnose {made.version}, case base {made.casebase}",
    )


def _causes(summary: Summary) -> Section:
    rows = tuple(
        (
            figure.cause,
            str(figure.labelled),
            _share(figure.found, figure.labelled),
            _interval(_wilson(figure.found, figure.labelled)),
            str(figure.answered),
            _share(figure.right, figure.answered),
            _interval(_wilson(figure.right, figure.answered)),
        )
        for figure in summary.causes
    )
    return Section(
        "Causes",
        ("cause", "n", "recall", "95 %", "said", "precision", "95 %"),
        rows,
        frozenset(range(1, 7)),
        "An answer that the label accepts counts as right.",
    )


def _confusions(summary: Summary) -> Iterator[Section]:
    wrong = [confusion for confusion in summary.confusions if not confusion.accepted]
    defensible = sum(len(c.reports) for c in summary.confusions if c.accepted)
    also = f"{_count(defensible, 'answer')} besides the label's own cause that it accepts too."
    if not wrong:
        yield Section("Confusions", note=f"None. {also}" if defensible else "None.")
        return
    rows = tuple(
        (c.label, c.answer, str(len(c.reports)), _examples(c.reports, _EXAMPLES)) for c in wrong
    )
    yield Section(
        "Confusions",
        ("label", "answer", "n", "reports"),
        rows,
        frozenset({2}),
        also if defensible else "",
    )
    # In the order of the list, so that the worst stand at the top left.
    names = list(dict.fromkeys(name for c in wrong for name in (c.label, c.answer)))
    for start in range(0, len(names), _SIDE_BY_SIDE):
        columns = range(start, min(start + _SIDE_BY_SIDE, len(names)))
        yield Section(
            "Label (rows) and answer (columns)",
            ("", "cause", *(str(n + 1) for n in columns)),
            tuple(
                (
                    str(number),
                    name,
                    *(str(summary.matrix[name, names[n]] or ".") for n in columns),
                )
                for number, name in enumerate(names, 1)
            ),
            frozenset({0, *range(2, len(columns) + 2)}),
        )


def _calibration(summary: Summary) -> Section:
    rows = tuple(
        (
            f"{bin.low:.1f}-{bin.high:.1f}",
            f"{bin.confidence:.3f}",
            f"{bin.accuracy:.3f}",
            _interval(wilson(bin.accuracy, bin.n)),
            str(bin.n),
        )
        for bin in summary.bins
    )
    return Section(
        "Calibration",
        ("confidence", "mean", "right", "95 %", "n"),
        rows,
        frozenset({1, 2, 3, 4}),
        "The first cause's confidence, and how often that cause is right.",
    )


def _comparison(comparison: Comparison) -> Iterator[Section]:
    moved = [figure for figure in comparison.figures if figure.moved]
    rows = tuple(
        (
            figure.measure,
            f"{figure.before:.3f}",
            f"{figure.after:.3f}",
            f"{figure.after - figure.before:+.3f}".replace("-0.000", "+0.000"),
            *(("-", "-") if figure.chance is None else (str(figure.better), str(figure.worse))),
            "-" if figure.chance is None else f"{figure.chance:.2f}",
            str(figure.n),
        )
        for figure in moved
    )
    made = comparison.made
    notes = [f"Against diagnose {made.version}, case base {made.casebase}."]
    for names, what in (
        (comparison.added, "new"),
        (comparison.removed, "gone"),
        (comparison.altered, "with another log or label"),
    ):
        if names:
            notes.append(f"Left out as {what}: {_examples(names, _EXAMPLES)}.")
    still = len(comparison.figures) - len(moved)
    if comparison.figures:
        notes.append(f"{_count(still, 'figure')} did not move.")
    yield Section(
        f"Changes in {_count(comparison.compared, 'report')}",
        ("measure", "before", "after", "change", "better", "worse", "p", "n"),
        rows,
        frozenset(range(1, 8)),
        " ".join(notes),
    )
    for title, changes in (("Got worse", comparison.worse), ("Got better", comparison.better)):
        if changes:
            yield Section(title, ("report", "what"), tuple(_change(change) for change in changes))


def _change(change: Change) -> Row:
    """The measures, and how the answer went where it did."""
    measures = ", ".join(change.measures)
    if change.before[0] == change.after[0]:
        return change.name, measures
    return change.name, f"{measures}: {_said(*change.before)} → {_said(*change.after)}"


def _said(cause: str, confidence: float | None) -> str:
    return cause if confidence is None else f"{cause} {confidence:.2f}"


def _problems(outcomes: Sequence[Outcome]) -> Iterator[Section]:
    rows = tuple((o.name, o.problem) for o in outcomes if o.problem is not None)
    if rows:
        yield Section("Internal errors", ("report", "error"), rows)


def _misses(outcomes: Sequence[Outcome]) -> Section:
    """By measure, in the order of the table of figures."""
    rows = tuple(
        (measure.id, f"{outcome.name}: wanted {score.wanted}, got {score.got}")
        for measure in MEASURES.values()
        if measure.listed and measure.id != "answered"
        for outcome in outcomes
        for score in outcome.scores
        if score.measure == measure.id and score.value < 1
    )
    if not rows:
        return Section("Misses", note="None.")
    return Section("Misses", ("measure", "report"), rows)


def _examples(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def _wilson(part: int, whole: int) -> tuple[float, float] | None:
    return wilson(part / whole, whole) if whole else None


def _interval(bounds: tuple[float, float] | None) -> str:
    return f"{bounds[0]:.2f}-{bounds[1]:.2f}" if bounds else "-"
