"""`diagnose verify`: prints, writes or runs the verification program of a cause or an incident."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from diagnose.casebase.store import Casebase, load
from diagnose.model import Cause, Incident, Mismatch, Report
from diagnose.outputs import write
from diagnose.verification.snippet import snippet

_FIRST_WORDS = '"""Verifies on your own GPUs: '


class _ScriptCommand(click.Command):
    """Options may stand before and after ID; what follows SCRIPT belongs to the script."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the ID first and a ``--`` before SCRIPT, so that click leaves the rest alone."""
        with_value = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        options: list[str] = []
        waiting = list(args)
        names: list[str] = []
        while waiting and len(names) < 2:
            word = waiting.pop(0)
            if word == "--":
                break
            if not word.startswith("-") or word == "-":
                names.append(word)
                continue
            options.append(word)
            if word in with_value and waiting:
                options.append(waiting.pop(0))
        return super().parse_args(ctx, [*options, "--", *names, *waiting])


@click.command(
    "verify",
    cls=_ScriptCommand,
    short_help="Prove on real or simulated GPUs that a cause is mended.",
    options_metavar="[OPTIONS]",
)
@click.argument("identifier", metavar="ID")
@click.argument("script", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT [ARGS]...]")
@click.option(
    "--write",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the program to FILE instead of printing it.",
)
@click.option("--run", is_flag=True, help="Run the program on this machine's GPUs.")
@click.option("--simulate", is_flag=True, help="Run the program on simulated GPUs.")
@click.option(
    "--gpus",
    type=click.IntRange(0, 64),
    metavar="N",
    help="How many GPUs to run with. By default as many as the cause takes.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="Stop SCRIPT after N steps of its optimizer.",
)
@click.option(
    "--wording",
    type=click.Choice(["old", "new"]),
    help="The sentences of simulated errors: those of torch before 2.8, or since (the default).",
)
def verify_command(
    identifier: str,
    script: tuple[str, ...],
    target: Path | None,
    run: bool,
    simulate: bool,
    gpus: int | None,
    steps: int | None,
    wording: str | None,
) -> None:
    """Prove that a root cause is mended.

    ID is a root cause (submodule-added-after-move) or a documented incident. Its verification
    program is a Python file that needs only torch. It is printed, unless one of these is given:

    \b
      --write FILE      the program goes to FILE
      --run             it runs its own example on this machine's GPUs
      --simulate        it runs its own example on simulated GPUs
      SCRIPT ARGS...    it runs your script, watched: on this machine's GPUs, or with --simulate

    The exit status of a run is that of the program: 0 PASS, 1 FAIL, 2 not run.
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    runs = run or simulate or bool(script)
    if run and simulate:
        raise click.UsageError("--run and --simulate exclude each other")
    if target and runs:
        raise click.UsageError(
            "--write does not run anything: run the written file, or leave it out"
        )
    if wording and not simulate:
        raise click.UsageError("--wording is for --simulate")
    if gpus is not None and not (simulate or script):
        raise click.UsageError("--gpus is for --simulate or a SCRIPT")
    if steps and not script:
        raise click.UsageError("--steps is for a SCRIPT")
    cause, program = _program(identifier, load())
    if target:
        _write(target, program)
    elif not runs:
        click.echo(program, nl=False)
    else:
        arguments = ["--steps", str(steps)] if steps else []
        if gpus is not None and script:
            arguments += ["--gpus", str(gpus)]
        simulated = None
        if simulate:
            simulated = (gpus if gpus is not None else cause.gpus, wording or "new")
        sys.exit(_run(program, [*arguments, *script], simulated))


def _program(identifier: str, casebase: Casebase) -> tuple[Cause, str]:
    """The cause that an id means, and its program.

    Raises:
        click.UsageError: there is neither a cause nor an incident of that id.
    """
    report = None
    incident = casebase.incidents.get(identifier)
    if incident:
        report = _report_of(incident)
    cause = casebase.causes.get(incident.cause if incident else identifier)
    if cause is None:
        raise click.UsageError(f"no root cause and no incident is called {identifier!r}")
    return cause, snippet(cause, report, None, casebase)


def _report_of(incident: Incident) -> Report:
    """What a documented incident says of its error, in the form of a report."""
    mismatch = Mismatch(incident.devices, incident.op, incident.argument, wording="")
    return Report(incident.id, mismatch=mismatch)


def _write(target: Path, program: str) -> None:
    """Writes the program; a file that is something else stays as it is."""
    if target.is_file() and not target.read_bytes().startswith(_FIRST_WORDS.encode()):
        raise click.UsageError(f"{target} exists and is no verification program")
    write(program, target)
    click.echo(f"{target} written; run it with: python {target} [SCRIPT [ARGS]...]", err=True)


def _run(program: str, arguments: list[str], simulated: tuple[int, str] | None) -> int:
    """Runs the program in a process of its own and returns its exit status.

    Args:
        program: the verification program.
        arguments: what it gets.
        simulated: how many GPUs to simulate and in which wording; None for real ones.
    """
    command = [sys.executable]
    if simulated:
        gpus, wording = simulated
        command += ["-m", "diagnose.verification.simulate"]
        command += ["--gpus", str(gpus), "--wording", wording]
    with tempfile.TemporaryDirectory(prefix="diagnose-") as folder:
        path = Path(folder) / "verify.py"
        path.write_text(program, encoding="utf-8")
        with subprocess.Popen([*command, str(path), *arguments]) as process:
            # Ctrl-C is for the program, which then says how far it came.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                status = process.wait()
            finally:
                signal.signal(signal.SIGINT, before)
    return status if status >= 0 else 128 - status
