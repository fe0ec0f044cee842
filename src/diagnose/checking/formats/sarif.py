"""Findings as SARIF 2.1.0, for code scanning: the rules that fired, own fingerprints, fixes inside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from diagnose.casebase.store import load
from diagnose.checking.accelerator import RULE
from diagnose.checking.fingerprints import relative
from diagnose.checking.model import Finding, Place, Repair, Replacement, Report
from diagnose.checking.words import STEPS, WORDS
from diagnose.installation import DISTRIBUTION
from diagnose.model import Lang

Object = dict[str, Any]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report, lang: Lang = "en") -> str:
    """One log with one run.

    Raises:
        CasebaseError: the case base cannot be read.
    """
    rules = list(dict.fromkeys(sorted(one.id for one in report.findings)))
    run = {
        "tool": {
            "driver": {"name": "diagnose", "version": _version(), "rules": _rules(rules, lang)}
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.faults,
                "toolExecutionNotifications": [*_notices(report)],
            }
        ],
        "results": [_result(one, rules.index(one.id), lang) for one in report.findings],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "replace").decode() + "\n"  # a name may hold what is no character


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # run from its source
        return "0"


def _rules(ids: Sequence[str], lang: Lang) -> list[Object]:
    casebase = load(lang=lang)
    texts = {key: (one.title, one.why, one.tell) for key, one in casebase.causes.items()}
    texts |= {key: (key, says, says) for key, says in casebase.device_map().items()}
    if RULE in ids:
        own = casebase.accelerator()
        texts[RULE] = own.title, own.why, own.tell
    return [
        {
            "id": key,
            "shortDescription": {"text": texts[key][0]},
            "fullDescription": {"text": texts[key][1]},
            "help": {"text": "\n\n".join(texts[key][1:])},
            "defaultConfiguration": {"level": "warning"},
        }
        for key in ids
    ]


def _notices(report: Report) -> Iterator[Object]:
    for sentence in report.problems:
        yield {"level": "warning", "message": {"text": sentence}}
    for sentence in report.faults:
        yield {"level": "error", "message": {"text": sentence}}


def _result(finding: Finding, rule: int, lang: Lang) -> Object:
    related = [
        {**_location(step.place), "message": {"text": STEPS[lang].get(step.what, step.what)}}
        for step in finding.steps
    ]
    if finding.meets is not None:
        word = "meets" if finding.wanted else "meets-other"
        text = WORDS[lang][word].format(wanted=finding.wanted, place=_short(finding.meets))
        related.append({**_location(finding.meets), "message": {"text": text}})
    result: Object = {
        "ruleId": finding.id,
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": finding.sentence},
        "locations": [_location(finding.place)],
        "partialFingerprints": {"diagnose/v1": finding.fingerprint},
        "properties": {"sure": finding.sure, "device": finding.device, "wanted": finding.wanted},
    }
    if related:
        result["relatedLocations"] = [{"id": at, **one} for at, one in enumerate(related, 1)]
    notebook = finding.place.cell is not None  # its lines are not the file's
    if finding.repair is not None and finding.repair.replacements and not notebook:
        result["fixes"] = [_fix(finding.repair, finding.place.file)]
    return result


def _short(place: Place) -> str:
    return f"{relative(place.file)}:{place.line}"


def _location(place: Place) -> Object:
    physical: Object = {"artifactLocation": _artifact(place.file)}
    if place.cell is None:  # a notebook's lines are not the file's
        physical["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
            "snippet": {"text": place.code},
        }
    location: Object = {"physicalLocation": physical}
    if place.function:
        location["logicalLocations"] = [{"fullyQualifiedName": place.function, "kind": "function"}]
    return location


def _artifact(path: str) -> Object:
    name = relative(path)
    if name.startswith("/") or Path(name).is_absolute():
        return {"uri": Path(name).as_uri()}
    return {"uri": quote(name, errors="replace")}


def _fix(repair: Repair, path: str) -> Object:
    description = repair.kind if repair.because is None else f"{repair.kind}: {repair.because}"
    return {
        "description": {"text": f"{description} ({repair.safety})"},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path),
                "replacements": [_replacement(one) for one in repair.replacements],
            }
        ],
    }


def _replacement(change: Replacement) -> Object:
    """Whole lines: from the beginning of the first to that of the line after the last."""
    return {
        "deletedRegion": {
            "startLine": change.first,
            "startColumn": 1,
            "endLine": change.first + change.removed,
            "endColumn": 1,
        },
        "insertedContent": {"text": "".join(f"{line}\n" for line in change.lines)},
    }
