"""``diagnose --ask``: questions on a real terminal, and a ranking that follows the replies."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.ranking.questions import UNKNOWN

#: Two GPUs and a line that tells nothing: far from sure, and so from where small changes of weights lead.
TRACE = """\
Traceback (most recent call last):
  File "/home/u/net.py", line 9, in loss
    return combine(out, batch)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!
"""


def test_a_reply_puts_the_cause_first_that_it_points_to(casebase: Casebase) -> None:
    before = diagnose(TRACE, casebase=casebase)
    assert len(before.questions) > 1
    for question in before.questions:
        for number, reply in enumerate(question.replies):
            after = diagnose(TRACE, casebase=casebase, answers={question.id: number})
            assert after.causes[0].id == reply.causes[0]
            assert question.id not in [one.id for one in after.questions]


def test_who_does_not_know_is_asked_something_else(casebase: Casebase) -> None:
    before = diagnose(TRACE, casebase=casebase)
    asked = {before.questions[0].id: UNKNOWN}
    after = diagnose(TRACE, casebase=casebase, answers=asked)
    assert [cause.confidence for cause in after.causes] == [c.confidence for c in before.causes]
    assert before.questions[0].id not in [one.id for one in after.questions]


def test_answers_to_what_was_never_asked_change_nothing(casebase: Casebase) -> None:
    asked = {"no-such-question": 0, diagnose(TRACE, casebase=casebase).questions[0].id: 99}
    before, after = (diagnose(TRACE, casebase=casebase, answers=a) for a in ({}, asked))
    assert before.causes == after.causes


def on_terminal(path: Path, typed: bytes) -> tuple[str, str]:
    """What is printed, and what stands on the terminal."""
    outer, inner = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "diagnose", "--ask", str(path)],
            stdin=inner,
            stderr=inner,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        os.write(outer, typed)
        printed, _ = process.communicate(timeout=120)
        return printed, os.read(outer, 65536).decode()
    finally:
        os.close(outer)
        os.close(inner)


def test_questions_are_answered_on_the_terminal(casebase: Casebase, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(TRACE)
    first = diagnose(TRACE, casebase=casebase).questions[0]
    printed, terminal = on_terminal(path, b"nine\n3\n\x04")
    flat = " ".join(terminal.split())
    assert all(reply.text in flat for reply in first.replies)
    assert terminal.count("Enter if you do not know") == 3  # the first line was no number
    after = diagnose(TRACE, casebase=casebase, answers={first.id: 2})
    assert f"{after.causes[0].id} " in printed
    assert first.text not in " ".join(printed.split())


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(TRACE)
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", "--ask", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,  # without the terminal of whoever runs the tests
    )
    assert done.returncode == 2 and "needs a terminal" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_sure_answer_asks_nothing(lang: str) -> None:
    trace = Path(__file__).parent / "traces" / "easyedit-memit-delta.txt"
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", "--ask", "--lang", lang, str(trace)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode == 0 and done.stderr == ""
