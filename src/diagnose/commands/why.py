"""``diagnose kb why FILE...``: how the answers came about, for those who work on diagnose."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from diagnose.answers import STATUS, overall
from diagnose.bulkhead import debug, place
from diagnose.casebase.store import Casebase, load
from diagnose.commands.shared import NO_SOURCE, SOURCE, text_or_json
from diagnose.errors import BAD_INPUT, FAULT, DiagnoseError, printable
from diagnose.explaining import json, text
from diagnose.explaining.account import Account, account
from diagnose.inputs import InputError, opened
from diagnose.model import Verdict
from diagnose.outputs import writer
from diagnose.sources import Sources, per_report

Render = Callable[[Account], str]


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=str), metavar="[FILE]...")
@text_or_json("Form of the account; json prints one object a line.")
@SOURCE
@NO_SOURCE
def why(files: tuple[str, ...], form: str, source: tuple[str, ...], no_source: bool) -> None:
    """Tell how the answers to FILEs (or standard input) come about.

    What was peeled off the input, which error was chosen and what spoke against the others, which facts
    hold, what each adds to the first three causes, which edits were considered and why they were refused.
    In English only. The exit status is that of the answer.
    """
    casebase = load()
    sources = per_report(source, off=no_source)
    render = {"text": text.render, "json": json.render}[form]
    statuses: list[int] = []
    with writer(None) as put:
        for number, name in enumerate(files or ("-",)):
            try:
                verdict, page = _account(name, casebase, render, sources())
            except InputError as error:
                print(f"diagnose: {printable(str(error))}", file=sys.stderr)
                statuses.append(BAD_INPUT)
                continue
            except DiagnoseError:
                raise
            except Exception as error:
                debug(f"why {name} failed", error)
                fault = f"diagnose: {name}: internal error: {place(error)}"
                print(printable(fault), file=sys.stderr)
                statuses.append(FAULT)
                continue
            put("\n" if number and form == "text" else "")
            put(page)
            statuses.append(STATUS[verdict])
    sys.exit(overall(statuses))


def _account(
    name: str, casebase: Casebase, render: Render, sources: Sources | None
) -> tuple[Verdict, str]:
    with opened(name) as stream:
        made = account(stream, name, casebase, sources)
    return made.diagnosis.verdict, render(made)
