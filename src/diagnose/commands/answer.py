"""``diagnose FILE...``: the options of an answer."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from diagnose import answers
from diagnose.commands.shared import JOBS, LANG, NO_SOURCE, OUTPUT, SOURCE, STORE
from diagnose.errors import BAD_INPUT, FAULT
from diagnose.inputs import is_grouped
from diagnose.model import Lang
from diagnose.rendering import FORMATS, FULL
from diagnose.scanning import answers as groups
from diagnose.scanning.formats import FORMATS as GROUP_FORMATS
from diagnose.scanning.workers import cores


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=str), metavar="[FILE|DIR]...")
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, *(form for form in GROUP_FORMATS if form not in FORMATS)]),
    default="text",
    show_default=True,
    help="Form of the answer: text is the first look, full all of it, json one object a line; csv is for "
    "folders.",
)
@click.option(
    "--full", is_flag=True, help="All of the answer, as text or, with --format json, as JSON."
)
@click.option(
    "--schema",
    type=click.Choice(["1", "2"]),
    default="2",
    show_default=True,
    help="Of --format json: 1 is that of earlier releases, as --full; it goes with the next one.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 27),
    default=3,
    show_default=True,
    metavar="N",
    help="Show at most N causes.",
)
@LANG
@SOURCE
@NO_SOURCE
@STORE
@OUTPUT
@click.option(
    "--redact", is_flag=True, help="Take secrets, home folders and addresses out of the answer."
)
@click.option(
    "--server",
    metavar="URL",
    help="Report each failure to `diagnose serve`, without secrets; its link is printed, and what is "
    "remembered there.",
)
@click.option(
    "--ask", is_flag=True, help="Where no cause is sure, ask what decides, and rank by the replies."
)
@click.option(
    "--verification",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a snippet of plain torch that verifies the first cause to FILE; - prints it in place of "
    "the answer.",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour; auto means on a terminal, unless NO_COLOR is set.",
)
@click.option(
    "--group/--no-group",
    default=None,
    help="Put equal failures together, of one FILE too, or answer each FILE. By default DIRs and several "
    "FILEs are grouped.",
)
@click.option(
    "--glob",
    "globs",
    multiple=True,
    metavar="PATTERN",
    help="In folders, read only files with such names ('*.log'); may be given more than once.",
)
@JOBS
@click.option(
    "--exit-zero", is_flag=True, help="Exit with 0 whatever was found; faults still show."
)
def answer(
    files: tuple[str, ...],
    form: str,
    full: bool,
    schema: str,
    top: int,
    lang: Lang,
    source: tuple[str, ...],
    no_source: bool,
    store: str | None,
    output: Path | None,
    redact: bool,
    server: str | None,
    ask: bool,
    verification: Path | None,
    color: str,
    group: bool | None,
    globs: tuple[str, ...],
    jobs: int | None,
    exit_zero: bool,
) -> None:
    """Diagnose FILEs, or standard input when none is named ("-" names it too).

    Of DIRs, and of several FILEs, equal failures are put together: how often, in which logs, on which
    ranks. Logs may be compressed (gzip, bzip2, xz, zstandard). With --full or another --format, several
    FILEs are answered one after the other.

    Exit status of an answer: 0 diagnosed, 1 an error but no known cause, 3 no error found; of groups: 0 no
    failure, 1 failures, 3 nothing to read; of both: 2 bad usage or input, 4 internal error.
    """
    form = FULL.get(form, form) if full or (form == "json" and schema == "1") else form
    if group if group is not None else is_grouped(files, form):
        if form not in GROUP_FORMATS:
            raise click.UsageError(f"the forms of a folder's answer are {', '.join(GROUP_FORMATS)}")
        status = groups.scan(files or ("-",), form, globs, jobs or cores(), output, server)
    elif form not in FORMATS or globs:
        raise click.UsageError("--glob and --format csv are for folders")
    else:
        status = answers.answer(
            files,
            form,
            top,
            lang,
            output,
            verification,
            color,
            source,
            no_source,
            ask,
            store,
            redact,
            server,
        )
    sys.exit(0 if exit_zero and status not in (BAD_INPUT, FAULT) else status)
