"""What `diagnose run --verify` and `diagnose explain --verification` are about, and how they give it."""

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
from click.shell_completion import CompletionItem

from diagnose.casebase.store import Casebase
from diagnose.commands.shared import ids, near
from diagnose.errors import BAD_INPUT
from diagnose.inputs import InputError, opened
from diagnose.model import Cause, Frame, Incident, Mismatch, Report
from diagnose.outputs import write
from diagnose.pipeline import diagnose
from diagnose.scene import Scene
from diagnose.sources import Sources
from diagnose.verification.program import any_cause

MOST_GPUS = 64

#: What stands in the head of each snippet.
_MARK = b"from verify import check"


def completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell may complete a report or an id to."""
    named = [CompletionItem(one) for one in ids(ctx, param, incomplete)]
    return [*named, CompletionItem(incomplete, type="file")]


class Meant(NamedTuple):
    """What is to be verified: a cause, and the report and line that it is about where there are some."""

    cause: Cause
    report: Report | None = None
    culprit: Frame | None = None

    @property
    def gpus(self) -> int:
        """How many GPUs it takes to run what it is about."""
        return max(self.cause.gpus, _named(self.report))


def meant(wanted: str, casebase: Casebase, sources: Sources | None) -> Meant:
    """What a report or an id is about.

    Args:
        wanted: the path of a report, ``-`` for standard input, or the id of a cause or an incident; empty
            for all checks.
        casebase: the case base.
        sources: reads the files that a report names.

    Raises:
        click.UsageError: there is neither such a file nor such an id.
        InputError: the report cannot be read, or is of no device-placement failure.
    """
    if not wanted:
        return Meant(any_cause(casebase))
    if incident := casebase.incidents.get(wanted):
        return Meant(casebase.causes[incident.cause], _report_of(incident))
    if cause := casebase.causes.get(wanted):
        return Meant(cause)
    if wanted != "-" and not Path(wanted).exists():
        hint = near(wanted, [*casebase.causes, *casebase.incidents])
        raise click.UsageError(f"{wanted!r} is no file, no cause and no incident.{hint}")
    with opened(wanted) as stream:
        diagnosis = diagnose(stream, wanted, casebase=casebase, sources=sources)
    if not diagnosis.causes:
        raise InputError(f"{wanted} holds no device-placement failure, so there is no cause")
    cause = casebase.causes[diagnosis.causes[0].id]
    place = Scene(diagnosis.report, casebase.knowledge, sources).line_to_edit(cause.edits)
    return Meant(cause, diagnosis.report, place.frame if place else None)


def _named(report: Report | None) -> int:
    """How many GPUs a machine has that has those of a report."""
    devices = report.mismatch.devices if report and report.mismatch else ()
    numbers = (re.fullmatch(r"cuda:(\d{1,2})", device, re.ASCII) for device in devices)
    return min(max((int(found[1]) + 1 for found in numbers if found), default=0), MOST_GPUS)


def _report_of(incident: Incident) -> Report:
    """What a documented incident says of its error, in the form of a report."""
    mismatch = Mismatch(incident.devices, incident.op, incident.argument, wording="")
    return Report(incident.id, mismatch=mismatch)


def written(target: Path, snippet: str) -> None:
    """Writes the snippet; a file that is something else stays as it is."""
    if target.is_file() and _MARK not in target.read_bytes():
        raise click.UsageError(f"{target} exists and is no verification snippet")
    write(snippet, target)
    click.echo(f"{target} written; run it with: python {target} SCRIPT [ARGS]...", err=True)


def run(
    program: str, arguments: list[str], simulated: tuple[int, str] | None, *, recorded: bool
) -> int:
    """Runs a verification program in a process of its own and returns its exit status.

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
    if status == BAD_INPUT and not simulated and find_spec("torch"):
        click.echo("diagnose: add --simulate to run without GPUs", err=True)
    return status if status >= 0 else 128 - status
