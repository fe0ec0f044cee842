"""A limit on how long one file may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLong(BaseException):
    """The time is over. No `Exception`: nothing within may take it for one of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Runs the block so long at most; without a limit where the system or this thread has no such signal.

    Raises:
        TooLong: the time is over.
    """
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
