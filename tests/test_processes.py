"""What ends this process, and when."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from diagnose.processes import undisturbed


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("threads", [0, 3])
def test_a_signal_waits_until_what_must_not_be_cut_short_is_over(
    sent: signal.Signals, threads: int
) -> None:
    # A process's signal goes to any of its threads that lets it in.
    over = threading.Event()
    others = [threading.Thread(target=over.wait) for _ in range(threads)]
    for other in others:
        other.start()
    came = list[int]()
    before = signal.signal(sent, lambda number, _: came.append(number))
    try:
        with undisturbed():
            os.kill(os.getpid(), sent)
            time.sleep(0.05)  # the interpreter runs on: it would answer here
            assert not came
        assert came == [sent]
    finally:
        signal.signal(sent, before)
        over.set()
        for other in others:
            other.join()


def test_an_error_that_a_waiting_signal_raises_comes_after_the_block() -> None:
    def ended(_number: int, _frame: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, ended)
    done = False
    try:
        with pytest.raises(SystemExit), undisturbed():
            os.kill(os.getpid(), signal.SIGTERM)
            done = True
        assert done
    finally:
        signal.signal(signal.SIGTERM, before)


def test_beside_the_main_thread_no_handler_is_touched() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen = list[object]()

    def work() -> None:
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
