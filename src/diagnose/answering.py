"""Files or standard input in, answers out: what ``diagnose FILE...`` does, without its options' parsing."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from diagnose.casebase.store import Casebase, CasebaseError, load
from diagnose.inputs import InputError, opened
from diagnose.model import Diagnosis, Lang
from diagnose.pipeline import diagnose

#: Exit statuses of the contract, by verdict; bad usage or input is 2.
STATUS = {"diagnosed": 0, "unknown": 1, "no-error": 3}
BAD_INPUT = 2


class UsageError(Exception):
    """A failure that is the user's to mend; the message is a sentence. Exit status `BAD_INPUT`."""


def answer(
    files: tuple[str, ...] = (),
    form: str = "text",
    top: int = 3,
    lang: Lang = "en",
    output: Path | None = None,
    verification: Path | None = None,
    color: str = "auto",
) -> int:
    """Prints the answers to files, or to standard input when none is named.

    Args:
        files: paths; ``-`` is standard input.
        form: ``text``, ``json`` or ``markdown``.
        top: how many causes an answer shows at most.
        lang: language of the answer.
        output: where the answers go instead of standard output.
        verification: where the first cause's verification program is written.
        color: ``auto``, ``always`` or ``never``.

    Returns:
        The exit status. Inputs that cannot be read are told on standard error and give `BAD_INPUT`.

    Raises:
        UsageError: the case base cannot be read, or the output cannot be written.
    """
    try:
        casebase = load(lang=lang)
    except CasebaseError as error:
        raise UsageError(str(error)) from error
    painted = color == "always" or (
        color == "auto"
        and output is None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
    )
    answers: list[Diagnosis] = []
    statuses: list[int] = []
    with _writer(output) as write:
        for name in files or ("-",):
            try:
                diagnosis = _answered(name, casebase, top)
            except InputError as error:
                print(f"diagnose: {error}", file=sys.stderr)
                statuses.append(BAD_INPUT)
                continue
            if answers and form == "text":
                write("\n")
            if len(files) > 1 and form == "text":
                write(f"── {name}\n")
            write(_rendered(diagnosis, form, painted))
            answers.append(diagnosis)
            statuses.append(STATUS[diagnosis.verdict])
    if verification is not None:
        _write_verification(verification, answers, casebase)
    return _status(statuses)


def _status(statuses: list[int]) -> int:
    """The status for several inputs: bad input first, then the best verdict."""
    return BAD_INPUT if BAD_INPUT in statuses else min(statuses)


def _rendered(diagnosis: Diagnosis, form: str, color: bool) -> str:
    if form == "json":
        from diagnose.rendering import json

        return json.render(diagnosis) + "\n"
    if form == "markdown":
        from diagnose.rendering import markdown

        return markdown.render(diagnosis)
    from diagnose.rendering import text

    return text.render(diagnosis, columns=_columns(), color=color)


def _columns() -> int:
    """The terminal's width, at least 80 so that paths stay readable, at most 120 for the eye."""
    if "COLUMNS" not in os.environ and not sys.stdout.isatty():
        return 80
    import shutil

    return min(max(shutil.get_terminal_size((80, 24)).columns, 80), 120)


def _answered(name: str, casebase: Casebase, top: int) -> Diagnosis:
    """The answer to a file or to standard input.

    Raises:
        InputError: there is no such file, it is a directory, empty, binary or unreadable.
    """
    with opened(name) as stream:
        return diagnose(stream, name, casebase=casebase, top=top)


@contextlib.contextmanager
def _writer(output: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes text to the output file or to standard output."""
    if output is None:
        stream = sys.stdout
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        yield stream.write
        stream.flush()
        return
    try:
        with output.open("w", encoding="utf-8") as file:
            yield file.write
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}") from error


def _write_verification(path: Path, answers: list[Diagnosis], casebase: Casebase) -> None:
    cause = next((d.causes[0] for d in answers if d.causes), None)
    if cause is None:
        print("diagnose: no cause was found, so there is nothing to verify", file=sys.stderr)
        return
    try:
        path.write_text(cause.verification, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
