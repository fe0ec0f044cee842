"""The forms for editors and for GitHub Actions: a line each that their matchers read, whatever a log holds."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rendering.test_text import ANSWERS, hostile

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.rendering import gcc, github
from diagnose.rendering.words import clean

TRACE = Path(__file__).parents[1] / "traces" / "easyedit-memit-delta.txt"
#: VS Code's matcher ``$gcc``, without columns.
MATCHER = re.compile(
    r"^(?P<file>.*):(?P<line>\d+): (?P<severity>warning|error|note): (?P<said>.*)$"
)
COMMAND = re.compile(r"^::(?P<level>error|notice) (?P<properties>\S[^:]*)::(?P<text>.*)$")


def test_editors_find_the_line_that_failed_and_the_edit(casebase: Casebase) -> None:
    error, note = map(
        MATCHER.match, gcc.render(diagnose(TRACE.read_bytes(), casebase=casebase)).splitlines()
    )
    assert error and note
    assert (error["file"], error["line"]) == ("/home/user/project/reproduce.py", "54")
    assert error["severity"] == "error" and error["said"].endswith("[cross-shard-op]")
    assert (note["file"], note["line"], note["severity"]) == (error["file"], "54", "note")
    assert "+ cur_out[i, idx, :] += delta.to(cur_out.device)" in note["said"]


def test_github_annotates_files_of_the_checkout(
    casebase: Casebase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    trace = TRACE.read_text().replace("/home/user/project/", f"{tmp_path}/src/")
    answer = diagnose(trace, casebase=casebase)
    lines = github.render(answer).splitlines()
    error, notice = map(COMMAND.match, lines)
    assert error and notice
    assert error["properties"] == "file=src/reproduce.py,line=54,title=diagnose"
    sure = f"{answer.causes[0].confidence:.0%}"
    assert f"({sure}25)" in error["text"] and f"({sure})" in unquote(error["text"])


def test_the_users_own_line_is_annotated_and_a_change_keeps_its_lines(casebase: Casebase) -> None:
    library = '  File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 2240, in train\n    x'
    trace = TRACE.read_text().replace("\nRuntimeError", f"\n{library}\nRuntimeError")
    answer = diagnose(trace, casebase=casebase)
    assert answer.report.frames[-1].library == "transformers"
    error = github.render(answer).splitlines()[0]
    assert "reproduce.py,line=54" in error
    notice = github.render(diagnose(TRACE.read_bytes(), casebase=casebase)).splitlines()[1]
    assert "%0A+ cur_out[i, idx, :]" in notice


def test_where_no_file_is_shown_the_line_of_the_input_is_named(casebase: Casebase) -> None:
    text = "x\nRuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)\n"
    assert gcc.render(diagnose(text, "train.log", casebase=casebase)).startswith(
        "train.log:2: error: "
    )


@pytest.mark.parametrize("form", [gcc, github])
def test_an_input_without_an_error_has_no_line(form: object) -> None:
    assert form.render(ANSWERS["no-error"]) == ""  # type: ignore[attr-defined]
    other = form.render(ANSWERS["other-family"])  # type: ignore[attr-defined]
    assert other.count("\n") == 1 and "missing-name" in other


@example("")
@example("<string>")
@example("\n::error::")
@given(st.text(st.characters(), max_size=60))
def test_no_text_of_a_log_makes_a_line_or_a_command_of_its_own(value: str) -> None:
    for form in (gcc, github):
        lines = form.render(hostile(value)).split("\n")
        # A notebook's cell is no file to jump to, nor is a frame without the name of its file.
        notes = 0 if value.startswith("<") or not clean(value) else 1
        assert len(lines) == 2 + notes and lines[-1] == ""
        assert all(c.isprintable() for line in lines for c in line)
        if form is github:
            assert all(re.match(r"::(error|notice) file=", line) for line in lines[:-1])
