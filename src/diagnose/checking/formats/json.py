"""The findings as one JSON object."""

from __future__ import annotations

import json
from typing import Any

from diagnose.checking.fingerprints import relative
from diagnose.checking.model import Finding, Happened, Place, Repair, Report
from diagnose.model import Lang

Object = dict[str, Any]


def render(report: Report, lang: Lang = "en") -> str:
    """One object: counts, ``findings``, ``unused`` comments, ``problems`` and ``faults``."""
    document = {
        "schema": 1,
        "files": report.files,
        "judged": report.judged,
        "unknown": report.unknown,
        "fixed": report.fixed,
        "findings": [_finding(one) for one in report.findings],
        "unused": [{"id": one.id, **_place(one.place)} for one in report.unused],
        "problems": report.problems,
        "faults": report.faults,
    }
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "replace").decode() + "\n"  # a name may hold what is no character


def _finding(finding: Finding) -> Object:
    return {
        "id": finding.id,
        "sentence": finding.sentence,
        **_place(finding.place),
        "device": finding.device,
        "wanted": finding.wanted,
        "sure": finding.sure,
        "steps": [_step(step) for step in finding.steps],
        "meets": _place(finding.meets) if finding.meets else None,
        "because": _step(finding.because) if finding.because else None,
        "fix": _repair(finding.repair) if finding.repair else None,
        "fingerprint": finding.fingerprint,
    }


def _place(place: Place) -> Object:
    return {**place._asdict(), "file": relative(place.file)}


def _step(step: Happened) -> Object:
    return {"what": step.what, "device": step.device, **_place(step.place)}


def _repair(repair: Repair) -> Object:
    replaced = [
        {key: value for key, value in change._asdict().items() if key != "cell" or value}
        for change in repair.replacements
    ]
    return {**repair._asdict(), "replacements": replaced}
