"""A few inputs of each fuzzer: mutated forms, and lines of real programs, through all doors."""

from __future__ import annotations

import importlib
import itertools
import sys
from pathlib import Path
from types import ModuleType

import pytest

from diagnose.model import Edit, Fix

FOLDER = Path(__file__).parents[2] / "benchmarks"
#: Lines of the project's own programs, so that every machine judges the same ones.
PROGRAMS = Path(__file__).parents[2] / "kb"


def _loaded(name: str) -> ModuleType:
    sys.path.insert(0, str(FOLDER))  # the fuzzers share what they judge by
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    return _loaded("fuzz")


@pytest.fixture(scope="module")
def lines() -> ModuleType:
    return _loaded("fuzz_lines")


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    return _loaded("judge")


def test_mutated_forms_neither_crash_nor_hang(fuzzer: ModuleType) -> None:
    outcome = fuzzer.fuzz(seed=20, count=150, timed=False)
    assert outcome.bad == []
    assert outcome.edits > 10
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


@pytest.mark.faults
def test_what_goes_wrong_is_reported(fuzzer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("planted")

    monkeypatch.setattr("diagnose.pipeline.ranking", broken)
    outcome = fuzzer.fuzz(seed=1, count=8, timed=False)
    assert outcome.bad
    assert any("ValueError" in what for _, what in outcome.bad)


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["real", "mutated"])
def test_any_line_may_fail(share: float, lines: ModuleType) -> None:
    outcome = lines.fuzz(seed=3, count=80, share=share, root=PROGRAMS, timed=False)
    assert outcome.bad == []
    assert outcome.seen["edits"] > 10


# --- the judge itself: each fault that it is there to find, planted ---------------------------------


@pytest.mark.parametrize(
    ("kind", "before", "after", "finding"),
    [
        ("move-tensor-at-line", "y = a + self.f(", "y = a + self.f(.to(a.device)", "no Python"),
        ("move-tensor-at-line", "y = a + b * c", "y = (a + b).to(d) * c", "changes more"),
        ("move-tensor-at-line", "y = a + b", "y = a + c.to(a.device)", "changes more"),
        ("drop-device-map", "m = f(p, device_map=(x))", "m = f(p))", "no Python"),
        ("index-to-device", "y = t[i]", "y = t[i]", "no change"),
        ("move-tensor-at-line", "y = a + b", "y = a + b.to(a.device)", None),
        ("create-on-device", "y = torch.ones(3)", "y = torch.ones(3, device=x.device)", None),
        ("map-location", "s = torch.load(p)", 's = torch.load(p, map_location="cpu")', None),
    ],
)
def test_a_broken_edit_is_found(
    kind: str, before: str, after: str, finding: str | None, judge: ModuleType
) -> None:
    edit = Edit("a.py", 3, before, after)
    found = list(judge.Judge().edit(Fix(kind, "", edit=edit), edit))
    assert [what.partition(":")[0].startswith(finding) for what in found if finding] == (
        [True] if finding else []
    )
    assert bool(found) == bool(finding)


def test_a_diff_that_does_not_apply_is_found(judge: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f(a, b):\n    return a + b\n")
    edit = Edit(str(path), 2, "return a + b", "return a + b.to(a.device)")
    head = f"--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n def f(a, b):\n"
    right = f"{head}-    return a + b\n+    return a + b.to(a.device)\n"
    assert judge.misapplied(right, edit) is None
    assert judge.misapplied(right.replace("    return", "return"), edit) == "context"
    assert judge.misapplied(right.replace(" b.to(a.device)", ""), edit) == "the file is no Python"
