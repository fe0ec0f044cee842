"""What `diagnose fix` tells of its way where it writes to a pipe."""

from __future__ import annotations

import pytest

from diagnose.commands import fix


def test_a_pipe_is_told_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    tell = fix._progress(lambda: now)
    for number in range(1, 12):
        tell(f"run {number}")
        now += 2
    tell("")
    told = capsys.readouterr()
    assert not told.out
    assert told.err.splitlines() == [f"diagnose: run {number}" for number in (1, 4, 7, 10)]
