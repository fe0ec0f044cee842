"""One answer to one uncaught exception: within a time, and without ever disturbing the program."""

from __future__ import annotations

import _thread
import sys
import time
from types import FunctionType

TYPE_CHECKING = False  # installing must cost next to nothing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from diagnose.hooks.output import Look
    from diagnose.model import Diagnosis, Lang

_NOT_FAILURES = (KeyboardInterrupt, SystemExit, GeneratorExit)
#: What stands in nearly every message of a device-placement failure, and how much of one is searched.
_SIGNS = ("device", "cuda:", "cuda tensor", "cuda.floattensor")
_LOOKED_AT = 100_000
#: A worker that waits for something else gets so many times its seconds, and is looked at so often.
_PATIENCE = 4
_LOOK = 0.05


def answer(
    error: BaseException | None,
    lang: Lang,
    stream: TextIO | None,
    seconds: float,
    server: str | None = None,
) -> None:
    """Print the diagnosis of a device-placement failure, or a line for a program that found no GPU; for
    anything else do nothing.

    Where a fault of ours keeps it from an answer to what may be such a failure, one line says so.
    Never raises. The work is done in a thread of its own, because a local variable's class may make
    any look at it take forever; after ``seconds`` of the processor's time, which a busy machine does not
    use up, the program goes on, and one line says that there is no answer. A profiler or tracer of the
    program's own sees nothing of it. Where ``stream`` is None the answer goes to `output.standard_error`;
    where ``server`` is not, the failure is reported there, redacted.
    """
    if error is None or issubclass(type(error), _NOT_FAILURES):
        return
    watched = []
    try:
        for get, put in ((sys.getprofile, sys.setprofile), (sys.gettrace, sys.settrace)):
            # Those of debuggers and coverage are no functions, and dislike being taken out.
            if type(watcher := get()) is FunctionType:
                watched.append((put, watcher))
                put(None)
        _answer(error, lang, stream, seconds, server)
    except BaseException:  # whatever it is, it is ours and must stay ours
        return
    finally:
        for put, watcher in watched:
            put(watcher)


def _answer(
    error: BaseException, lang: Lang, stream: TextIO | None, seconds: float, server: str | None
) -> None:
    from diagnose.hooks import output

    target = output.standard_error() if stream is None else stream
    if target is not None:
        target.flush()  # the traceback must be out before anything else begins
        page: list[str] = []
        maybe = may_be_ours(error)
        # The worker takes the exception out of the list: nobody else holds it when it is done.
        ended = _within(seconds, _compose, [error], lang, output.look_of(target), page, server)
        if page:
            output.write(page[0], target)
        elif maybe and not ended:
            output.write(_time_is_up(lang, seconds), target)


def _within(seconds: float, work: Callable[..., None], *args: object) -> bool:
    """Whether work, in a thread of its own, ends before it has used so much of the processor's time; where
    it sleeps, or its time cannot be read, within `_PATIENCE` times as long by the clock."""
    running = _thread.allocate_lock()
    clocks: list[int] = []

    def run() -> None:
        try:
            if hasattr(time, "pthread_getcpuclockid"):
                clocks.append(time.pthread_getcpuclockid(_thread.get_ident()))
            work(*args)
        finally:
            running.release()

    running.acquire()
    _thread.start_new_thread(run, ())  # a `threading.Thread` calls the program's profiler
    end = time.monotonic() + seconds * _PATIENCE
    while time.monotonic() < end:
        if running.acquire(timeout=_LOOK):
            return True
        try:
            if clocks and time.clock_gettime(clocks[0]) > seconds:
                return False
        except OSError:  # it has just ended
            continue
    return False


def _time_is_up(lang: Lang, seconds: float) -> str:
    from diagnose.rendering.labels import LABELS

    return LABELS[lang]["no-time"].format(seconds=f"{seconds:g}") + "\n"


def explained(error: BaseException, lang: Lang = "en") -> tuple[Diagnosis, ...]:
    """Print the diagnosis of an exception on standard error, as the hook does but in its own time; returns
    it, with the verdict ``failed`` where a fault of ours keeps it from an answer. Ctrl-C and `sys.exit` are
    left alone."""
    if issubclass(type(error), _NOT_FAILURES):
        return ()
    from contextlib import suppress

    from diagnose.hooks import output
    from diagnose.hooks.live import explain
    from diagnose.model import Report
    from diagnose.pipeline import failed
    from diagnose.rendering.text import render

    target = output.standard_error()
    look = output.look_of(target) if target is not None else output.Look(0, False)
    try:
        diagnosis = explain(error, lang=lang)
        page = "\n" + render(diagnosis, columns=look.columns, color=look.color)
    except Exception as fault:
        diagnosis = failed(Report("traceback"), "reading", fault, lang)
        page = _no_answer(fault, lang) if may_be_ours(error) else ""
    if target is not None:
        with suppress(OSError, ValueError):  # nobody reads, or the stream is closed
            output.write(page, target)
    return (diagnosis,)


def found(error: BaseException, lang: Lang, seconds: float) -> tuple[Diagnosis, ...]:
    """The diagnosis of a device-placement failure; empty for anything else, and where it takes more than so
    many seconds of the processor. Never raises."""
    made: list[Diagnosis] = []
    if may_be_ours(error):
        _within(seconds, _look, [error], lang, made)
    return tuple(made)


def _look(errors: list[BaseException], lang: Lang, made: list[Diagnosis]) -> None:
    from contextlib import suppress

    with suppress(BaseException):  # of ours, or of the program's own classes
        from diagnose.hooks.live import explain

        diagnosis = explain(errors.pop(), lang=lang)
        made += [diagnosis] if _worth_saying(diagnosis) else []


def _compose(
    errors: list[BaseException], lang: Lang, look: Look, page: list[str], server: str | None
) -> None:
    error = errors.pop()
    maybe = may_be_ours(error)
    try:
        from diagnose.hooks.live import explain

        diagnosis = explain(error, lang=lang)
        del error  # nobody but the program holds it while the answer is laid out
        maybe = _worth_saying(diagnosis) or (diagnosis.report.error is None and maybe)
        if diagnosis.verdict == "failed":
            page += [_no_answer(None, lang)] if maybe else []
        elif _worth_saying(diagnosis):
            from diagnose.rendering.text import render

            diagnosis, sent = _sent(diagnosis, server) if server else (diagnosis, "")
            page.append("\n" + render(diagnosis, columns=look.columns, color=look.color) + sent)
        elif line := _without_gpu(diagnosis):
            page.append(f"\n{line}\n")
    except BaseException as fault:  # of ours, or of the program's own classes
        page += [_no_answer(fault, lang)] if maybe else []


def _sent(diagnosis: Diagnosis, server: str) -> tuple[Diagnosis, str]:
    """Reports a failure; the answer with what is remembered there, and a job's first rank gets its link."""
    from diagnose.errors import DiagnoseError, printable
    from diagnose.memory.sending import send
    from diagnose.rendering.labels import LABELS

    try:
        sent = send(server, diagnosis)
    except DiagnoseError as error:
        return diagnosis, f"diagnose: {printable(str(error))}\n"
    line = LABELS[diagnosis.lang]["sent"].format(url=printable(sent.url)) + "\n" if sent.new else ""
    return diagnosis._replace(seen=sent.seen), line


def _worth_saying(diagnosis: Diagnosis) -> bool:
    from diagnose.model import DEVICE_FAMILY

    error = diagnosis.report.error
    return error is not None and error.family == DEVICE_FAMILY


def _without_gpu(diagnosis: Diagnosis) -> str:
    """One line for a program that found no GPU: it can be tried without one."""
    from diagnose.placeholders import named_script
    from diagnose.rendering.labels import LABELS

    named = named_script(diagnosis.report)
    offered = named and any(f"diagnose run --simulate {named}" in text for text in diagnosis.advice)
    return LABELS[diagnosis.lang]["simulate"].format(script=named) if offered else ""


def may_be_ours(error: BaseException) -> bool:
    """Whether an exception may be a device-placement failure, as far as that can be told without running
    any code of its class: no other one is worth a line where our own code fails."""
    words = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    return any(
        type(word) is str and any(sign in word[:_LOOKED_AT].lower() for sign in _SIGNS)
        for word in words[:1]
    )


def _no_answer(fault: BaseException | None, lang: Lang) -> str:
    """The one line in place of an answer; the reason of a ``fault`` that is not None is logged here."""
    try:
        from diagnose.bulkhead import debug
        from diagnose.errors import DiagnoseError
        from diagnose.rendering.labels import LABELS

        if issubclass(type(fault), DiagnoseError):  # isinstance would ask a class of the program
            return f"diagnose: {fault}\n"
        if fault is not None:
            debug("no answer for this failure", fault)
        return LABELS[lang]["no-hook-answer"] + "\n"
    except BaseException:  # not even the words can be had
        return "diagnose: no answer for this failure (internal error)\n"
