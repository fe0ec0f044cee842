"""``diagnose simulate SCRIPT``: a dry run for placement errors on simulated GPUs."""

from __future__ import annotations

import sys
from typing import Literal

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--gpus", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option(
    "--wording",
    type=click.Choice(["new", "old"]),
    default="new",
    show_default=True,
    help="The message's form: new since torch 2.8, old up to 2.7.",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def simulate(gpus: int, wording: Literal["new", "old"], script: str, args: tuple[str, ...]) -> None:
    """Run SCRIPT with simulated GPUs: a dry run for placement errors, no GPU needed.

    The exit status is the script's.
    """
    from diagnose.simulation import TorchMissingError, run_script

    try:
        sys.exit(run_script(script, list(args), gpus=gpus, wording=wording))
    except TorchMissingError as error:
        raise click.UsageError(str(error)) from error
