"""A first cause that files show leaves room for what the traceback alone would say: files may be misread."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose
from diagnose.placement import Suspect
from diagnose.ranking.causes import Scored
from diagnose.ranking.doubt import doubted
from diagnose.rendering.brief import brief
from diagnose.scene import Scene
from diagnose.sources import Folder, Sources

TRACES = Path(__file__).parent / "traces"
RECORDINGS = {one["name"]: one for one in loads((TRACES / "recordings.toml").read_text())["trace"]}
#: Recordings whose files tell the cause, and the cause that a misreading shall say.
MISREAD = {
    "flower-cnn-plain": "checkpoint-location",
    "distill-asr-teacher": "generator-device",
    "tablature-positions": "optimizer-state",
    "sensor-vae-noise": "meta-tensor",
    "buoy-detector-pytest": "generator-device",
}


def _answer(name: str, casebase: Casebase, *, read: bool) -> Diagnosis:
    folder = TRACES / "programs" / RECORDINGS[name]["program"]
    sources = Sources((Folder(str(folder)),), read=None) if read else None
    log = (TRACES / "causes" / f"{name}.txt").read_bytes()
    return diagnose(log, name, casebase=casebase, sources=sources)


@pytest.fixture(params=MISREAD)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _misread(monkeypatch: pytest.MonkeyPatch, cause: str) -> None:
    def wrong(self: Scene) -> tuple[Suspect, ...]:
        return tuple(one._replace(cause=cause) for one in told(self))

    told = Scene.suspects.func
    patched = cached_property(wrong)
    patched.__set_name__(Scene, "suspects")
    monkeypatch.setattr(Scene, "suspects", patched)


def test_a_misread_program_leaves_the_causes_of_the_traceback(
    name: str, casebase: Casebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = _answer(name, casebase, read=False).causes[0].id
    _misread(monkeypatch, MISREAD[name])
    causes = [cause.id for cause in _answer(name, casebase, read=True).causes]
    assert causes[0] == MISREAD[name] != right
    assert right in causes[:3]


def test_what_else_it_may_be_is_listed_beside_a_cause_that_files_show(
    name: str, casebase: Casebase
) -> None:
    answer = _answer(name, casebase, read=True)
    first, *others = answer.causes
    assert first.confidence > 0.9
    assert len(others) == 2
    assert all(0 < other.confidence < 0.1 for other in others)
    assert others[0].confidence >= others[1].confidence
    shown = brief(answer)
    assert shown is not None
    assert len(shown.others) == sum(other.confidence >= 0.08 for other in others)


def _scored(casebase: Casebase, **shares: float) -> list[Scored]:
    return [
        Scored(casebase.causes[name.replace("_", "-")], share, (), ())
        for name, share in shares.items()
    ]


def test_the_first_cause_and_its_confidence_stay(casebase: Casebase) -> None:
    ranked = _scored(casebase, input_not_moved=0.97, rank_device=0.02, meta_tensor=0.01)
    alone = _scored(casebase, meta_tensor=0.9, input_not_moved=0.06, rank_device=0.04)
    made = doubted(ranked, alone)
    assert [(one.cause.id, round(one.confidence, 4)) for one in made] == [
        ("input-not-moved", 0.97),
        ("meta-tensor", 0.0194),
        ("rank-device", 0.0106),
    ]
    assert doubted((), alone) == ()
