"""``diagnose scan``: the failures of many logs, equal ones together."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from diagnose.commands.shared import OUTPUT
from diagnose.scanning import answers
from diagnose.scanning.formats import FORMATS
from diagnose.scanning.workers import cores


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
    sys.exit(answers.scan(paths, form, globs, jobs or cores(), output))
