"""Programs as people write them: the cause that the analysis names for their failure, and the line to edit.

A program of ``programs/`` says in its first lines which devices the message names and which causes are right
(the first is the strictest); ``# fails`` ends the user's lines of the traceback, ``# here`` the line to edit.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source, Spot, Suspect
from diagnose.placement.analysis import Line, Program, analyse, suspects

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


def failures(program: Program, path: str, failing: set[int]) -> tuple[Suspect, ...]:
    """The suspects of a traceback that ends in, or goes through, a failing line."""
    at = [m for m in program.meetings if _lines(m.spot) & failing]
    through = [m for m in program.meetings if any(_lines(call) & failing for call in m.calls)]
    for meeting in (*at, *through):
        stack = [Line(path, call.line) for call in (*meeting.calls, meeting.spot)]
        if found := suspects(program, stack, _devices(program.sources[path])):
            return found
    return ()


def _lines(spot: Spot) -> set[int]:
    return set(range(spot.line, getattr(spot.node, "end_lineno", spot.line) + 1))


def _devices(source: Source) -> tuple[str, ...]:
    return tuple(source.lines[0].removeprefix("# devices: ").split(","))


def _marked(source: Source, mark: str) -> set[int]:
    return {number for number, line in enumerate(source.lines, 1) if f"# {mark}" in line}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_cause_and_the_line_of_a_program(path: Path) -> None:
    text = path.read_text()
    source = Source(str(path), text.split("\n"), ast.parse(text))
    program = analyse(source, torch())
    assert program.complete
    [first, *_] = failures(program, str(path), _marked(source, "fails"))
    assert first.cause in source.lines[1].removeprefix("# causes: ").split(",")
    assert first.line.line in _marked(source, "here")
