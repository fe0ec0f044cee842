"""What the incidents' programs printed is known again, by what they did and not by their names alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.authoring.proof import neutral
from diagnose.casebase.store import Casebase, load
from diagnose.compiling.build import build
from diagnose.facts import AGAIN
from diagnose.model import DEVICE_FAMILY
from diagnose.pipeline import diagnose

CASES = Path(__file__).parents[2] / "kb" / "cases"
TRACES = sorted(CASES.glob("*/trace.txt"))


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.parent.name)
def test_the_same_failure_is_known_again(trace: Path, casebase: Casebase) -> None:
    facts = loads(trace.with_name("case.toml").read_text(encoding="utf-8"))
    answer = diagnose(trace.read_bytes(), casebase=casebase)
    assert answer.report.error is not None
    if facts.get("family", DEVICE_FAMILY) != DEVICE_FAMILY:
        assert answer.report.error.family == facts["family"]
        return
    assert answer.causes[0].id == facts["cause"]
    assert trace.parent.name in [match.id for match in answer.causes[0].incidents]
    assert answer.causes[0].incidents[0].similarity >= AGAIN
    known = casebase.knowledge.facts["same-as-documented"].text.format(
        title=answer.causes[0].incidents[0].title
    )
    assert answer.causes[0].evidence[0].text == known


def test_nearly_every_incident_has_its_traceback() -> None:
    assert len(TRACES) > 140


def test_a_traceback_is_not_known_by_its_frames_without_its_folder(casebase: Casebase) -> None:
    """Somebody else's reproduce.py is not taken for ours."""
    trace = CASES / "llms-from-scratch-out-head" / "trace.txt"
    text = trace.read_text(encoding="utf-8").replace("llms-from-scratch-out-head", "work")
    for match in diagnose(text, casebase=casebase).causes[0].incidents:
        assert match.similarity < AGAIN


def test_an_incident_without_a_traceback_still_builds(few: Path, tmp_path: Path) -> None:
    shutil.copytree(few, tmp_path / "kb")
    trace = sorted((tmp_path / "kb").glob("cases/*/trace.txt"))[0]
    text = trace.read_bytes()
    trace.unlink()
    build(tmp_path / "kb", tmp_path / "without.sqlite")
    without = diagnose(text, casebase=load(tmp_path / "without.sqlite"))
    assert all(match.similarity < AGAIN for match in without.nearest)


def test_a_recorded_traceback_names_nobody() -> None:
    for trace in TRACES:
        text = trace.read_text(encoding="utf-8")
        assert str(Path.home()) + "/" not in text or str(Path.home()) == "/"
        assert str(CASES) not in text
        assert neutral(text, trace.parent) == text


def test_left_out_the_answers_come_from_what_the_traces_show(casebase: Casebase) -> None:
    """Neither from the incident nor from its name, which is that of the folder of its program."""
    first = device = 0
    for trace in TRACES:
        facts = loads(trace.with_name("case.toml").read_text(encoding="utf-8"))
        if facts.get("family", DEVICE_FAMILY) == DEVICE_FAMILY:
            text = trace.read_text(encoding="utf-8").replace(trace.parent.name, "project")
            answer = diagnose(text, casebase=casebase._replace(incidents={}))
            first += answer.causes[0].id == facts["cause"]
            device += 1
    assert first >= 0.65 * device
