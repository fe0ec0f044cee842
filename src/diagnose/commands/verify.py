"""`diagnose verify`: prints, writes or runs the verification program of a cause or an incident."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click

from diagnose.casebase.store import Casebase, load
from diagnose.commands.shared import NO_SOURCE, SOURCE, BadInput, ids, near
from diagnose.errors import BAD_INPUT
from diagnose.inputs import InputError, opened
from diagnose.model import Incident, Mismatch, Report
from diagnose.outputs import write
from diagnose.pipeline import diagnose
from diagnose.scene import Scene
from diagnose.sources import Sources, per_report
from diagnose.verification.snippet import any_cause, snippet

MOST_GPUS = 64

_FIRST_WORDS = '"""Verifies on your own GPUs: '


class _ScriptCommand(click.Command):
    """Options may stand before and after ID; what follows SCRIPT belongs to the script.

    An argument that ends in ``.py`` is SCRIPT, also where it is the first one.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the ID, empty where none is given, and SCRIPT last, so that click leaves the rest alone."""
        with_value = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        options: list[str] = []
        waiting = list(args)
        names: list[str] = []
        while waiting and len(names) < 2 and not _is_script(names[-1:]):
            word = waiting.pop(0)
            if word == "--":
                break
            if not word.startswith("-") or word == "-":
                names.append(word)
                continue
            options.append(word)
            if word in with_value and waiting:
                options.append(waiting.pop(0))
        if _is_script(names[:1]):
            names.insert(0, "")
        return super().parse_args(ctx, [*options, "--", *names, *waiting])


def _is_script(names: list[str]) -> bool:
    return any(name.endswith(".py") for name in names)


@click.command(
    "verify",
    cls=_ScriptCommand,
    short_help="Prove on real or simulated GPUs that a cause is mended.",
    options_metavar="[OPTIONS]",
)
@click.argument("identifier", metavar="[ID]", default="", shell_complete=ids)
@click.argument("script", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT.py [ARGS]...]")
@click.option(
    "--from",
    "origin",
    type=click.Path(path_type=str),
    metavar="REPORT",
    help="Take cause, devices, operation and line from a traceback or log.",
)
@SOURCE
@NO_SOURCE
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
    type=click.IntRange(0, MOST_GPUS),
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
    "--trace/--no-trace",
    default=True,
    help="Remember where tensors of SCRIPT are born and moved, and explain its failure.",
)
@click.option(
    "--wording",
    type=click.Choice(["old", "new"]),
    help="The sentences of simulated errors: those of torch before 2.8, or since (the default).",
)
def verify_command(
    identifier: str,
    script: tuple[str, ...],
    origin: str | None,
    source: tuple[str, ...],
    no_source: bool,
    target: Path | None,
    run: bool,
    simulate: bool,
    gpus: int | None,
    steps: int | None,
    trace: bool,
    wording: str | None,
) -> None:
    """Prove that a root cause is mended.

    The cause is that of a REPORT, or ID: a root cause (submodule-added-after-move) or a documented
    incident. Without either, SCRIPT is watched by all checks. The verification program is a Python
    file that needs only torch. It is printed, unless one of these is given:

    \b
      --write FILE      the program goes to FILE
      --run             it runs its own example on this machine's GPUs
      --simulate        it runs its own example on simulated GPUs
      SCRIPT.py ARGS... it runs your script, watched: on this machine's GPUs, or with --simulate

    The exit status of a run is that of the program: 0 PASS, 1 FAIL, 2 not run.
    """
    if not (identifier or origin or script):
        raise click.UsageError("name a cause, a report (--from) or a script")
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
    if script and not Path(script[0]).is_file():
        raise BadInput(f"there is no script {script[0]}")
    sources = per_report(source, off=no_source)()
    target_of = _target(identifier or None, origin, load(), sources)
    program = target_of.program
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
            simulated = (gpus if gpus is not None else target_of.gpus, wording or "new")
        status = _run(program, [*arguments, *script], simulated, recorded=trace and bool(script))
        if status == BAD_INPUT and not simulate and find_spec("torch"):
            click.echo("diagnose: with --simulate it runs without these GPUs", err=True)
        sys.exit(status)


class _Target(NamedTuple):
    """A verification program, and how many GPUs it takes to run what it is about."""

    program: str
    gpus: int


def _target(
    identifier: str | None, origin: str | None, casebase: Casebase, sources: Sources | None
) -> _Target:
    """The program for what an id names, or for the first cause of a report, with the report's facts.

    Raises:
        click.UsageError: there is neither a cause nor an incident of that id.
        InputError: the report cannot be read, or is of no device-placement failure.
    """
    report = cause = culprit = None
    if identifier is not None:
        incident = casebase.incidents.get(identifier)
        if incident:
            report = _report_of(incident)
        cause = casebase.causes.get(incident.cause if incident else identifier)
        if cause is None:
            hint = near(identifier, [*casebase.causes, *casebase.incidents])
            raise click.UsageError(f"no root cause and no incident is called {identifier!r}.{hint}")
    if origin is not None:
        with opened(origin) as stream:
            diagnosis = diagnose(stream, origin, casebase=casebase, sources=sources)
        if not diagnosis.causes:
            raise InputError(f"{origin} holds no device-placement failure, so there is no cause")
        report = diagnosis.report
        cause = cause or casebase.causes[diagnosis.causes[0].id]
        place = Scene(report, casebase.knowledge, sources).line_to_edit(cause.edits)
        culprit = place.frame if place else None
    cause = cause or any_cause(casebase)
    return _Target(snippet(cause, report, culprit, casebase), max(cause.gpus, _named(report)))


def _named(report: Report | None) -> int:
    """How many GPUs a machine has that has those of a report."""
    devices = report.mismatch.devices if report and report.mismatch else ()
    numbers = (re.fullmatch(r"cuda:(\d{1,2})", device, re.ASCII) for device in devices)
    return min(max((int(found[1]) + 1 for found in numbers if found), default=0), MOST_GPUS)


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


def _run(
    program: str, arguments: list[str], simulated: tuple[int, str] | None, *, recorded: bool
) -> int:
    """Runs the program in a process of its own and returns its exit status.

    Args:
        program: the verification program.
        arguments: what it gets.
        simulated: how many GPUs to simulate and in which wording; None for real ones.
        recorded: remember where tensors are born and moved, and explain a failure by it.
    """
    command = [sys.executable]
    if recorded or simulated:
        command += ["-m", "diagnose.hooks.verification" if recorded else "diagnose.simulation"]
    if simulated:
        gpus, wording = simulated
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
