"""The recorded traces of the documented incidents, through the whole pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose

TRACES = sorted((Path(__file__).parent / "traces").glob("*.txt"))


@pytest.fixture(params=TRACES, ids=lambda path: path.stem)
def answered(request: pytest.FixtureRequest, casebase: Casebase) -> tuple[str, Diagnosis]:
    path: Path = request.param
    return path.stem, diagnose(path.read_bytes(), path.name, casebase=casebase)


def test_the_documented_cause_is_first(answered: tuple[str, Diagnosis], casebase: Casebase) -> None:
    slug, diagnosis = answered
    assert diagnosis.verdict == "diagnosed"
    assert diagnosis.causes[0].id == casebase.incidents[slug].cause


def test_the_documented_fix_is_among_the_first_three(
    answered: tuple[str, Diagnosis], casebase: Casebase
) -> None:
    slug, diagnosis = answered
    shown = {fix.kind for fix in diagnosis.causes[0].fixes[:3]}
    assert shown & set(casebase.incidents[slug].fixes)


def test_the_incident_itself_is_among_the_three_shown(answered: tuple[str, Diagnosis]) -> None:
    slug, diagnosis = answered
    assert slug in [match.id for match in diagnosis.causes[0].incidents]


def test_every_cause_shown_has_evidence_that_stands_in_the_input(
    answered: tuple[str, Diagnosis],
) -> None:
    slug, diagnosis = answered
    lines = (Path(__file__).parent / "traces" / f"{slug}.txt").read_text().splitlines()
    for cause in diagnosis.causes:
        assert cause.evidence, cause.id
        for evidence in cause.evidence:
            assert evidence.line is None or 1 <= evidence.line <= len(lines)
            assert "{" not in evidence.text
            assert "…" not in evidence.text or len(evidence.text) > 80


def test_without_their_own_incident_the_cause_is_still_among_the_first_three(
    answered: tuple[str, Diagnosis], casebase: Casebase
) -> None:
    """The facts carry the answer; the incident only confirms it."""
    slug, _ = answered
    others = {key: value for key, value in casebase.incidents.items() if key != slug}
    path = Path(__file__).parent / "traces" / f"{slug}.txt"
    alone = diagnose(path.read_bytes(), slug, casebase=casebase._replace(incidents=others))
    assert casebase.incidents[slug].cause in [cause.id for cause in alone.causes]
