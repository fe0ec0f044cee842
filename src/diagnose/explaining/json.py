"""The account as JSON, one object for each input: not part of the contract of answers."""

from __future__ import annotations

import json
from typing import Any

from diagnose.explaining.account import Account, Weighed
from diagnose.fixes import Considered
from diagnose.placement.model import Suspect


def render(account: Account) -> str:
    """The account as one line of JSON."""
    return json.dumps(as_dict(account), ensure_ascii=False) + "\n"


def as_dict(account: Account) -> dict[str, Any]:
    """The account as plain values."""
    diagnosis = account.diagnosis
    error = diagnosis.report.error
    return {
        "source": diagnosis.report.source,
        "verdict": diagnosis.verdict,
        "family": error.family if error is not None else None,
        "layers": [layer._asdict() for layer in account.layers],
        "errors": [one._asdict() for one in account.errors],
        "facts": [
            {
                "id": held.fact.id,
                "line": held.fact.line,
                "sentence": held.sentence,
                "text": held.text,
                "values": dict(held.fact.values),
            }
            for held in account.facts
        ],
        "misplaced": dict(account.misplaced),
        "suspects": [_suspect(suspect) for suspect in account.suspects],
        "causes": [_cause(weighed) for weighed in account.causes],
        "incomplete": [piece._asdict() for piece in diagnosis.incomplete],
    }


def _suspect(suspect: Suspect) -> dict[str, Any]:
    return {
        "cause": suspect.cause,
        "name": suspect.name,
        "file": suspect.line.file,
        "line": suspect.line.line,
        "sure": suspect.sure,
        "steps": [
            {
                "what": step.what.value,
                "device": str(step.device) if step.device is not None else None,
                "file": step.spot.file,
                "line": step.spot.line,
            }
            for step in suspect.steps
        ],
    }


def _cause(weighed: Weighed) -> dict[str, Any]:
    scored = weighed.scored
    return {
        "id": scored.cause.id,
        "confidence": scored.confidence,
        "score": scored.score,
        "terms": [term._asdict() for term in scored.terms],
        "fixes": [_fix(one) for one in weighed.fixes],
    }


def _fix(one: Considered) -> dict[str, Any]:
    edit = one.edit
    return {
        "kind": one.template.kind,
        "edit": edit._asdict() if edit is not None else None,
        "refused": None if edit is not None else str(one.made),
    }
