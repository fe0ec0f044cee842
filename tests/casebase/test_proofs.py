"""The table of `diagnose kb check --run` and its exit status."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import forked
import psutil
import pytest
from click.testing import CliRunner, Result

from diagnose.authoring.proof import Proof, prove
from diagnose.commands.doors import doors
from diagnose.commands.proofs import table, told

GOOD = Proof(
    incident="a",
    cause="meta-tensor",
    failing=1,
    fixed=0,
    family="device-placement",
    causes=("index-device", "meta-tensor"),
    recognised="meta-tensor",
    verify_failing=1,
    verify_fixed=0,
    verdict="FAIL: parts of model are left behind",
)


def cells(text: str, cause: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"{cause} ")]
    return line.split()[1:]


def test_the_table_counts_by_cause_and_over_all() -> None:
    proofs = [
        replace(GOOD, causes=("meta-tensor",)),
        GOOD,
        replace(GOOD, failing=0, verify_failing=0, family=None, causes=(), verdict="PASS"),
        replace(GOOD, fixed=1, verify_fixed=1, by_hand=True),
        replace(GOOD, cause="rank-device", family="other", verdict="FAIL: ValueError('rank 1')"),
        replace(GOOD, cause="rank-device", skipped="needs deepspeed"),
    ]
    text = table(proofs)
    assert cells(text, "meta-tensor") == [
        *("4", "4", "3/4", "3/4", "2/4", "3/4", "4/4", "1/4", "3/4", "1/4")
    ]
    assert cells(text, "rank-device") == [
        *("2", "1", "0/1", "1/1", "1/1", "0/1", "0/1", "0/1", "0/1", "0/1")
    ]
    assert cells(text, "all") == [
        *("6", "5", "3/5", "4/5", "3/5", "3/5", "4/5", "1/5", "3/5", "1/5")
    ]


def test_what_raises_no_device_error_is_not_ranked() -> None:
    text = table(
        [
            replace(GOOD, silent=True, family="assertion", causes=()),
            replace(GOOD, expected_family="crash", family="crash", causes=()),
        ]
    )
    assert cells(text, "meta-tensor") == ["2", "2", *["2/2"] * 4, *"---", "0/2"]


def test_nothing_run_is_no_success() -> None:
    assert cells(table([replace(GOOD, skipped="needs x")]), "all") == ["1", "0", *["-"] * 8]


def test_what_does_not_hold_is_told() -> None:
    assert list(told(GOOD)) == []
    assert list(told(replace(GOOD, fixed=1))) == ["a: the fixed variant ends with status 1, not 0"]
    assert list(told(replace(GOOD, recognised="rank-device"))) == [
        "a: its own traceback is diagnosed as rank-device; `diagnose kb record a`, and build"
    ]
    assert list(told(replace(GOOD, skipped="needs x"))) == ["a: not run, needs x"]


@pytest.fixture
def two(kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """kb/ with two incidents that run quickly, in processes that have imported torch."""
    pytest.importorskip("torch")
    monkeypatch.setattr(sys, "executable", forked.python())
    copy = tmp_path / "kb"
    shutil.copytree(kb, copy, ignore=shutil.ignore_patterns("cases"))
    for slug in ("timm-reset-head", "pytorch-list-of-buffers"):
        shutil.copytree(kb / "cases" / slug, copy / "cases" / slug)
    return copy


def check(kb: Path, *arguments: str) -> Result:
    return CliRunner().invoke(doors, ["kb", "check", "--kb", str(kb), "--run", *arguments])


def test_one_broken_incident_is_status_1(two: Path) -> None:
    program = two / "cases/timm-reset-head/reproduce.py"
    program.write_text("import sys\nprint(sys.argv[1])\n")
    done = check(two, "--jobs", "1")
    assert done.exit_code == 1
    assert "timm-reset-head: the failing variant ends with status 0, not 1" in done.output
    assert cells(done.output, "all")[:3] == ["2", "2", "1/2"]


def test_what_a_run_does_to_torch_ends_with_it(two: Path) -> None:
    program = two / "cases/timm-reset-head/reproduce.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("import sys\n", "import sys\n" + SPOILT, 1), encoding="utf-8")
    done = check(two, "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert cells(done.output, "all")[:5] == ["2", "2", "2/2", "2/2", "2/2"]


SPOILT = """
import os
import torch

assert not hasattr(torch, "spoilt") and "SPOILT" not in os.environ
torch.spoilt = os.environ["SPOILT"] = "yes"
"""


def test_a_program_that_ends_its_parent_costs_a_sentence(two: Path) -> None:
    program = two / "cases/timm-reset-head/reproduce.py"
    program.write_text("import os\nos.kill(os.getppid(), 9)\n")
    done = check(two, "timm-reset-head")
    assert done.exit_code == 1
    assert "the failing variant ends with status 137, not 1" in done.output
    assert cells(done.output, "all")[:2] == ["1", "1"]  # the other one is not run


def test_who_stops_early_leaves_no_process_behind(two: Path, casebase_path: Path) -> None:
    slow = two / "cases/timm-reset-head/reproduce.py"
    slow.write_text("import time\ntime.sleep(600)\n")
    slugs = ["pytorch-list-of-buffers", "timm-reset-head"]
    others = psutil.Process().children(recursive=True)  # such as a server of other tests
    proofs = prove(two, slugs, casebase=casebase_path, processes=2)
    assert next(proofs).incident == "pytorch-list-of-buffers"
    started = {*psutil.Process().children(recursive=True)}.difference(others)
    assert started
    proofs.close()
    psutil.wait_procs(started)  # for as long as pytest's own timeout lets it


def test_a_mistake_is_told_and_nothing_is_run(two: Path) -> None:
    path = two / "cases/timm-reset-head/case.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("https://", "http://"), encoding="utf-8")
    done = check(two, "pytorch-list-of-buffers")
    assert done.exit_code == 1
    assert "must be an https address" in done.output
    assert "told apart" not in done.output


def test_run_without_torch_says_what_to_install(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diagnose.commands.kb.find_spec", lambda name: None)
    done = check(two)
    assert done.exit_code == 2
    assert "pip install 'torch-diagnose[torch]'" in done.output
