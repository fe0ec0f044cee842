"""``diagnose cases``: build, check, list and show the case base."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from diagnose.casebase.store import default_path, load
from diagnose.commands.explain import explain
from diagnose.model import Lang

_LANG = click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", envvar="DIAGNOSE_LANG"
)
_KB = click.option(
    "--kb",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("kb"),
    show_default=True,
    help="Folder with the case base's source.",
)


@click.group()
def cases() -> None:
    """Build, check, list and show the case base."""


@cases.command()
@_KB
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; the one this diagnose reads if left out.",
)
def build(kb: Path, output: Path | None) -> None:
    """Compile the folder kb/ into the SQLite file that diagnose reads."""
    from diagnose.casebase.build import InvalidKbError
    from diagnose.casebase.build import build as compile_kb

    target = output or default_path()
    try:
        rows = compile_kb(kb, target)
    except InvalidKbError as error:
        click.echo(str(error), err=True)
        click.echo(
            f"diagnose: {len(error.problems)} mistakes in {kb}; nothing was written", err=True
        )
        sys.exit(2)
    except OSError as error:
        click.echo(f"diagnose: {target} cannot be written: {error.strerror or error}", err=True)
        sys.exit(2)
    click.echo(f"{target}: {rows} rows")


@cases.command()
@_KB
def check(kb: Path) -> None:
    """Check kb/: every mistake with its file, key and reason."""
    from diagnose.casebase.source import read

    source = read(kb)
    for problem in source.problems:
        click.echo(str(problem))
    if source.problems:
        click.echo(f"diagnose: {len(source.problems)} mistakes in {kb}", err=True)
        sys.exit(1)
    click.echo(f"{kb}: no mistakes")


@cases.command("list")
@_LANG
@click.option(
    "--by", type=click.Choice(["id", "cause"]), default="id", help="Group incidents by cause."
)
def list_(lang: Lang, by: str) -> None:
    """List the causes and the documented incidents."""
    casebase = load(lang=lang)
    for cause in casebase.causes.values():
        known = [i for i in casebase.incidents.values() if i.cause == cause.id]
        if by == "cause" or not known:
            click.echo(f"{cause.id:28} {len(known):3}  {cause.title}")
        for incident in known:
            click.echo(f"{'  ' if by == 'cause' else ''}{incident.id:40} {incident.title}")


@cases.command()
@click.argument("ident", metavar="ID")
@_LANG
@click.pass_context
def show(ctx: click.Context, ident: str, lang: Lang) -> None:
    """Show a documented incident or a cause in full."""
    ctx.invoke(explain, ident=ident, lang=lang)
