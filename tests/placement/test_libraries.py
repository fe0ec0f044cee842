"""What objects of libraries do to devices: the analysis says what programs showed when they ran."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest
from parsing.knowledge import torch

from diagnose import _toml
from diagnose.kinds import DeviceType
from diagnose.placement import Source, check
from diagnose.placement.analysis import Program, analyse
from diagnose.placement.devices import differ
from diagnose.placement.machine import Meeting

RECORDED = _toml.loads(Path(__file__).with_name("libraries.toml").read_text())
FACTS = {f"{fact['library']}-{fact['name']}": fact for fact in RECORDED["fact"]}
#: What is added to itself is what a program is asked about.
ASKED = "torch.add(it, it)"


def followed(name: str) -> tuple[list[str], Program]:
    """The lines of a fact's program, and what its analysis saw."""
    fact = FACTS[name]
    text = RECORDED["heads"][fact["library"]] + fact["program"]
    if fact["it"] != "fails" and "look(" not in fact["program"]:
        text += f"{ASKED}\n"
    lines = text.split("\n")
    return lines, analyse(Source("/home/u/run.py", lines, ast.parse(text)), torch())


def apart(meeting: Meeting) -> bool:
    """Whether operands of which none is a number are known to be on two devices."""
    return any(
        differ(one.tensor.device, other.tensor.device)
        and not (one.tensor.scalar or other.tensor.scalar)
        for one, other in itertools.combinations(meeting.sides, 2)
    )


@pytest.mark.parametrize("name", FACTS)
def test_a_fact(name: str) -> None:
    fact = FACTS[name]
    lines, program = followed(name)
    assert program.complete
    if fact["it"] == "fails":
        marked = {n for n, line in enumerate(lines, 1) if line.endswith("# fails")}
        met = [m for m in program.meetings if marked & {m.spot.line, *(c.line for c in m.calls)}]
        told = "fails" if any(map(apart, met)) else "unknown"
    else:
        asked = [m for m in program.meetings if ASKED in lines[m.spot.line - 1]]
        met = [m for m in asked if not m.calls or isinstance(m.calls[-1].node, ast.Call)]
        device = met[-1].sides[0].tensor.device if met else None
        told = "unknown" if device is None or device.type == DeviceType.SPLIT else str(device)
        told = "cuda:0" if told == "cuda" else told
    assert told == fact.get("believed", fact["it"])


@pytest.mark.parametrize("name", [name for name, one in FACTS.items() if one["it"] != "fails"])
def test_nothing_is_found_in_what_runs(name: str) -> None:
    text = RECORDED["heads"][FACTS[name]["library"]] + FACTS[name]["program"]
    said = check(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    assert not [(one.cause, one.spot.line) for one in said.suspects if one.sure]


def test_the_page_tells_how_many_there_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "placement.md").read_text(encoding="utf-8")
    counts = re.findall(r"\b\d+\b", page[page.index("What objects of libraries do") :][:400])
    silent = sum(one.get("believed") == "unknown" for one in FACTS.values())
    alike = sum("believed" not in one for one in FACTS.values())
    assert [int(one) for one in counts[:3]] == [len(FACTS), alike, silent]
