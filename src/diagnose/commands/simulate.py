"""``diagnose simulate SCRIPT``: a dry run for placement errors on simulated GPUs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import click

from diagnose import tracing
from diagnose.commands.shared import GPUS
from diagnose.hooks.answers import explained
from diagnose.model import Diagnosis, Report
from diagnose.outputs import write


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@GPUS
@click.option(
    "--wording",
    type=click.Choice(["new", "old"]),
    default="new",
    show_default=True,
    help="The message's form: new since torch 2.8, old up to 2.7.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.json",
    help="Write the answer to FILE.json too (docs/json.md).",
)
@click.option("--trace/--no-trace", default=True, help="Remember where tensors are born and moved.")
@click.option(
    "--audit",
    is_flag=True,
    help="After a good run, tell of what is misplaced in silence (docs/tracing.md).",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def simulate(
    gpus: int,
    wording: Literal["new", "old"],
    report: Path | None,
    trace: bool,
    audit: bool,
    script: str,
    args: tuple[str, ...],
) -> None:
    """Run SCRIPT with simulated GPUs: a dry run for placement errors, no GPU needed.

    The script really runs, on the CPU: it reads and writes its files, and takes its time. A failure is
    printed as Python prints it, then explained. The exit status is the script's.
    """
    from diagnose.simulation import TorchMissingError, run_script

    told: list[Diagnosis] = []
    try:
        status = run_script(
            script,
            list(args),
            gpus=gpus,
            wording=wording,
            beside=_audited if audit else tracing.trace if trace else nullcontext,
            failed=lambda error: told.extend(explained(error)),
        )
    except TorchMissingError as error:
        raise click.UsageError(str(error)) from error
    if report is not None:
        from diagnose.rendering.json import render

        write(render(told[0] if told else Diagnosis(Report(script), "no-error")) + "\n", report)
    sys.exit(status)


@contextmanager
def _audited() -> Iterator[None]:
    """A recorded run; what is misplaced in silence is told at its end."""
    from diagnose.rendering.audit import lines
    from diagnose.tracing.auditing import Audit

    with tracing.trace() as recorder, Audit(recorder) as audit:
        yield
    found = list(lines(audit.findings()))
    for line in found or ["diagnose: nothing is misplaced in silence"]:
        print(line, file=sys.stderr)
