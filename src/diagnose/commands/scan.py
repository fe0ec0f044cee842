"""``diagnose scan``: the failures of many logs, equal ones together."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diagnose.casebase.store import load
from diagnose.commands.shared import OUTPUT, cores
from diagnose.errors import BAD_INPUT, FAULT, printable
from diagnose.outputs import write
from diagnose.scanning.formats import FORMATS

if TYPE_CHECKING:
    from diagnose.scanning.grouping import Grouping


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="DIR|FILE...")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="Form of the answer.",
)
@click.option(
    "--glob",
    "globs",
    multiple=True,
    metavar="PATTERN",
    help="In folders, read only files with such names ('*.log'); may be given more than once.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help="So many processes; by default one a core, and none beside this one for a single file.",
)
@OUTPUT
def scan(
    paths: tuple[str, ...], form: str, globs: tuple[str, ...], jobs: int | None, output: Path | None
) -> None:
    """Group the failures of all logs in DIRs and FILEs ("-" is standard input).

    Logs may be compressed (gzip, bzip2, xz, zstandard). Equal failures share a fingerprint.

    Exit status: 0 a device failure was diagnosed, 1 only other failures, 3 none, 2 bad usage or input,
    4 a fault of diagnose left none to tell of.
    """
    load()  # an unusable case base is told once, and not by each worker
    grouping = _scanned(paths, globs, jobs)
    write(_rendered(grouping, form), output)
    sys.exit(_status(grouping))


def _scanned(paths: tuple[str, ...], globs: tuple[str, ...], jobs: int | None) -> Grouping:
    from diagnose.scanning import finding, workers
    from diagnose.scanning.grouping import Grouping, problems

    logs = list(finding.logs(paths, globs))
    grouping = Grouping()
    named = "-" in paths
    with click.progressbar(
        length=sum(size for _, size in logs) or 1,
        label=f"{len(logs)} logs",
        file=sys.stderr,
        hidden=not sys.stderr.isatty() or named,
    ) as bar:
        for scanned, size in workers.scan(logs, 1 if named else min(jobs or cores(), len(logs))):
            grouping.add(scanned)
            bar.update(size)
    for problem in problems(grouping):
        click.echo(f"diagnose: {printable(problem)}", err=True)
    return grouping


def _rendered(grouping: Grouping, form: str) -> str:
    columns = max(shutil.get_terminal_size((100, 24)).columns, 80)
    page: str = import_module(FORMATS[form]).render(grouping, columns=columns)
    return page


def _status(grouping: Grouping) -> int:
    """As of an answer; a log that cannot be read or fails among others is told, not an error."""
    if grouping.logs == grouping.unread and grouping.unread:
        return BAD_INPUT
    if not grouping.groups:
        return FAULT if grouping.faults else 3
    return 0 if any(group.first.cause for group in grouping.groups.values()) else 1
