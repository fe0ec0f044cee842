"""One answer to one uncaught exception: within a time, and without ever disturbing the program."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, TextIO

from diagnose.hooks import output

if TYPE_CHECKING:
    from diagnose.model import Diagnosis, Lang

_NOT_FAILURES = (KeyboardInterrupt, SystemExit, GeneratorExit)


class Settings(NamedTuple):  # a dataclass would take longer to import than all of the hook
    """The options of `diagnose.install`."""

    lang: Lang
    stream: TextIO | None
    seconds: float


def answer(error: BaseException | None, settings: Settings) -> None:
    """Print the diagnosis of a device-placement failure; for anything else do nothing.

    Never raises. The work is done in a thread of its own, because a local variable's class may make
    any look at it take forever; after ``settings.seconds`` the program goes on without an answer.
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
        worker.start()
        worker.join(settings.seconds)
        if page:
            output.write(page[0], target)
    except BaseException:  # whatever it is, it is ours and must stay ours
        return


def _compose(errors: list[BaseException], lang: Lang, look: output.Look, page: list[str]) -> None:
    try:
        from diagnose.hooks.live import explain

        diagnosis = explain(errors.pop(), lang=lang)
        if _worth_saying(diagnosis):
            from diagnose.rendering.text import render

            page.append("\n" + render(diagnosis, columns=look.columns, color=look.color))
    except BaseException:
        return


def _worth_saying(diagnosis: Diagnosis) -> bool:
    from diagnose.model import DEVICE_FAMILY

    error = diagnosis.report.error
    return error is not None and error.family == DEVICE_FAMILY
