"""Files or standard input in, answers out: what ``diagnose FILE...`` does, without its options' parsing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from diagnose.bulkhead import debug
from diagnose.casebase.store import Casebase, load
from diagnose.errors import BAD_INPUT, FAULT, FOUND, NOTHING, DiagnoseError, printable
from diagnose.inputs import InputError, opened
from diagnose.memory import lookup
from diagnose.model import Diagnosis, Lang, Report, Verdict
from diagnose.outputs import columns, is_terminal, takes_links, write, writer
from diagnose.pipeline import diagnose, explain, failed
from diagnose.ranking.questions import Answers
from diagnose.rendering import FORMATS
from diagnose.rendering.labels import LABELS
from diagnose.sources import Sources, per_report

#: Exit statuses of the contract, by verdict; bad usage or input is `BAD_INPUT`.
STATUS = {"diagnosed": 0, "unknown": FOUND, "no-error": NOTHING, "failed": FAULT}
#: Columns of a text; the eye loses the line beyond.
_WIDEST = 120
#: Forms whose answers to several inputs follow each other with a blank line and a title.
_FOR_PEOPLE = ("text", "full")
#: Where a snippet goes that is printed.
_PRINTED = Path("-")


def answer(
    files: tuple[str, ...] = (),
    form: str = "text",
    top: int = 3,
    lang: Lang = "en",
    output: Path | None = None,
    verification: Path | None = None,
    color: str = "auto",
    folders: tuple[str, ...] = (),
    no_source: bool = False,
    ask: bool = False,
    store: str | None = None,
    redact: bool = False,
    server: str | None = None,
) -> int:
    """Prints the answers to files, or to standard input when none is named.

    Args:
        files: paths; ``-`` is standard input.
        form: one of `diagnose.rendering.FORMATS`.
        top: how many causes an answer shows at most.
        lang: language of the answer.
        output: where the answers go instead of standard output.
        verification: where the first cause's snippet is written; ``-`` prints it in place of the answers.
        color: ``auto``, ``always`` or ``never``.
        folders: where else the files lie that the inputs name.
        no_source: whether no such file is read, wherever it lies.
        ask: whether the questions of an answer are put on the terminal.
        store: where earlier failures are remembered, as for `diagnose.memory.lookup.location`.
        redact: whether secrets are taken out of the answers.
        server: the address of a service that each failure is reported to, redacted.

    Returns:
        The exit status. Inputs that cannot be read are told on standard error and give `BAD_INPUT`;
        one that a fault of ours leaves without an answer has the verdict ``failed`` and gives `FAULT`.

    Raises:
        CasebaseError: the case base cannot be read.
        OutputError: the output cannot be written.
        DiagnoseError: one of the folders is not there, or there is no terminal to ``ask`` on.
    """
    sources = per_report(folders, off=no_source)
    casebase = load(lang=lang)
    painted = color == "always" or (
        color == "auto"
        and output is None
        and is_terminal(sys.stdout)
        and not os.environ.get("NO_COLOR")
    )
    answers: list[Diagnosis] = []
    statuses: list[int] = []
    with writer(output) as put:
        for name in files or ("-",):
            try:
                diagnosis = _answered(name, casebase, top, sources())
                if ask and diagnosis.questions:
                    diagnosis = _settled(diagnosis, casebase, top, sources)
            except InputError as error:
                print(f"diagnose: {printable(str(error))}", file=sys.stderr)
                statuses.append(BAD_INPUT)
                continue
            diagnosis = _remembered(diagnosis, store)
            if server is not None and diagnosis.report.error is not None:
                diagnosis = _reported(diagnosis, server)
            if redact:
                diagnosis = _redacted(diagnosis, casebase)
            if answers and form in _FOR_PEOPLE:
                put("\n")
            if len(files) > 1 and form in _FOR_PEOPLE:
                put(f"── {diagnosis.report.source}\n")
            page, verdict = _rendered(diagnosis, form, painted, output is None)
            if verification != _PRINTED:
                put(page)
            answers.append(diagnosis)
            statuses.append(STATUS[verdict])
    if verification is not None:
        _write_verification(verification, answers, casebase)
    return overall(statuses)


def _remembered(diagnosis: Diagnosis, store: str | None) -> Diagnosis:
    """The answer with what a store remembers; one that cannot be read costs nothing else."""
    try:
        return lookup.remembered(diagnosis, lookup.location(store))
    except lookup.StoreError as error:
        print(f"diagnose: {printable(str(error))}", file=sys.stderr)
        return diagnosis


def _redacted(diagnosis: Diagnosis, casebase: Casebase) -> Diagnosis:
    """The answer without secrets; what went is said on standard error."""
    from diagnose.memory.redaction import redacted, redactor, said

    redaction = casebase.redaction()
    found, removed = redacted(diagnosis, redactor(redaction.rules))
    if removed:
        print(
            LABELS[casebase.lang]["redacted"].format(what=said(removed, redaction.kinds)),
            file=sys.stderr,
        )
    return found


def _reported(diagnosis: Diagnosis, server: str) -> Diagnosis:
    """Reports a failure; the answer with what the service remembers, where no store at hand does. That it
    could not be reported costs no answer."""
    from diagnose.memory.sending import SendingError, send

    try:
        sent = send(server, diagnosis)
        print(LABELS[diagnosis.lang]["sent"].format(url=printable(sent.url)), file=sys.stderr)
        return diagnosis._replace(seen=diagnosis.seen or sent.seen)
    except SendingError as error:
        print(f"diagnose: {printable(str(error))}", file=sys.stderr)
        return diagnosis


def overall(statuses: list[int]) -> int:
    """The status for several inputs: bad input first, then a fault of ours, then the best verdict."""
    return next((one for one in (BAD_INPUT, FAULT) if one in statuses), min(statuses))


def _rendered(diagnosis: Diagnosis, form: str, color: bool, printed: bool) -> tuple[str, Verdict]:
    """The answer in its form, and the verdict that it tells."""
    try:
        return _page(diagnosis, form, color, printed), diagnosis.verdict
    except Exception as error:
        from diagnose.rendering import failed as last_resort

        debug(f"rendering as {form} failed", error)
        return last_resort.render(diagnosis.report.source, form, diagnosis.lang), "failed"


def _page(diagnosis: Diagnosis, form: str, color: bool, printed: bool) -> str:
    """The answer in its form, whose last line ends."""
    links = {"links": True} if form == "text" and color and printed and takes_links() else {}
    page: str = import_module(FORMATS[form]).render(
        diagnosis, columns=min(columns(), _WIDEST), color=color, **links
    )
    return page if page.endswith("\n") else page + "\n"


def _answered(name: str, casebase: Casebase, top: int, sources: Sources | None) -> Diagnosis:
    """The answer to a file or to standard input.

    Raises:
        InputError: there is no such file, it is a directory, empty, binary or unreadable.
    """
    try:
        with opened(name) as stream:
            return diagnose(stream, name, casebase=casebase, top=top, sources=sources)
    except DiagnoseError:
        raise
    except Exception as error:
        return failed(Report(name), "reading", error, casebase.lang)


def _settled(
    diagnosis: Diagnosis, casebase: Casebase, top: int, sources: Callable[[], Sources | None]
) -> Diagnosis:
    """The answer when its questions were put on the terminal.

    Raises:
        NoTerminalError: there is none.
    """
    from diagnose.asking import settled

    def again(answers: Answers) -> Diagnosis:
        return explain(
            diagnosis.report, casebase=casebase, top=top, sources=sources(), answers=answers
        )

    return settled(diagnosis, again)


def _write_verification(path: Path, answers: list[Diagnosis], casebase: Casebase) -> None:
    cause = next((d.causes[0] for d in answers if d.causes), None)
    if cause is None or not cause.verification:
        why = "no cause was found, so there is" if cause is None else "an internal error left"
        print(f"diagnose: {why} nothing to verify", file=sys.stderr)
        return
    write(cause.verification, None if path == _PRINTED else path)
