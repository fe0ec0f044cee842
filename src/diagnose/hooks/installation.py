"""Puts the hooks in place and takes them out again, whoever else has wrapped what since.

Each runs the hook that it found first, exactly as if it were not there, and then answers. IPython
prints tracebacks itself and never calls `sys.excepthook` for a cell. It tells who asks when a cell has
run; that leaves its own handling, and custom exception handlers, as they are.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType, TracebackType

from diagnose.hooks.answers import answer
from diagnose.hooks.shell import running

TYPE_CHECKING = False  # installing must cost next to nothing
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, TextIO

    from diagnose.model import Lang

Then = Callable[[BaseException | None], None]

#: Set while a thread is inside one of our hooks: only the outermost of several answers.
_thread = threading.local()


class ChainedHook:
    """Stands where another hook was, calls it, and then ``then`` with the exception.

    With ``then`` None it is a mere passage. An exception that the other hook raises is reported in
    the words that Python itself has for it, without a trace of this class.
    """

    def __init__(self, owner: ModuleType, name: str, then: Then | None) -> None:
        self.owner, self.name, self.then = owner, name, then
        self.previous: Callable[..., object] | None = None

    def current(self) -> Any:
        """What stands in the hook's place now."""
        return getattr(self.owner, self.name)

    def wrap(self, previous: Callable[..., object]) -> None:
        """Take the place of another hook."""
        self.previous = previous
        setattr(self.owner, self.name, self)

    def unwrap(self) -> bool:
        """Put the other hook back if this one is outermost; say whether it was."""
        outermost = self.current() is self
        if outermost:
            setattr(self.owner, self.name, self.previous)
        return outermost

    def __call__(self, *args: Any) -> None:
        """Be the other hook, then let the answer follow."""
        assert self.previous is not None
        if self.then is None or getattr(_thread, "busy", False):
            self.previous(*args)
            return
        _thread.busy = True
        tracing = sys.modules.get("diagnose.tracing")
        if tracing is not None and tracing.active() is not None:
            args = self.without_recorder(args)
        try:
            try:
                self.previous(*args)
            except Exception as error:
                self.previous_failed(error, args)
        finally:
            _thread.busy = False
            self.then(self.exception(args))

    def exception(self, args: tuple[Any, ...]) -> BaseException | None:
        """The exception that the hook was called for."""
        raise NotImplementedError

    def without_recorder(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The hook's arguments, without the recorder's frames in the traceback."""
        raise NotImplementedError

    def previous_failed(self, error: Exception, args: tuple[Any, ...]) -> None:
        """Do what Python does when this kind of hook raises."""
        raise NotImplementedError


class SysHook(ChainedHook):
    """For `sys.excepthook`."""

    def exception(self, args: tuple[Any, ...]) -> BaseException | None:
        """The second of (type, value, traceback)."""
        return args[1] if len(args) > 1 else None

    def without_recorder(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Type, value and the stripped traceback."""
        if len(args) != 3 or args[2] is not args[1].__traceback__:
            return args
        _strip(args[1])
        return (*args[:2], args[1].__traceback__)

    def previous_failed(self, error: Exception, args: tuple[Any, ...]) -> None:
        """As the interpreter does: both exceptions, in its own words."""
        error.__traceback__ = _without_us(error.__traceback__)
        _say("Error in sys.excepthook:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
        _say("\nOriginal exception was:\n")
        sys.__excepthook__(*args)


class ThreadHook(ChainedHook):
    """For `threading.excepthook`."""

    def exception(self, args: tuple[Any, ...]) -> BaseException | None:
        """The value in `threading.ExceptHookArgs`."""
        return args[0].exc_value if args else None

    def without_recorder(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of `threading.excepthook` with the stripped traceback."""
        given = args[0]
        if given.exc_value is None:
            return args
        _strip(given.exc_value)
        trace = given.exc_value.__traceback__
        told = (given.exc_type, given.exc_value, trace, given.thread)
        return (threading.ExceptHookArgs(told),)

    def previous_failed(self, error: Exception, args: tuple[Any, ...]) -> None:
        """As `threading.Thread` does: the hook's exception, from its own frame on."""
        error.__suppress_context__ = True
        caller: FrameType = sys._getframe(2)
        error.__traceback__ = TracebackType(
            _without_us(error.__traceback__), caller, caller.f_lasti, caller.f_lineno
        )
        _say("Exception in threading.excepthook:\n")
        sys.excepthook(type(error), error, error.__traceback__)


def _strip(error: BaseException) -> None:
    from diagnose.simulation import strip_simulator_frames

    strip_simulator_frames(error)


def _without_us(trace: TracebackType | None) -> TracebackType | None:
    """The same traceback without this module's frames."""
    nodes = []
    while trace is not None:
        if trace.tb_frame.f_code is not ChainedHook.__call__.__code__:
            nodes.append(trace)
        trace = trace.tb_next
    for node in reversed(nodes):
        trace = TracebackType(trace, node.tb_frame, node.tb_lasti, node.tb_lineno)
    return trace


def _say(words: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(words)
        sys.stderr.flush()


_EVENT = "post_run_cell"
_listening: list[tuple[Any, Callable[[Any], None]]] = []


def listen(then: Then) -> None:
    """Call ``then`` with the exception of each cell that fails from now on, if IPython runs."""
    unlisten()
    shell = running()
    if shell is None:
        return

    def cell_has_run(result: Any) -> None:
        then(getattr(result, "error_in_exec", None))

    shell.events.register(_EVENT, cell_has_run)
    _listening.append((shell, cell_has_run))


def unlisten() -> None:
    """Stop listening."""
    while _listening:
        shell, callback = _listening.pop()
        if callback in shell.events.callbacks[_EVENT]:
            shell.events.unregister(_EVENT, callback)


#: Environment variable; ``0`` keeps `install` from doing anything.
SWITCH = "DIAGNOSE_HOOK"
#: Seconds that an answer may take before the program goes on without it, and the environment variable
#: that says otherwise: a machine that does much else needs more.
BUDGET = 2.0
SECONDS = "DIAGNOSE_HOOK_SECONDS"

_installed: list[ChainedHook] = []


def install(
    *,
    lang: Lang | None = None,
    stream: TextIO | None = None,
    seconds: float | None = None,
    server: str | None = None,
) -> None:
    """Let uncaught device-placement failures be followed by their diagnosis.

    Wraps `sys.excepthook` and `threading.excepthook`, and listens to the running IPython if there
    is one. Calling it again changes the options and, where another library has put its own hook in
    place since, wraps that one too. Does nothing where the environment says ``DIAGNOSE_HOOK=0``.

    Args:
        lang: language of the answers; the environment's DIAGNOSE_LANG if None.
        stream: where answers go; `sys.stderr` of the moment of the failure if None.
        seconds: how long an answer may take; after that the program ends without one. If None, what
            the environment's DIAGNOSE_HOOK_SECONDS says, or two.
        server: the address of `diagnose serve`, to report failures to, without secrets; none are if None.

    Raises:
        ValueError: `lang` is not known, or `seconds` is not positive.
    """
    if lang is None:
        lang = language()
    if lang not in ("en", "zh"):
        raise ValueError(f"lang is 'en' or 'zh', not {lang!r}")
    if seconds is None:
        seconds = _budget()
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, not {seconds!r}")
    if os.environ.get(SWITCH, "").strip().lower() in {"0", "off", "no", "false"}:
        return

    def then(error: BaseException | None) -> None:
        answer(error, lang, stream, seconds, server)

    _place(SysHook(sys, "excepthook", then))
    _place(ThreadHook(threading, "excepthook", then))
    listen(then)


def language() -> Lang:
    """The language that the environment asks for; English where it asks for none that is known."""
    return "zh" if os.environ.get("DIAGNOSE_LANG") == "zh" else "en"


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
    unlisten()
    for hook in reversed(_installed):
        hook.then = None
    while any(hook.unwrap() for hook in _installed):
        pass
    _installed.clear()
