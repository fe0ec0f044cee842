"""One answer to one uncaught exception: within a time, and without ever disturbing the program."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TextIO

from diagnose.hooks import output

if TYPE_CHECKING:
    from diagnose.model import Diagnosis, Lang

_NOT_FAILURES = (KeyboardInterrupt, SystemExit, GeneratorExit)
#: What stands in nearly every message of a device-placement failure, and how much of one is searched.
_SIGNS = ("device", "cuda:", "cuda tensor", "cuda.floattensor")
_LOOKED_AT = 100_000
#: A worker that waits for something else gets so many times its seconds, and is looked at so often.
_PATIENCE = 4
_LOOK = 0.05


class Settings(NamedTuple):  # a dataclass would take longer to import than all of the hook
    """The options of `diagnose.install`."""

    lang: Lang
    stream: TextIO | None
    seconds: float


def answer(error: BaseException | None, settings: Settings) -> None:
    """Print the diagnosis of a device-placement failure, or a line for a program that found no GPU; for
    anything else do nothing.

    Where a fault of ours keeps it from an answer to what may be such a failure, one line says so.
    Never raises. The work is done in a thread of its own, because a local variable's class may make
    any look at it take forever; after ``settings.seconds`` of the processor's time, which a busy machine
    does not use up, the program goes on, and one line says that there is no answer.
    """
    try:
        if error is None or issubclass(type(error), _NOT_FAILURES):
            return
        target = output.standard_error() if settings.stream is None else settings.stream
        if target is None:
            return
        target.flush()  # the traceback must be out before anything else begins
        look = output.look_of(target)
        page: list[str] = []
        # The worker takes the exception out of the list: nobody else holds it when it is done.
        worker = threading.Thread(
            target=_compose, args=([error], settings.lang, look, page), daemon=True, name="diagnose"
        )
        maybe = _may_be_ours(error)
        worker.start()
        _wait(worker, settings.seconds)
        if page:
            output.write(page[0], target)
        elif maybe and worker.is_alive():
            output.write(_time_is_up(settings), target)
    except BaseException:  # whatever it is, it is ours and must stay ours
        return


def _wait(worker: threading.Thread, seconds: float) -> None:
    """Waits until a thread has ended or used so much of the processor's time; where it sleeps, or its time
    cannot be read, `_PATIENCE` times as long by the clock."""
    clock = getattr(time, "pthread_getcpuclockid", None)
    end = time.monotonic() + seconds * _PATIENCE
    while time.monotonic() < end:
        worker.join(_LOOK)
        if not worker.is_alive():
            return
        with suppress(OSError):  # it has just ended
            if clock is not None and time.clock_gettime(clock(worker.ident)) > seconds:
                return


def _time_is_up(settings: Settings) -> str:
    from diagnose.rendering.labels import LABELS

    return LABELS[settings.lang]["no-time"].format(seconds=f"{settings.seconds:g}") + "\n"


def explained(error: BaseException, lang: Lang = "en") -> tuple[Diagnosis, ...]:
    """Print the diagnosis of an exception on standard error, as the hook does but in its own time; returns
    it, with the verdict ``failed`` where a fault of ours keeps it from an answer. Ctrl-C and `sys.exit` are
    left alone."""
    if issubclass(type(error), _NOT_FAILURES):
        return ()
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
        page = _no_answer(fault, lang) if _may_be_ours(error) else ""
    if target is not None:
        with suppress(OSError, ValueError):  # nobody reads, or the stream is closed
            output.write(page, target)
    return (diagnosis,)


def _compose(errors: list[BaseException], lang: Lang, look: output.Look, page: list[str]) -> None:
    error = errors.pop()
    maybe = _may_be_ours(error)
    try:
        from diagnose.hooks.live import explain

        diagnosis = explain(error, lang=lang)
        del error  # nobody but the program holds it while the answer is laid out
        maybe = _worth_saying(diagnosis) or (diagnosis.report.error is None and maybe)
        if diagnosis.verdict == "failed":
            page += [_no_answer(None, lang)] if maybe else []
        elif _worth_saying(diagnosis):
            from diagnose.rendering.text import render

            page.append("\n" + render(diagnosis, columns=look.columns, color=look.color))
        elif line := _without_gpu(diagnosis):
            page.append(f"\n{line}\n")
    except BaseException as fault:  # of ours, or of the program's own classes
        page += [_no_answer(fault, lang)] if maybe else []


def _worth_saying(diagnosis: Diagnosis) -> bool:
    from diagnose.model import DEVICE_FAMILY

    error = diagnosis.report.error
    return error is not None and error.family == DEVICE_FAMILY


def _without_gpu(diagnosis: Diagnosis) -> str:
    """One line for a program that found no GPU: it can be tried without one."""
    from diagnose.placeholders import named_script
    from diagnose.rendering.labels import LABELS

    named = named_script(diagnosis.report)
    offered = named and any(f"diagnose simulate {named}" in text for text in diagnosis.advice)
    return LABELS[diagnosis.lang]["simulate"].format(script=named) if offered else ""


def _may_be_ours(error: BaseException) -> bool:
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
        return "diagnose: no answer for this failure (a fault of diagnose)\n"
