"""What `diagnose fix` tells of its way where it writes to a pipe."""

from __future__ import annotations

import pytest

from diagnose.commands import fix


def test_a_pipe_is_told_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    tell = fix._progress()
    for number in range(1, 12):
        tell(f"edit {number} of at most 60: trying")
    tell("")
    told = capsys.readouterr()
    assert not told.out
    assert told.err.splitlines() == [
        f"diagnose: edit {number} of at most 60: trying" for number in (5, 10)
    ]
