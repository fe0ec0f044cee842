"""What ends this process, and when."""

from __future__ import annotations

import os
import signal

import pytest

from diagnose.processes import undisturbed


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_until_what_must_not_be_cut_short_is_over(sent: signal.Signals) -> None:
    came = list[int]()
    before = signal.signal(sent, lambda number, _: came.append(number))
    try:
        with undisturbed():
            os.kill(os.getpid(), sent)
            assert not came
        assert came == [sent]
    finally:
        signal.signal(sent, before)
