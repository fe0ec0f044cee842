"""``diagnose kb``: for contributors: drafts, checks, builds, measures, accounts of answers."""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diagnose.casebase.store import CasebaseError, default_path, load
from diagnose.commands.drafts import new
from diagnose.commands.evaluate import evaluate
from diagnose.commands.shared import JOBS, KB, Subcommands, fail, incident_ids, near
from diagnose.commands.shared import output as output_option
from diagnose.commands.why import why
from diagnose.compiling.kberror import KbError
from diagnose.installation import needs

if TYPE_CHECKING:
    from diagnose.compiling.source import Source


@click.group(cls=Subcommands)
def kb() -> None:
    """Work on the case base: draft, check and build incidents, measure answers, see how they come about."""


for _command in (new, why, evaluate):
    kb.add_command(_command)


@kb.command()
@KB
@output_option("File to write; the one this diagnose reads if left out.")
def build(kb: Path, output: Path | None) -> None:
    """Compile the folder kb/ into the SQLite file that diagnose reads."""
    source = _without_mistakes(kb)
    try:
        target = output or default_path()
    except CasebaseError as error:
        fail(f"{error}; name a file with --output")
    from diagnose.compiling.build import write

    rows = write(source, target)
    click.echo(f"{target}: {rows} rows")


@kb.command()
@KB
@click.option("--run", is_flag=True, help="Also run the incidents on simulated GPUs.")
@JOBS
@click.argument("incidents", nargs=-1, metavar="[INCIDENT]...", shell_complete=incident_ids)
def check(kb: Path, run: bool, jobs: int | None, incidents: tuple[str, ...]) -> None:
    """Check kb/: every mistake, and all that is still to do, with file, line, key and what is allowed.

    Where there is no mistake, what an incident should say and may do without for now is told. A
    mistake is also where an incident's parts disagree: its two languages, its fixes and its texts.

    The examples beside each fact must show it, its counter-examples must not. With INCIDENTs only
    these are told of. With --run they (or all) are run as well: the failing variant must fail with a
    device error, the fixed one must end well, and the snippet of the cause must tell the two apart. A
    table shows it by cause.

    Exit status: 0 all holds, 1 it does not, 2 bad usage.
    """
    known = sorted(path.name for path in (kb / "cases").glob("*/") if path.is_dir())
    _refuse_unknown(incidents, known, kb)
    from diagnose.authoring.agreement import disagreements
    from diagnose.authoring.asked import asked

    source = _source(kb)
    problems = _mistakes(source) if incidents and not run else _checked(source)
    problems = sorted([*problems, *disagreements(source.files)], key=lambda one: one.order)
    wishes = list(asked(source.files, required=False))
    if incidents and not run:
        problems, wishes = (_of(incidents, found) for found in (problems, wishes))
    for problem in problems or wishes:
        click.echo(problem.told(kb))
    where = ", ".join(incidents) if incidents and not run else str(kb)
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        click.echo(f"diagnose: {count} in {where}", err=True)
        sys.exit(1)
    left = f", {len(wishes)} left to do" if wishes else ""
    click.echo(f"{where}: no mistakes{left}")
    if run:
        sys.exit(_run_incidents(kb, source, incidents or tuple(known), jobs))


def _of(incidents: tuple[str, ...], found: list[KbError]) -> list[KbError]:
    """What is about some incidents."""
    folders = tuple(f"cases/{incident}/" for incident in incidents)
    return [one for one in found if one.file.startswith(folders)]


def _checked(source: Source) -> list[KbError]:
    """`_mistakes`, and where there are none, the examples beside the facts that do not hold."""
    from diagnose.authoring.examples import mistakes
    from diagnose.compiling.build import write

    if problems := _mistakes(source):
        return problems
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "casebase.sqlite"
        write(source, compiled, incidents=False)
        return mistakes(source.files, load(compiled).knowledge)


def _source(kb: Path) -> Source:
    """kb/, each file read once."""
    try:
        from diagnose.compiling.source import read
    except ImportError as error:
        if error.name != "pydantic":
            raise
        fail(needs("pydantic", "authoring"))
    return read(kb)


def _without_mistakes(kb: Path) -> Source:
    """kb/, or the end with every mistake told."""
    source = _source(kb)
    if problems := _mistakes(source):
        click.echo("\n".join(problem.told(kb) for problem in problems), err=True)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        fail(f"{count} in {kb}; nothing was written")
    return source


def _mistakes(source: Source) -> list[KbError]:
    """Every mistake and all that has to be done, by file and line; a thing to do is told once."""
    from diagnose.authoring.asked import asked
    from diagnose.authoring.unfinished import unfinished

    left = [*unfinished(source.files), *asked(source.files, required=True)]
    told = {problem.order for problem in left}
    wrong = [problem for problem in source.problems if problem.order not in told]
    return sorted([*wrong, *left], key=lambda problem: problem.order)


def _run_incidents(kb: Path, source: Source, incidents: tuple[str, ...], jobs: int | None) -> int:
    """Runs incidents and prints what does not hold and a table by cause; returns the exit status."""
    from diagnose.authoring.proof import Proof, prove
    from diagnose.commands.proofs import table, told
    from diagnose.compiling.build import write

    if find_spec("torch") is None:
        fail(needs("torch", "torch"))
    proofs: list[Proof] = []
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "casebase.sqlite"
        write(source, compiled)
        try:
            for proof in prove(kb, incidents, casebase=compiled, processes=jobs):
                proofs.append(proof)
                for line in told(proof):
                    click.echo(line)
        except ChildProcessError as error:
            click.echo(f"diagnose: {error}", err=True)
            return 1
    click.echo(f"\n{table(proofs)}")
    return 1 if any(proof.problems for proof in proofs) else 0


@kb.command()
@KB
@click.argument("incidents", nargs=-1, metavar="[INCIDENT]...", shell_complete=incident_ids)
def record(kb: Path, incidents: tuple[str, ...]) -> None:
    """Record what INCIDENTs (or all) print when they fail, as their trace.txt.

    The failing variants run on simulated GPUs. The next build makes the same traceback known again.
    """
    from diagnose.authoring.proof import prove
    from diagnose.compiling.kbfile import TRACE

    known = sorted(path.parent.name for path in (kb / "cases").glob("*/case.toml"))
    _refuse_unknown(incidents, known, kb)
    try:
        for proof in prove(kb, incidents or known, casebase=default_path()):
            prints = proof.failing == 1 and not proof.silent
            if prints:
                trace = kb / "cases" / proof.incident / TRACE
                trace.write_text(proof.printed, encoding="utf-8")
            click.echo(f"{proof.incident}: {'recorded' if prints else 'has no traceback'}")
    except ChildProcessError as error:
        fail(str(error))


@kb.command()
@KB
@click.option("-o", "--output", "url", required=True, metavar="URL", help="The team's database.")
def publish(kb: Path, url: str) -> None:
    """Write the folder kb/ into a team's database; the team's own incidents there stay.

    URL is SQLAlchemy's, such as postgresql+psycopg://user@host/name or sqlite:////srv/cases.sqlite;
    $DIAGNOSE_CASEBASE with the same URL makes diagnose read it.
    """
    source = _without_mistakes(kb)
    from diagnose.compiling.build import write_into

    click.echo(f"{write_into(source, url)} rows")


@kb.command()
@KB
@click.argument(
    "folder", type=click.Path(file_okay=False, path_type=Path), default=Path(".schemas")
)
def schema(kb: Path, folder: Path) -> None:
    """Write JSON Schemas of the files of kb/ for editors, by default into .schemas/.

    The taplo.toml beside them says which is for which file; an editor with taplo (Even Better TOML)
    then offers keys and ids as one types, and marks what is wrong.
    """
    source = _source(kb)
    from diagnose.compiling.schemas import write as write_schemas

    try:
        written = write_schemas(source.files, folder)
    except OSError as error:
        fail(f"{folder} cannot be written: {error.strerror or error}")
    click.echo("\n".join(map(str, written)))


def _refuse_unknown(incidents: tuple[str, ...], known: list[str], kb: Path) -> None:
    """Ends with a sentence where an incident of the command line is none of kb/'s."""
    if unknown := sorted(set(incidents) - set(known)):
        fail(f"no incident {', '.join(unknown)} in {kb}.{near(unknown[0], known)}")
