"""``diagnose FILE...``: the options of an answer."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from diagnose import answers
from diagnose.commands.shared import NO_SOURCE, OUTPUT, SOURCE
from diagnose.model import Lang
from diagnose.rendering import FORMATS


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=str), metavar="[FILE]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Form of the answer: text is the first look, full all of it, json one object a line.",
)
@click.option("--full", is_flag=True, help="Short for --format full: all of it.")
@click.option(
    "--top",
    type=click.IntRange(1, 27),
    default=3,
    show_default=True,
    metavar="N",
    help="Show at most N causes.",
)
@click.option(
    "--lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    envvar="DIAGNOSE_LANG",
    help="Language of the answer.",
)
@SOURCE
@NO_SOURCE
@OUTPUT
@click.option(
    "--ask", is_flag=True, help="Where no cause is sure, ask what decides, and rank by the replies."
)
@click.option(
    "--verification",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the first cause's verification program, filled in from the report, to FILE.",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour; auto means on a terminal, unless NO_COLOR is set.",
)
def answer(
    files: tuple[str, ...],
    form: str,
    full: bool,
    top: int,
    lang: Lang,
    source: tuple[str, ...],
    no_source: bool,
    output: Path | None,
    ask: bool,
    verification: Path | None,
    color: str,
) -> None:
    """Diagnose FILEs, or standard input when none is named ("-" names it too)."""
    if full and form == "text":
        form = "full"
    sys.exit(
        answers.answer(files, form, top, lang, output, verification, color, source, no_source, ask)
    )
