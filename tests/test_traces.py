"""Recorded traces of programs with one mistake each (tests/traces): every cause is found from what its trace
shows, and is not seen in the trace of the cause that is most easily taken for it.

The traces of documented incidents are among them; these are ranked with their own incident left out.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from traces import record, record_causes

from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose

HERE = Path(__file__).parent / "traces"
RECORDINGS = record_causes.recordings()


@dataclass(frozen=True)
class Trace:
    """A recorded trace and what is wrong with the program that printed it."""

    path: Path
    cause: str
    incident: str | None = None


@cache
def traces() -> dict[str, Trace]:
    own = {one.name: Trace(one.path, one.cause) for one in RECORDINGS}
    incidents = {
        slug: Trace(HERE / f"{slug}.txt", record.case(slug)["cause"], slug)
        for slug in record.recorded()
    }
    return {**own, **incidents}


NEIGHBOURS = sorted({(one.cause, one.neighbour) for one in RECORDINGS})


@pytest.fixture(scope="module")
def answers(casebase: Casebase) -> dict[str, Diagnosis]:
    """What is said of each trace."""
    found = {}
    for name, trace in traces().items():
        others = {key: one for key, one in casebase.incidents.items() if key != trace.incident}
        known = casebase._replace(incidents=others)
        found[name] = diagnose(trace.path.read_bytes(), trace.path.name, casebase=known)
    return found


def first(answer: Diagnosis) -> str | None:
    return answer.causes[0].id if answer.causes else None


def test_every_cause_has_a_trace_and_a_neighbour(casebase: Casebase) -> None:
    assert {one.cause for one in RECORDINGS} == set(casebase.causes)
    assert {one.neighbour for one in RECORDINGS} <= set(casebase.causes)
    assert all(one.neighbour != one.cause for one in RECORDINGS)


@pytest.mark.parametrize("name", traces())
def test_the_cause_is_first(name: str, answers: dict[str, Diagnosis]) -> None:
    answer = answers[name]
    ranked = [(cause.id, cause.confidence) for cause in answer.causes]
    assert first(answer) == traces()[name].cause, ranked
    assert answer.verdict == "diagnosed"


@pytest.mark.parametrize(("cause", "neighbour"), NEIGHBOURS)
def test_the_cause_is_not_seen_in_its_neighbour(
    cause: str, neighbour: str, answers: dict[str, Diagnosis]
) -> None:
    others = [name for name, trace in traces().items() if trace.cause == neighbour]
    assert others
    assert [name for name in others if first(answers[name]) == cause] == []


def test_the_table_and_the_folders_agree() -> None:
    names = [one.name for one in RECORDINGS]
    assert len(names) == len(set(names))
    assert sorted(one.path for one in RECORDINGS) == sorted((HERE / "causes").glob("*"))
    programs = {path.name for path in (HERE / "programs").iterdir()}
    assert {one.program for one in RECORDINGS} == programs


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)
def test_a_trace_is_small_and_tells_nothing_of_the_machine(
    recording: record_causes.Recording,
) -> None:
    text = recording.path.read_text(encoding="utf-8")
    assert len(text) < 12_000
    assert recording.root in text
    for known in (
        str(record.ROOT),
        tempfile.gettempdir() + "/",
        "diagnose/",
        "site-packages/diagnose",
    ):
        assert known not in text


@pytest.mark.parametrize(
    "name", ["tablature-positions", "patent-fsdp-offload", "buoy-detector-pytest"]
)
def test_a_trace_is_what_its_program_prints_now(name: str, casebase: Casebase) -> None:
    """A plain one, one of a rank, one of pytest; lines of libraries may move, values of tensors differ."""
    pytest.importorskip("torch")
    (recording,) = (one for one in RECORDINGS if one.name == name)

    def essence(data: str) -> tuple[str, list[tuple[str, int | None, str | None, str | None]]]:
        report = diagnose(data, casebase=casebase).report
        assert report.error is not None
        own = [(f.file, f.line, f.function, f.code) for f in report.frames if f.own]
        return report.error.message, own

    now = record_causes.record(recording)
    assert essence(now) == essence(recording.path.read_text(encoding="utf-8"))
