"""Figures of a run, runs saved and read again, and runs compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.samples import BEFORE, MADE, RUN, outcome

from diagnose.evaluation.comparison import compare
from diagnose.evaluation.document import RunError, as_dict, read, render
from diagnose.evaluation.runs import Outcome
from diagnose.evaluation.summary import summarize

SUMMARY = summarize(RUN)


def test_what_the_reports_are() -> None:
    assert (SUMMARY.reports, SUMMARY.device, SUMMARY.negative) == (9, 6, 2)


def test_figures_average_over_the_reports_that_have_them() -> None:
    figures = {f.measure: (round(f.value, 4), f.n) for f in SUMMARY.figures}
    assert figures == {
        "answered": (1, 9), "top-1": (0.3333, 6), "top-1-strict": (0.1667, 6), "fix": (0.5, 2),
        "negatives-rejected": (0.5, 2), "libraries-f1": (0.5, 1),
        # Bins 0.5, 0.6 and 0.9 of five answers: (0.55 + 0.62 + |0.97 + 0.91 + 1 - 2|) / 5
        "calibration-error": (0.41, 5),
    }  # fmt: skip


def test_recall_is_by_label_and_precision_by_answer() -> None:
    rows = {c.cause: (c.labelled, c.found, c.answered, c.right) for c in SUMMARY.causes}
    assert rows == {
        "input-not-moved": (3, 1, 1, 1),
        "not-device": (2, 1, 2, 1),
        "rank-device": (1, 0, 0, 0),
        "submodule-added-after-move": (1, 0, 0, 0),
        "unregistered-tensor": (1, 1, 0, 0),
        "created-without-device": (0, 0, 3, 1),
        "module-not-moved": (0, 0, 1, 0),
        "offloaded-to-cpu": (0, 0, 1, 0),
    }
    assert next(iter(rows)) == "input-not-moved"


def test_confusions_name_their_reports_the_largest_first() -> None:
    first, *_, last = SUMMARY.confusions
    assert (first.label, first.answer) == ("input-not-moved", "created-without-device")
    assert first.reports == ("mine/labels", "mine/mask")
    assert last.accepted
    assert last.reports == ("mine/table",)
    assert SUMMARY.matrix["unregistered-tensor", "unregistered-tensor"] == 1
    assert sum(SUMMARY.matrix.values()) == 8


def test_an_internal_error_is_no_answer() -> None:
    failed = outcome(
        "a", "rank-device", values={"top-1": 0, "answered": 0}, problem="KeyError: 'x'"
    )
    summary = summarize([failed])
    assert summary.confusions == ()
    assert [(c.cause, c.labelled, c.answered) for c in summary.causes] == [("rank-device", 1, 0)]
    assert not failed.right
    assert not replace(failed, accepted=("not-device",)).right


def saved(path: Path, outcomes: tuple[Outcome, ...]) -> Path:
    path.write_text(render(as_dict(MADE, summarize(outcomes), outcomes)))
    return path


def test_a_saved_run_reads_back_as_it_was(tmp_path: Path) -> None:
    made, outcomes = read(saved(tmp_path / "run.json", RUN))
    assert made == MADE
    assert tuple(outcomes) == RUN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is no JSON"),
        ("[1]", "is no saved run; make one with diagnose kb evaluate --output FILE"),
        (
            '{"cause": "meta-tensor"}',
            "is no saved run; make one with diagnose kb evaluate --output FILE",
        ),
        ('{"evaluation": 9}', "is a run of schema 9; this diagnose reads schema 1"),
        ('{"evaluation": 1}', "is a damaged run: KeyError"),
        ('{"evaluation": 1, "version": "1", "casebase": "x", "reports": [3]}', "is a damaged run"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "run.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(RunError, match=r"run\.json") as caught:
        read(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), -1, 1e300, "0.5"])
def test_a_confidence_that_is_none_is_refused(tmp_path: Path, value: object) -> None:
    path = saved(tmp_path / "run.json", RUN)
    content = json.loads(path.read_text())
    content["reports"][0]["causes"][0]["confidence"] = value
    path.write_text(json.dumps(content))
    with pytest.raises(RunError, match="damaged"):
        read(path)


def test_a_run_against_itself_changes_nothing() -> None:
    same = compare(MADE, RUN, RUN)
    assert same.compared == len(RUN)
    assert same.worse == same.better == same.added == same.removed == same.altered == ()
    for figure in same.figures:
        assert figure.before == figure.after
        assert (figure.better, figure.worse) == (0, 0)
    assert {f.measure: f.after for f in same.figures} == {
        f.measure: f.value for f in SUMMARY.figures
    }


def test_only_equal_reports_are_compared() -> None:
    changed = compare(MADE, BEFORE, RUN)
    assert changed.compared == 6
    assert changed.altered == ("mine/head",)
    assert changed.added == ("mine/oom", "mine/untitled")
    assert changed.removed == ("mine/gone",)
    assert [(c.name, c.measures) for c in changed.better] == [("mine/table", ("top-1",))]
    assert [(c.name, c.measures) for c in changed.worse] == [
        ("mine/labels", ("top-1", "top-1-strict")),
        ("mine/rank", ("libraries-f1",)),
    ]
    top = next(f for f in changed.figures if f.measure == "top-1")
    assert (top.before, top.after, top.n) == (0.4, 0.4, 5)
    assert (top.better, top.worse, top.chance) == (1, 1, 1.0)
    error = next(f for f in changed.figures if f.measure == "calibration-error")
    # Before, bin 0.5 holds 0.5 right, 0.55 wrong and 0.5 wrong, bin 0.9 holds 0.9 right.
    assert error.before == pytest.approx((0.55 + 0.1) / 4)
    assert error.chance is None
