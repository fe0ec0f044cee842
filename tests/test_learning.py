"""training/learn.py: what labelled reports teach, and what they may not change."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from traces import record_causes

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.compiling.weights import corrections_of, weighed

pytest.importorskip("torch")
ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "training" / "learn.py"


def of_kb(name: str) -> dict[str, Any]:
    return loads((ROOT / "kb" / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("learn", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_reports_correct_a_belief_and_only_that(script: ModuleType, casebase: Casebase) -> None:
    """A fact that is believed to speak for a cause, and stands in many reports of another."""
    beliefs = {"input-not-moved": {"training": 1.0}, "index-device": {"training": 0.2}}
    seen = frozenset({"training"})
    none = frozenset[int]()
    reports = [script.Example(seen, none, ("index-device",), f"team/{n}") for n in range(12)]
    learned = script.learn(reports, beliefs, casebase).facts
    assert {cause: set(table) for cause, table in learned.items() if table} == {
        cause: set(table) for cause, table in beliefs.items()
    }
    assert learned["input-not-moved"]["training"] < 1.0
    assert learned["index-device"]["training"] > 0.2
    assert script.learn(reports, beliefs, casebase).facts == learned


def test_words_tell_what_they_stood_beside(script: ModuleType, casebase: Casebase) -> None:
    """A row that stands beside one cause speaks for it and against the others; a rare one for nothing."""
    index, made, rare = 7, 11, 13
    reports = [
        script.Example(frozenset(), frozenset({word, *extra}), (cause,), f"{cause}/{n}")
        for word, cause in ((index, "index-device"), (made, "created-without-device"))
        for n, extra in enumerate([(), (), (), (rare,)])
    ]
    table = script.learn(reports, {}, casebase).words
    width = len(table.columns)
    of = {
        row: dict(zip(table.columns, table.weights[row * width : (row + 1) * width], strict=True))
        for row in (index, made, rare)
    }
    assert 0 < of[index]["index-device"] < 128 <= of[index]["created-without-device"]
    assert 0 < of[made]["created-without-device"] < 128 <= of[made]["index-device"]
    assert not any(of[rare].values())


def test_what_is_written_down_reads_as_the_failure_that_it_tells(
    script: ModuleType, casebase: Casebase, tmp_path: Path
) -> None:
    told = {
        "cause": "created-without-device",
        "also": ["input-not-moved"],
        "message": "Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:0 and cpu!",
        "frames": [["train.py", "<module>", "main()"], ["losses.py", "nt_xent", "return a * mask"]],
        "log": ["epoch 1"],
    }
    file = tmp_path / "some.jsonl"
    file.write_text(json.dumps(told) + "\n", encoding="utf-8")
    [example] = script.of_written(file, casebase)
    assert example.causes == ("created-without-device", "input-not-moved")
    assert "mask-operand" in example.facts
    assert example.words
    file.write_text(json.dumps(told | {"cause": "bad-luck"}) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"some.jsonl:1: no such cause: bad-luck"):
        list(script.of_written(file, casebase))


def test_a_row_is_what_was_read_off_a_report(script: ModuleType, tmp_path: Path) -> None:
    example = script.Example(frozenset({"deep"}), frozenset({3, 9}), ("index-device",), "a/b")
    file = tmp_path / "rows.jsonl"
    file.write_text(script.as_row(example) + "\n", encoding="utf-8")
    assert list(script.of_rows(file)) == [example]


def test_all_that_is_kept_names_causes_that_exist(casebase: Casebase) -> None:
    kept = [
        *(ROOT / "training").glob("written/*.jsonl"),
        *(ROOT / "training").glob("public/*.jsonl"),
    ]
    assert kept
    for file in kept:
        for line in file.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            named = told.get("causes") or [told["cause"], *told.get("also", ())]
            assert set(named) <= set(casebase.causes), (file.name, named)


def test_what_reports_do_not_show_stays_as_believed(script: ModuleType, casebase: Casebase) -> None:
    beliefs = of_kb("beliefs.toml")
    nothing = script.Example(frozenset(), frozenset(), ("index-device",), "team/x")
    learned = script.learn([nothing], beliefs, casebase).facts
    assert {cause: table for cause, table in learned.items() if table} == beliefs


def test_corrections_name_only_what_is_believed() -> None:
    beliefs, corrections = of_kb("beliefs.toml"), of_kb("corrections.toml")
    strange = {
        (cause, fact)
        for cause, table in corrections.items()
        for fact in table
        if fact not in beliefs.get(cause, {})
    }
    assert not strange


def test_a_weight_is_the_belief_and_what_was_learned_about_it(casebase: Casebase) -> None:
    beliefs, corrections = of_kb("beliefs.toml"), of_kb("corrections.toml")
    assert corrections
    for cause in casebase.causes.values():
        assert dict(cause.weights) == {
            fact: round(belief + corrections.get(cause.id, {}).get(fact, 0), 2)
            for fact, belief in beliefs.get(cause.id, {}).items()
        }


def test_a_belief_works_the_moment_it_is_written() -> None:
    """No correction knows it yet, and those of others stay."""
    weights = weighed({"a": {"old": 1.0, "new": 2.0}}, {"a": {"old": 0.5}})
    assert weights == {"a": {"new": 2.0, "old": 1.5}}


def test_what_is_written_is_what_was_learned() -> None:
    beliefs = of_kb("beliefs.toml")
    learned = weighed(beliefs, of_kb("corrections.toml"))
    assert weighed(beliefs, corrections_of(beliefs, learned)) == learned
    assert corrections_of(beliefs, beliefs) == {}


def test_the_command_validates_on_reports_of_ones_own(tmp_path: Path) -> None:
    for recording in record_causes.recordings()[:6]:
        report = tmp_path / f"{recording.name}.txt"
        report.write_bytes(recording.path.read_bytes())
        label = {"cause": recording.cause, "repo": f"team/{recording.program}"}
        report.with_suffix(".json").write_text(json.dumps(label), encoding="utf-8")
    before = (ROOT / "kb" / "corrections.toml").read_bytes()
    plot = tmp_path / "calibration.svg"
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, "--only", "--folds", "3", "--plot", plot],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "6 labelled reports" in done.stdout
    assert "leave one repository out" in done.stdout
    assert plot.read_text(encoding="utf-8").startswith("<svg")
    assert (ROOT / "kb" / "corrections.toml").read_bytes() == before
