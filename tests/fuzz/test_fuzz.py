"""A few seconds of benchmarks/fuzz.py: mutated forms through the whole pipeline."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"
    spec = importlib.util.spec_from_file_location("diagnose_fuzz", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_mutated_forms_neither_crash_nor_hang(fuzzer: ModuleType) -> None:
    outcome = fuzzer.fuzz(seed=20, count=5000, seconds=8)
    assert outcome.bad == []
    assert outcome.count > 20
    assert outcome.verdicts["diagnosed"] > outcome.count / 3, (
        "the mutations still reach the pipeline"
    )


def test_the_inputs_are_the_same_for_the_same_seed(fuzzer: ModuleType) -> None:
    forms = fuzzer.recordings()
    assert len(forms) > 40
    one = list(itertools.islice(fuzzer.inputs(forms, 3), 50))
    assert one == list(itertools.islice(fuzzer.inputs(forms, 3), 50))
    assert one != list(itertools.islice(fuzzer.inputs(forms, 4), 50))
    assert len(set(one)) > 45


def test_what_goes_wrong_is_reported(fuzzer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    import diagnose.pipeline

    def broken(*_: object, **__: object) -> None:
        raise ValueError("planted")

    monkeypatch.setattr(diagnose.pipeline, "explain", broken)
    outcome = fuzzer.fuzz(seed=1, count=3)
    assert [what for _, what in outcome.bad] == ["ValueError: planted"] * 3
