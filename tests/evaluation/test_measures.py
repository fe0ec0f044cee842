"""One answer against one label."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.evaluation.labels import Label, Place
from diagnose.evaluation.measures import MEASURES, Score, score
from diagnose.model import Diagnosis, Failure, Fix, Frame, Mismatch, RankedCause, Report

REPORT = Report(
    "-",
    Failure("torch.cuda.OddError", "boom", "device-placement"),
    Mismatch(("cuda:0", "cpu"), "wrapper_CUDA_addmm", "mat1", "x"),
    (
        Frame("/home/a/train.py", 40, "main"),
        Frame("/opt/lib/torch/nn/linear.py", 114, "Linear.forward(self, input)", library="torch"),
    ),
    ("peft", "torch"),
)


def cause(name: str, *fixes: str) -> RankedCause:
    return RankedCause(name, "", "", 0.5, (), (), tuple(Fix(fix, "") for fix in fixes), "")


ANSWER = Diagnosis(
    REPORT,
    "diagnosed",
    REPORT.frames[0],
    (
        cause("index-device", "other", "move-input", "index-to-device", "move-module"),
        cause("meta-tensor"),
        cause("rank-device"),
        cause("zero-offload"),
    ),
)


def values(label: Label, answer: Diagnosis | None = ANSWER) -> dict[str, float]:
    return {score.measure: score.value for score in score_all(label, answer)}


def score_all(label: Label, answer: Diagnosis | None = ANSWER) -> list[Score]:
    found = list(score(label, answer))
    assert all(one.measure in MEASURES for one in found)
    return found


@pytest.mark.parametrize(
    ("accepted", "first", "strict", "three", "mrr"),
    [
        (("index-device",), 1, 1, 1, 1),
        (("zero-offload", "index-device"), 1, 0, 1, 1),
        (("meta-tensor", "rank-device"), 0, 0, 1, 1 / 2),
        (("rank-device",), 0, 0, 1, 1 / 3),
        (("zero-offload",), 0, 0, 0, 0),
    ],
)
def test_causes(accepted: tuple[str, ...], first: int, strict: int, three: int, mrr: float) -> None:
    found = values(Label(accepted=accepted))
    assert found == {
        "answered": 1, "top-1": first, "top-1-strict": strict, "top-3": three, "mrr": mrr,
        "diagnosed": 1, "top-1-diagnosed": first,
    }  # fmt: skip


def test_an_unsure_answer_still_has_a_first_cause() -> None:
    found = values(Label(accepted=("index-device",)), ANSWER._replace(verdict="unknown"))
    assert (found["top-1"], found["diagnosed"]) == (1, 0)
    assert "top-1-diagnosed" not in found


@pytest.mark.parametrize(("certainty", "scored"), [("confirmed", 1), ("proposed", 1), ("inferred", 0), (None, 0)])  # fmt: skip
def test_certain_labels_are_counted_apart(certainty: str | None, scored: int) -> None:
    found = values(Label(accepted=("index-device",), certainty=certainty))
    assert ("top-1-certain" in found) == bool(scored)


def test_only_the_first_three_fixes_of_the_first_cause_count() -> None:
    assert values(Label(accepted=("meta-tensor",), fixes=("index-to-device",)))["fix"] == 1
    assert values(Label(accepted=("index-device",), fixes=("move-module",)))["fix"] == 0


def test_another_failure_must_get_no_cause() -> None:
    negative = Label(accepted=("not-device",), op="addmm", libraries=("x",))
    assert values(negative) == {"answered": 1, "negatives-rejected": 0}
    assert values(negative, ANSWER._replace(causes=())) == {"answered": 1, "negatives-rejected": 1}


def test_a_device_failure_without_a_cause_is_a_miss() -> None:
    found = values(Label(accepted=("index-device",)), ANSWER._replace(causes=()))
    assert (found["top-1"], found["top-3"], found["mrr"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("label", "measure", "value"),
    [
        (Label(family="device-placement"), "family", 1),
        (Label(family="network"), "family", 0),
        (Label(exception="OddError"), "exception", 1),
        (Label(exception="other.module.OddError"), "exception", 1),
        (Label(exception="cuda"), "exception", 0),
        (Label(devices=("CUDA:0", "cpu")), "devices", 1),
        (Label(devices=("cpu", "cuda:0")), "devices", 0),
        (Label(op="wrapper_CUDA_addmm"), "op", 1),
        (Label(op="addmm"), "op", 0),
        (Label(argument="mat1"), "argument", 1),
        (Label(argument="mat2"), "argument", 0),
        (Label(libraries=("torch", "peft")), "libraries-f1", 1),
        (Label(libraries=("torch", "accelerate")), "libraries-f1", 1 / 2),
        (Label(libraries=("torch",)), "libraries-f1", 2 / 3),
        (Label(innermost=Place("nn/linear.py", 114, "forward")), "innermost-frame", 1),
        (Label(innermost=Place("C:\\env\\torch\\nn\\linear.py")), "innermost-frame", 0),
        (Label(innermost=Place("torch\\nn\\linear.py")), "innermost-frame", 1),
        (Label(innermost=Place("near.py", 114)), "innermost-frame", 0),
        (Label(innermost=Place("linear.py", 115)), "innermost-frame", 0),
        (Label(innermost=Place("linear.py", 114, "backward")), "innermost-frame", 0),
        (Label(frames=(Place("linear.py", 114),)), "all-frames", 1),
        (Label(frames=(Place("train.py", 40), Place("linear.py"))), "all-frames", 1),
        (Label(frames=(Place(), Place("train.py", 40), Place("linear.py"))), "all-frames", 0),
        (Label(frames=(Place("train.py", 41), Place("linear.py"))), "all-frames", 0),
        (Label(culprit=Place("train.py", 40)), "culprit", 1),
        (Label(culprit=Place("train.py", 41)), "culprit", 0),
    ],
)
def test_readings(label: Label, measure: str, value: float) -> None:
    assert values(label) == {"answered": 1, measure: pytest.approx(value)}


FULL = {
    "fixes": ("other",), "family": "other", "exception": "E", "devices": ("cpu",), "op": "o", "argument": "a",
    "innermost": Place("a.py"), "frames": (Place("a.py"),), "libraries": ("l",), "culprit": Place("a.py", 1),
}  # fmt: skip


@pytest.mark.parametrize("accepted", [("index-device",), ("not-device",)])
def test_no_answer_is_wrong_throughout(accepted: tuple[str, ...]) -> None:
    full: dict[str, Any] = FULL
    found = score_all(Label(accepted=accepted, **full), None)
    assert {one.value for one in found} == {0}
    assert len(found) >= 8


def test_a_miss_says_what_was_wanted_and_got() -> None:
    (_, miss) = score_all(Label(innermost=Place("a.py", 3, "f")))
    assert (miss.wanted, miss.got) == (
        "a.py:3 f",
        "/opt/lib/torch/nn/linear.py:114 Linear.forward(self, input)",
    )
