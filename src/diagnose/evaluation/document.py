"""A run as one JSON document: what ``--format json`` prints, ``-o`` writes and ``--against`` reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnose.errors import DiagnoseError
from diagnose.evaluation.comparison import Change, Comparison
from diagnose.evaluation.labels import RUN_MARK
from diagnose.evaluation.measures import Score
from diagnose.evaluation.runs import Made, Outcome
from diagnose.evaluation.summary import Summary

SCHEMA = 1


class RunError(DiagnoseError):
    """A file that is no saved run; the message is a sentence."""


def as_dict(
    made: Made,
    summary: Summary,
    outcomes: Sequence[Outcome],
    comparison: Comparison | None = None,
) -> dict[str, Any]:
    """The run as plain values; ``reports`` hold all that the figures are made from."""
    against = {} if comparison is None else {"against": _comparison(comparison)}
    return {
        RUN_MARK: SCHEMA,
        "version": made.version,
        "casebase": made.casebase,
        "n": {"reports": summary.reports, "device": summary.device, "negative": summary.negative},
        "figures": {
            figure.measure: {
                "value": round(figure.value, 4),
                "n": figure.n,
                "interval": figure.interval and [round(bound, 4) for bound in figure.interval],
            }
            for figure in summary.figures
        },
        "causes": {
            figure.cause: {
                "labelled": figure.labelled,
                "found": figure.found,
                "answered": figure.answered,
                "right": figure.right,
                "recall": _ratio(figure.found, figure.labelled),
                "precision": _ratio(figure.right, figure.answered),
            }
            for figure in summary.causes
        },
        "confusions": [
            {
                "label": confusion.label,
                "answer": confusion.answer,
                "accepted": confusion.accepted,
                "reports": list(confusion.reports),
            }
            for confusion in summary.confusions
        ],
        "calibration": [
            {
                "low": bin.low,
                "high": bin.high,
                "confidence": round(bin.confidence, 4),
                "accuracy": round(bin.accuracy, 4),
                "n": bin.n,
            }
            for bin in summary.bins
        ],
        **against,
        "reports": [_report(outcome) for outcome in outcomes],
    }


def render(document: dict[str, Any]) -> str:
    """The document as text."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read(path: Path) -> tuple[Made, list[Outcome]]:
    """A saved run.

    Raises:
        RunError: there is no such file, or it is no saved run of a schema that is known here.
    """
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict) or RUN_MARK not in content:
        raise RunError(f"{path} is no saved run; make one with diagnose kb evaluate --output FILE")
    if content[RUN_MARK] != SCHEMA:
        raise RunError(
            f"{path} is a run of schema {content[RUN_MARK]}; this diagnose reads schema {SCHEMA}"
        )
    try:
        made = Made(str(content["version"]), str(content["casebase"]))
        return made, [_outcome(report) for report in content["reports"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunError(f"{path} is a damaged run: {type(error).__name__}: {error}") from error


def _report(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "log": outcome.log,
        "label": outcome.label,
        "accepted": list(outcome.accepted),
        "verdict": outcome.verdict,
        "causes": [{"id": cause, "confidence": sure} for cause, sure in outcome.causes],
        "problem": outcome.problem,
        "scores": {score.measure: round(score.value, 4) for score in outcome.scores},
        "misses": {
            score.measure: {"wanted": score.wanted, "got": score.got}
            for score in outcome.scores
            if score.value < 1
        },
    }


def _outcome(report: dict[str, Any]) -> Outcome:
    misses = report["misses"]
    return Outcome(
        name=str(report["name"]),
        log=str(report["log"]),
        label=str(report["label"]),
        accepted=tuple(str(cause) for cause in report["accepted"]),
        verdict=report["verdict"],
        causes=tuple((str(c["id"]), _part(c["confidence"])) for c in report["causes"]),
        scores=tuple(
            Score(str(measure), _part(value), **misses.get(measure, {}))
            for measure, value in report["scores"].items()
        ),
        problem=report["problem"],
    )


def _part(value: float) -> float:
    """A number from 0 to 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{value} is not between 0 and 1")
    return float(value)


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "version": comparison.made.version,
        "casebase": comparison.made.casebase,
        "compared": comparison.compared,
        "added": list(comparison.added),
        "removed": list(comparison.removed),
        "altered": list(comparison.altered),
        "figures": {
            figure.measure: {
                "before": round(figure.before, 4),
                "after": round(figure.after, 4),
                "better": figure.better,
                "worse": figure.worse,
                "n": figure.n,
                "p": figure.chance and round(figure.chance, 4),
            }
            for figure in comparison.figures
        },
        "worse": [_change(change) for change in comparison.worse],
        "better": [_change(change) for change in comparison.better],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "name": change.name,
        "measures": list(change.measures),
        "before": {"id": change.before[0], "confidence": change.before[1]},
        "after": {"id": change.after[0], "confidence": change.after[1]},
    }


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
