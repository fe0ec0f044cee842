"""Ranking: weights add up, incidents pull, confidences are probabilities."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase
from diagnose.facts import AGAIN
from diagnose.model import Cause, Fact, Failure, Frame, Incident, IncidentMatch, Report, Source
from diagnose.ranking.causes import (
    ALIKE,
    CALIBRATION,
    TEMPERATURE,
    calibrated,
    calibration,
    likely,
    rank,
    softmax,
)
from diagnose.ranking.neighbours import nearest


def cause(name: str, prior: float, **weights: float) -> Cause:
    facts = {key.replace("_", "-"): value for key, value in weights.items()}
    return Cause(name, name, "", "", (), prior, facts, "", (), 1)


def incident(name: str, of: str, frames: tuple[str, ...] = (), message: str = "m") -> Incident:
    return Incident(
        name, name, of, "", "", "", "https://x", (Source("https://x", ""),), ("peft",),
        "RuntimeError", message, (), None, None, frames, (),
    )  # fmt: skip


CAUSES = {c.id: c for c in (cause("a", 0.5, seen=2.0), cause("b", 0.5, seen=-1.0, other=0.1))}


def test_without_facts_the_priors_decide() -> None:
    ranked = rank({}, (), {"a": cause("a", 0.2), "b": cause("b", 0.6)})
    a, b = (round(p ** (1 / TEMPERATURE), 9) for p in (0.2, 0.6))
    shares = calibrated({"a": a / (a + b), "b": b / (a + b)}, CALIBRATION.other)
    assert [(s.cause.id, s.confidence) for s in ranked] == [
        ("b", pytest.approx(shares["b"])),
        ("a", pytest.approx(shares["a"])),
    ]


def test_facts_move_the_odds_by_their_weights() -> None:
    ranked = rank({"seen": Fact("seen", 3)}, (), CAUSES)
    odds = ranked[0].confidence / ranked[1].confidence
    assert ranked[0].cause.id == "a"
    intercept, slope = CALIBRATION.other
    assert math.log(odds) == pytest.approx(intercept + slope * 3.0 / TEMPERATURE)


@pytest.mark.parametrize("first", ["a", "input-not-moved"])
def test_the_same_facts_are_surer_without_carets_and_less_sure_in_words(first: str) -> None:
    facts = {"seen": Fact("seen", 3)}
    causes = {first: cause(first, 0.5, seen=2.0), "b": CAUSES["b"]}
    words, underlined, bare = (
        rank(facts, (), causes, maps=calibration(described=described, alone=False, carets=carets))
        for described, carets in ((True, False), (False, True), (False, False))
    )
    assert {ranked[0].cause.id for ranked in (words, underlined, bare)} == {first}
    assert words[0].confidence < underlined[0].confidence <= bare[0].confidence


def test_a_cause_that_others_can_stand_in_for_is_less_sure(casebase: Casebase) -> None:
    """Whichever of them is first; and all the same it stays first."""
    facts = {"seen": Fact("seen", 3)}
    assert set(casebase.causes) >= ALIKE

    def confidence(name: str) -> float:
        ranked = rank(facts, (), {name: cause(name, 0.5, seen=2.0), "b": CAUSES["b"]})
        assert ranked[0].cause.id == name
        return ranked[0].confidence

    assert {confidence(name) for name in ALIKE} == {confidence("input-not-moved")}
    assert confidence("input-not-moved") < confidence("host-copy-needed")


def test_the_terms_of_a_score_are_what_ranks() -> None:
    facts = {"seen": Fact("seen", 3), "other": Fact("other", 4)}
    ranked = rank(facts, (IncidentMatch("i", "i", "", 0.9, "b"),), CAUSES)
    terms = {one.cause.id: [(t.kind, t.id, round(t.value, 9)) for t in one.terms] for one in ranked}
    prior = round(math.log(0.5), 9)
    assert terms["a"] == [("prior", "a", prior), ("fact", "seen", 2.0)]
    assert terms["b"] == [
        ("prior", "b", prior), ("fact", "seen", -1.0), ("fact", "other", 0.1), ("incident", "i", 1.0)
    ]  # fmt: skip
    shares = calibrated(
        softmax({one.cause.id: one.score for one in ranked}, TEMPERATURE), CALIBRATION.other
    )
    assert {one.cause.id: one.confidence for one in ranked} == shares
    for one in ranked:
        assert one.score == pytest.approx(sum(term.value for term in one.terms))


def test_support_holds_what_speaks_for_a_cause_and_nothing_else() -> None:
    ranked = rank({"seen": Fact("seen", 3), "other": Fact("other", 4)}, (), CAUSES)
    support = {s.cause.id: [f.id for f in s.support] for s in ranked}
    assert support == {"a": ["seen"], "b": []}


def test_a_near_incident_pulls_its_cause_up() -> None:
    far = rank({}, (IncidentMatch("i", "i", "", 0.4, "b"),), CAUSES)
    near = rank({}, (IncidentMatch("i", "i", "", 0.95, "b"),), CAUSES)
    assert [s.cause.id for s in far] == ["a", "b"]
    assert near[0].cause.id == "b"
    assert near[0].confidence > 0.9
    assert [m.id for m in near[0].incidents] == ["i"]


@given(
    st.dictionaries(st.text(max_size=3), st.floats(-20, 20), min_size=1, max_size=27).map(
        lambda scores: softmax(scores, 1.0)
    )
)
def test_calibrated_shares_keep_their_order_and_add_up(shares: dict[str, float]) -> None:
    mapped = calibrated(shares, CALIBRATION.alike)
    assert sum(mapped.values()) == pytest.approx(1.0)
    best = max(shares, key=lambda key: shares[key])
    assert all(mapped[best] >= value for value in mapped.values())
    others = sorted((key for key in shares if key != best), key=lambda key: shares[key])
    assert all(mapped[a] <= mapped[b] for a, b in pairwise(others))


def test_the_incidents_of_likely_causes_come_first() -> None:
    ranked = rank({"seen": Fact("seen", 3)}, (), CAUSES)
    of_a, of_b = IncidentMatch("x", "x", "", 0.5, "a"), IncidentMatch("y", "y", "", 0.6, "b")
    assert likely((of_b, of_a), ranked) == (of_a, of_b)


def test_softmax_survives_large_scores() -> None:
    assert softmax({"a": 10_000.0, "b": 0.0}, 1.0) == {"a": 1.0, "b": 0.0}


def test_the_incident_with_the_same_frames_is_nearest() -> None:
    known = {
        "same": incident("same", "a", ("x/compute_z.py:108 edit_output_fn",)),
        "else": incident("else", "b", ("y/train.py:3 main",)),
    }
    report = Report(
        "-",
        Failure("RuntimeError", "m"),
        frames=(Frame("lib/x/compute_z.py", 99, "edit_output_fn"),),
        libraries=("peft",),
    )
    found = nearest(report, known)
    assert [m.id for m in found] == ["same", "else"]
    assert found[0].similarity == pytest.approx(1.0)


def test_machinery_makes_no_two_reports_alike() -> None:
    hook = "site-packages/accelerate/hooks.py:165 new_forward"
    known = {"i": incident("i", "a", (hook,), message="other words")}
    report = Report(
        "-",
        Failure("RuntimeError", "quite something else"),
        frames=(Frame("site-packages/accelerate/hooks.py", 165, "new_forward"),),
    )
    assert nearest(report, known)[0].similarity < 0.3


def test_the_same_frames_in_a_replica_are_not_the_same_failure_again() -> None:
    inner = [f"site-packages/adapters/deep.py:{n} level_{n}" for n in range(14)]
    worker = "site-packages/torch/nn/parallel/parallel_apply.py:114 _worker"
    known = {"i": incident("i", "a", (worker, *inner), message="m")}
    frames = tuple(Frame("lib/site-packages/adapters/deep.py", n, f"level_{n}") for n in range(14))
    alone = Report("-", Failure("RuntimeError", "m"), frames=frames, libraries=("peft",))
    replicated = alone._replace(
        frames=(Frame("lib/torch/nn/parallel/parallel_apply.py", 114, "_worker"), *frames)
    )
    assert nearest(replicated, known)[0].similarity >= AGAIN
    assert nearest(alone, known)[0].similarity < AGAIN


def test_no_error_and_no_incidents_have_no_neighbours(casebase: Casebase) -> None:
    assert nearest(Report("-"), casebase.incidents) == ()
    assert nearest(Report("-", Failure("E", "m")), {}) == ()
