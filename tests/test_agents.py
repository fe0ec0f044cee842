"""Who runs diagnose: a coding agent is asked nothing and shown neither colours nor links."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from diagnose.answers import answer
from diagnose.asking import NoTerminalError, settled
from diagnose.casebase.store import Casebase
from diagnose.hooks.output import look_of
from diagnose.outputs import is_terminal, takes_links
from diagnose.pipeline import diagnose

TRACE = Path(__file__).parent / "traces" / "easyedit-memit-delta.txt"
PROSE = "RuntimeError: Expected all tensors to be on the same device"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def seated(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in place of this process's streams, which pytest sets anew before each test."""
    for name in ("AI_AGENT", "AGENT", "CLAUDECODE", "CURSOR_AGENT", "GEMINI_CLI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM_PROGRAM", "WezTerm")
    monkeypatch.setenv("TERM", "xterm")
    made = Terminal()
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, made)
    return made


def test_a_person_has_colours(casebase: Casebase, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    answer((str(TRACE),), no_source=True)
    assert "\x1b[" in terminal.getvalue()
    assert look_of(terminal).color
    assert takes_links()


@pytest.mark.parametrize(
    "variable", ["AI_AGENT", "AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI"]
)
def test_an_agent_has_none(
    variable: str, casebase: Casebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = seated(monkeypatch)
    monkeypatch.setenv(variable, "1")
    answer((str(TRACE),), no_source=True)
    assert "Because" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()
    assert not look_of(terminal).color
    assert not is_terminal(terminal)
    assert not takes_links()
    unsure = diagnose(PROSE, casebase=casebase)
    assert unsure.questions
    with pytest.raises(NoTerminalError):
        settled(unsure, lambda answers: unsure)
