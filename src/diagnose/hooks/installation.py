"""Puts the hooks in place and takes them out again, whoever else has wrapped what since."""

from __future__ import annotations

import os
import sys
import threading

from diagnose.hooks import notebook
from diagnose.hooks.answers import answer
from diagnose.hooks.chained import ChainedHook, SysHook, ThreadHook

TYPE_CHECKING = False  # installing must cost next to nothing
if TYPE_CHECKING:
    from typing import TextIO

    from diagnose.model import Lang

#: Environment variable; ``0`` keeps `install` from doing anything.
SWITCH = "DIAGNOSE_HOOK"
#: Seconds that an answer may take before the program goes on without it, and the environment variable
#: that says otherwise: a machine that does much else needs more.
BUDGET = 2.0
SECONDS = "DIAGNOSE_HOOK_SECONDS"

_installed: list[ChainedHook] = []


def install(
    *, lang: Lang = "en", stream: TextIO | None = None, seconds: float | None = None
) -> None:
    """Let uncaught device-placement failures be followed by their diagnosis.

    Wraps `sys.excepthook` and `threading.excepthook`, and listens to the running IPython if there
    is one. Calling it again changes the options and, where another library has put its own hook in
    place since, wraps that one too. Does nothing where the environment says ``DIAGNOSE_HOOK=0``.

    Args:
        lang: language of the answers.
        stream: where answers go; `sys.stderr` of the moment of the failure if None.
        seconds: how long an answer may take; after that the program ends without one. If None, what
            the environment's DIAGNOSE_HOOK_SECONDS says, or two.

    Raises:
        ValueError: `lang` is not known, or `seconds` is not positive.
    """
    if lang not in ("en", "zh"):
        raise ValueError(f"lang is 'en' or 'zh', not {lang!r}")
    if seconds is None:
        seconds = _budget()
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, not {seconds!r}")
    if os.environ.get(SWITCH, "").strip().lower() in {"0", "off", "no", "false"}:
        return

    def then(error: BaseException | None) -> None:
        answer(error, lang, stream, seconds)

    _place(SysHook(sys, "excepthook", then))
    _place(ThreadHook(threading, "excepthook", then))
    notebook.listen(then)


def _budget() -> float:
    """The seconds of the environment; what is no number of seconds there must not stop the program."""
    try:
        seconds = float(os.environ.get(SECONDS, BUDGET))
    except ValueError:
        return BUDGET
    return seconds if seconds > 0 else BUDGET


def _place(hook: ChainedHook) -> None:
    """Wrap the hook that is in place; one of ours that is already there only gets the new answer."""
    current = hook.current()
    if isinstance(current, ChainedHook):
        current.then = hook.then
        hook = current
    else:
        hook.wrap(current)
    if hook not in _installed:
        _installed.append(hook)


def uninstall() -> None:
    """Put back what `install` found; does nothing where nothing is installed.

    A hook that another library has wrapped since cannot be taken out of the middle: it stays as a
    mere passage to what was there before.
    """
    notebook.unlisten()
    for hook in reversed(_installed):
        hook.then = None
    while any(hook.unwrap() for hook in _installed):
        pass
    _installed.clear()
