"""Hundreds of small programs end on simulated GPUs as they did in the CUDA builds of torch."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from diagnose._toml import loads

ROOT = Path(__file__).parents[2] / "benchmarks"
RECORDS = ROOT / "fidelity"
NEWEST = "torch-2.13.0-idle"


@pytest.fixture(scope="module")
def fidelity() -> ModuleType:
    """benchmarks/fidelity.py."""
    spec = importlib.util.spec_from_file_location("fidelity_benchmark", ROOT / "fidelity.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", autouse=True)
def path_of_children() -> Any:
    """The programs run in processes of their own, which import the same diagnose."""
    import diagnose

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(diagnose.__file__).parents[1]))
        yield


def differences(fidelity: ModuleType, record: str, wording: str) -> tuple[set[str], set[str]]:
    """Names of programs whose verdict differs, and of those whose device, exception or message does."""
    real = json.loads((RECORDS / f"{record}.json").read_text(encoding="utf-8"))["outcomes"]
    ours = fidelity.record(True, wording)["outcomes"]
    assert set(real) == set(ours) == set(fidelity.load_programs())
    decided = {name for name, found in real.items() if "passes" in found or "fails" in found}
    assert len(decided) > 700
    pairs = {name: fidelity.same(real[name], ours[name]) for name in decided}
    verdict = {name for name, (same, _) in pairs.items() if not same}
    return verdict, {name for name, (_, same) in pairs.items() if not same}


@pytest.mark.parametrize(
    ("record", "wording", "most"), [(NEWEST, "new", 4), ("torch-2.7.1-idle", "old", 4)]
)
def test_outcomes_are_the_recorded_ones(
    fidelity: ModuleType, record: str, wording: str, most: int
) -> None:
    if not torch.__version__.startswith("2.13."):
        pytest.skip("recorded for torch 2.13")
    verdicts, differ = differences(fidelity, record, wording)
    listed = loads((RECORDS / "known.toml").read_text(encoding="utf-8"))[record]
    assert differ == set(listed), "benchmarks/fidelity/known.toml is exact"
    assert len(verdicts) <= most


def test_a_changed_message_or_verdict_is_noticed(fidelity: ModuleType) -> None:
    failed = {"fails": "RuntimeError", "message": "mat1 is on cpu"}
    assert fidelity.same(failed, dict(failed)) == (True, True)
    assert fidelity.same(failed, failed | {"message": "mat2 is on cpu"}) == (True, False)
    assert fidelity.same(failed, failed | {"fails": "TypeError"}) == (True, False)
    assert fidelity.same(failed, {"passes": "cpu"}) == (False, False)
    assert fidelity.same({"passes": "cuda:0"}, {"passes": "cuda:1"}) == (True, False)


def test_what_of_a_message_is_compared(fidelity: ModuleType) -> None:
    assert fidelity.gist("CUDA error: x\nGPU device may be out of range") == "CUDA error: x"
    passed_on = "Caught RuntimeError in replica 1.\nOriginal Traceback:\n  File\nRuntimeError: y"
    assert fidelity.gist(passed_on) == "Caught RuntimeError in replica 1. ... RuntimeError: y"
