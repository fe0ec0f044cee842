"""``diagnose cases``: build, check, list and show the case base."""

from __future__ import annotations

import sys
import tempfile
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
@click.option("--run", is_flag=True, help="Also run every incident on simulated GPUs.")
@click.argument("incidents", nargs=-1, metavar="[INCIDENT]...")
def check(kb: Path, run: bool, incidents: tuple[str, ...]) -> None:
    """Check kb/: every mistake with its file, key and reason.

    With --run, INCIDENTs (all if none is named) are run: the failing variant must fail with a device
    error, the fixed one must end well, and the verification program must tell the two apart.
    """
    from diagnose.casebase.source import read

    source = read(kb)
    for problem in source.problems:
        click.echo(str(problem))
    if source.problems:
        click.echo(f"diagnose: {len(source.problems)} mistakes in {kb}", err=True)
        sys.exit(1)
    click.echo(f"{kb}: no mistakes")
    if run:
        sys.exit(_run_incidents(kb, incidents))


def _run_incidents(kb: Path, incidents: tuple[str, ...]) -> int:
    """Runs incidents and prints what does not hold and a table by cause; returns the exit status."""
    from diagnose.casebase.build import build as compile_kb
    from diagnose.casebase.proving import Proof, prove

    known = sorted(path.parent.name for path in (kb / "cases").glob("*/case.toml"))
    unknown = set(incidents) - set(known)
    if unknown:
        click.echo(f"diagnose: no incident {', '.join(sorted(unknown))} in {kb}", err=True)
        return 2
    proofs: list[Proof] = []
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "casebase.sqlite"
        compile_kb(kb, compiled)
        for proof in prove(kb, incidents or known, casebase=compiled):
            proofs.append(proof)
            for problem in proof.problems:
                click.echo(f"{proof.incident}: {problem}")
            if proof.skipped:
                click.echo(f"{proof.incident}: not run, {proof.skipped}")
    click.echo(f"\n{'cause':28} incidents  run  hold  cause first  among three")
    for cause in [*sorted({proof.cause for proof in proofs}), "all"]:
        group = [p for p in proofs if cause in {p.cause, "all"}]
        ran = [p for p in group if not p.skipped]
        hold = sum(not p.problems for p in ran)
        first = sum(p.rank == 1 for p in ran)
        three = sum(p.rank is not None and p.rank <= 3 for p in ran)
        click.echo(f"{cause:28} {len(group):9} {len(ran):4} {hold:5} {first:12} {three:12}")
    return 1 if any(proof.problems for proof in proofs) else 0


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
