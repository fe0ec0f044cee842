"""What several subcommands share: options, how bad input ends, how many processes run."""

from __future__ import annotations

import os
from pathlib import Path

import click

from diagnose.errors import BAD_INPUT

LANG = click.option("--lang", type=click.Choice(["en", "zh"]), default="en", envvar="DIAGNOSE_LANG")
OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the answer to FILE.",
)


class BadInput(click.ClickException):
    """Bad usage or input, or a case base that cannot be read; the message is a sentence."""

    exit_code = BAD_INPUT


def cores() -> int:
    """How many processors this process may use; 1 where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
