"""scripts/learn_weights.py: what labelled reports teach, and what they may not change."""

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

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "learn_weights.py"


def of_kb(name: str) -> dict[str, Any]:
    return loads((ROOT / "kb" / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("learn_weights", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def double() -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def test_reports_correct_a_belief_and_only_that(
    script: ModuleType, casebase: Casebase, double: None
) -> None:
    """A fact that is believed to speak for a cause, and stands in many reports of another."""
    beliefs = {"input-not-moved": {"training": 1.0}, "index-device": {"training": 0.2}}
    seen = frozenset({"training"})
    reports = [script.Example(seen, ("index-device",), f"team/{n}", False) for n in range(12)]
    learned = script.learn(reports, beliefs, casebase)
    assert {cause: set(table) for cause, table in learned.items() if table} == {
        cause: set(table) for cause, table in beliefs.items()
    }
    assert learned["input-not-moved"]["training"] < 1.0
    assert learned["index-device"]["training"] > 0.2
    assert script.learn(reports, beliefs, casebase) == learned


def test_what_reports_do_not_show_stays_as_believed(
    script: ModuleType, casebase: Casebase, double: None
) -> None:
    beliefs = of_kb("beliefs.toml")
    nothing = script.Example(frozenset(), ("index-device",), "team/x", False)
    learned = script.learn([nothing], beliefs, casebase)
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
        [sys.executable, SCRIPT, tmp_path, "--plot", plot],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "6 labelled reports" in done.stdout
    assert "leave one repository out" in done.stdout
    assert plot.read_text(encoding="utf-8").startswith("<svg")
    assert (ROOT / "kb" / "corrections.toml").read_bytes() == before
