"""A failing call's operands: what they are called, where they were born, and what is to be edited for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tracing.programs import PROGRAMS, Program

from diagnose import tracing
from diagnose.hooks.answers import explained
from diagnose.hooks.live import explain
from diagnose.rendering.json import as_dict
from diagnose.simulation import run_script


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs a program as ``diagnose run --simulate`` does, and gives its answer."""
    monkeypatch.chdir(tmp_path)

    def run(text: str) -> dict[str, Any]:
        told: list[dict[str, Any]] = []
        program = tmp_path / "program.py"
        program.write_text(text)
        status = run_script(
            program, beside=tracing.trace, failed=lambda error: told.append(as_dict(explain(error)))
        )
        assert status == 1
        assert told[0]["incomplete"] == []
        found: dict[str, Any] = json.loads(json.dumps(told[0]))
        return found

    yield run


def marked(text: str, mark: str) -> int | None:
    """The number of the line that has a mark."""
    for number, line in enumerate(text.splitlines(), 1):
        if mark in line.partition("#")[2].split():
            return number
    return None


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_stray_is_named_with_its_life(name: str, answered: Any) -> None:
    program: Program = PROGRAMS[name]
    answer = answered(program.text)
    stray = (answer["strays"] or answer["operands"])[0]
    assert stray["name"] == program.stray
    if program.root is not None:
        assert [one["name"] for one in answer["strays"]][1:] == [program.root]
    if (born := marked(program.text, "born")) is not None:
        assert stray["born"]["line"] == born
    if (moved := marked(program.text, "moved")) is not None:
        assert stray["moved"][-1]["line"] == moved


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_to_edit_follows_from_it(name: str, answered: Any) -> None:
    program: Program = PROGRAMS[name]
    answer = answered(program.text)
    if not program.causes:
        return
    assert answer["causes"][0]["id"] in program.causes
    assert answer["culprit"]["line"] == marked(program.text, "edit")
    assert answer["culprit"]["basis"] == "live"


def test_a_move_of_what_needs_a_gradient_is_a_move(answered: Any) -> None:
    text = """\
import torch
from torch import nn

net = nn.Linear(4, 4).to("cuda:0")
y = net(torch.ones(2, 4, device="cuda:0")).to("cuda:1")  # moved
print(y + torch.ones(2, 4, device="cuda:0"))
"""
    [moved] = [one["moved"] for one in answered(text)["operands"] if one["device"] == "cuda:1"]
    assert [at["line"] for at in moved][-1] == marked(text, "moved")


@pytest.mark.faults
def test_a_fault_of_ours_is_no_good_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("diagnose.hooks.live.explain", lambda *_, **__: 1 / 0)
    error = RuntimeError("Expected all tensors to be on the same device, but found cuda:0 and cpu!")
    [diagnosis] = explained(error)
    assert diagnosis.verdict == "failed"
    assert capsys.readouterr().err.startswith("diagnose: no answer for this failure")
