"""Bulkheads: a fault of our own costs one piece of an answer and not the answer.

    with collecting() as missing:
        questions = guarded("questions", lambda: ask(...), ())
    Diagnosis(..., incomplete=tuple(missing))

A piece that fails is left out, and the answer names it. ``DIAGNOSE_DEBUG=1`` shows why, through the
logger ``diagnose``. A `DiagnoseError` is no fault and passes; so does Ctrl-C.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from diagnose.errors import DiagnoseError
from diagnose.model import Missing

T = TypeVar("T")
U = TypeVar("U")

#: So many of the innermost frames tell where a fault lies.
_FRAMES = 4
_collected: ContextVar[list[Missing] | None] = ContextVar("collected", default=None)


@contextmanager
def collecting() -> Iterator[list[Missing]]:
    """A list of the pieces that fail within the block, in order; a block in it has its own list."""
    missing: list[Missing] = []
    token = _collected.set(missing)
    try:
        yield missing
    finally:
        _collected.reset(token)


def guarded(what: str, make: Callable[[], T], otherwise: U) -> T | U:
    """What ``make`` returns; ``otherwise`` where it fails, which the enclosing `collecting` notes.

    Args:
        what: the piece as an answer names it: ids and plain words joined by slashes.
        make: makes the piece.
        otherwise: what the answer holds instead.

    Raises:
        DiagnoseError: as ``make``.
    """
    try:
        return make()
    except DiagnoseError:
        raise
    except Exception as error:  # MemoryError and RecursionError too
        fault = missing(what, error)
        if (collected := _collected.get()) is not None:
            collected.append(fault)
        return otherwise


def missing(what: str, error: BaseException) -> Missing:
    """The piece that an exception has cost; where somebody debugs, the exception is shown."""
    debug(f"{what} failed", error)
    return Missing(what, place(error))


def debugging() -> bool:
    """Whether ``DIAGNOSE_DEBUG`` asks for the reasons of our faults."""
    return os.environ.get("DIAGNOSE_DEBUG", "") not in ("", "0")


def debug(sentence: str, error: BaseException) -> None:
    """Logs an exception with its traceback, where ``DIAGNOSE_DEBUG`` asks for it."""
    if debugging():
        import logging  # not before: it takes longer to import than all of the command line

        logging.getLogger("diagnose").error(sentence, exc_info=error)


def place(error: BaseException) -> str:
    """Where an exception comes from, without its message, which may quote the input:
    ``IndexError at fixes/patches.py:228 _named_argument < fixes/__init__.py:40 for_cause``."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        file = code.co_filename.replace("\\", "/").rpartition("/diagnose/")[2]
        frames.append(f"{file}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    where = " < ".join(reversed(frames[-_FRAMES:]))
    return f"{type(error).__name__} at {where}" if where else type(error).__name__
