"""What ends this process, and when."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from diagnose.processes import TOO_LONG, forked, undisturbed


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


def _leaving_daemons(folder: Path, *, ends: bool) -> int:
    """Starts processes with sessions of their own, one of them by a parent that is gone."""
    for name in ("child", "orphan"):
        if os.fork() == 0:
            os.setsid()
            if name == "orphan" and os.fork():
                os._exit(0)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            (folder / name).write_text(str(os.getpid()))
            signal.pause()
    while not all((folder / name).is_file() for name in ("child", "orphan")):
        time.sleep(0.01)
    while not ends:
        signal.pause()
    return 3


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems hand them to their first process"
)
@pytest.mark.parametrize("ends", [True, False])
def test_daemons_end_with_what_has_started_them(tmp_path: Path, ends: bool) -> None:
    (ended,) = forked([partial(_leaving_daemons, tmp_path, ends=ends)], 60 if ends else 5)
    assert ended.status == (3 if ends else TOO_LONG)
    for name in ("child", "orphan"):
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / name).read_text()), 0)


def test_a_work_that_kills_its_parent_ends_alone() -> None:
    def kill() -> int:
        os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()
        return 0

    (ended,) = forked([kill], 60)
    assert ended.status == 128 + signal.SIGKILL
