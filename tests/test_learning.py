"""scripts/learn_weights.py: what labelled reports teach, and what they may not change."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from traces import record_causes

from diagnose._toml import loads
from diagnose.casebase.store import Casebase

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "learn_weights.py"


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
    beliefs = loads((ROOT / "kb" / "beliefs.toml").read_text(encoding="utf-8"))
    nothing = script.Example(frozenset(), ("index-device",), "team/x", False)
    learned = script.learn([nothing], beliefs, casebase)
    assert {cause: table for cause, table in learned.items() if table} == beliefs


def test_the_weights_are_those_that_the_beliefs_name() -> None:
    """An edit of the beliefs that was not followed by learning is found here."""
    tables = [
        loads((ROOT / "kb" / name).read_text(encoding="utf-8"))
        for name in ("beliefs.toml", "weights.toml")
    ]
    named = [{cause: set(table) for cause, table in one.items() if table} for one in tables]
    assert named[0] == named[1]


def test_the_command_validates_on_reports_of_ones_own(tmp_path: Path) -> None:
    for recording in record_causes.recordings()[:6]:
        report = tmp_path / f"{recording.name}.txt"
        report.write_bytes(recording.path.read_bytes())
        label = {"cause": recording.cause, "repo": f"team/{recording.program}"}
        report.with_suffix(".json").write_text(json.dumps(label), encoding="utf-8")
    before = (ROOT / "kb" / "weights.toml").read_bytes()
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
    assert (ROOT / "kb" / "weights.toml").read_bytes() == before
