"""``diagnose kb new``: the folder of a new incident, from a traceback."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path

import click

from diagnose.casebase.store import Casebase, load
from diagnose.commands.shared import KB, fail
from diagnose.inputs import InputError, opened
from diagnose.model import DEVICE_FAMILY, Cause, Diagnosis, Report


@click.command()
@click.option(
    "--from", "trace", metavar="FILE", help='The traceback or log; "-" is standard input.'
)
@click.option("--silent", is_flag=True, help="The incident raises no error: there is no trace.")
@click.option(
    "--id", "slug", metavar="SLUG", help="The incident's id; made of the trace if left out."
)
@click.option("--cause", "cause_id", metavar="ID", help="Its root cause; guessed if left out.")
@KB
def new(trace: str | None, silent: bool, slug: str | None, cause_id: str | None, kb: Path) -> None:
    """Draft a new incident: kb/cases/SLUG with what the trace says and TODO for the rest.

    \b
      diagnose kb new --from trace.txt
      diagnose kb new --silent --id my-model-nan --cause meta-tensor

    `diagnose kb check SLUG` then says what is left to write. Nothing is overwritten.
    """
    from diagnose.authoring.drafts import LONGEST_SLUG, SLUG, draft, proposed_slug

    if (trace is None) == (not silent):
        raise click.UsageError("give --from FILE, or --silent for an incident that raises no error")
    if silent and not (slug and cause_id):
        raise click.UsageError("without a trace to read, --silent needs --id and --cause")
    if slug is not None and (not SLUG.fullmatch(slug) or len(slug) > LONGEST_SLUG):
        raise click.UsageError(
            f"--id is lower-case letters and digits with single hyphens between them, at most "
            f"{LONGEST_SLUG} characters, such as peft-adapter-left-on-cpu"
        )
    if not (kb / "causes").is_dir():
        fail(
            f"{kb} is no case base: it has no causes/ folder; run this in a checkout, or name it with --kb"
        )
    casebase = load()
    diagnosis = _diagnosed(trace, casebase)
    cause = _cause(cause_id, diagnosis, casebase)
    slug = slug or proposed_slug(diagnosis)
    try:
        written = draft(diagnosis, cause, slug, guessed=cause_id is None).write(kb)
    except FileExistsError:
        fail(f"{kb / 'cases' / slug} is there already and stays as it is; choose another --id")
    except OSError as error:
        fail(f"{kb / 'cases' / slug} cannot be written: {error.strerror or error}")
    click.echo("\n".join(map(str, written)))
    if diagnosis.nearest:
        near = diagnosis.nearest[0]
        click.echo(
            f"Nearest known incident: {near.id} ({near.similarity:.0%} alike), {near.url}\n"
            "If it is the same, add your address to its sources instead."
        )
    where = "" if kb == Path("kb") else f" --kb {shlex.quote(str(kb))}"
    click.echo(f"What is left to write: diagnose kb check{where} {slug}")


def _diagnosed(trace: str | None, casebase: Casebase) -> Diagnosis:
    """The answer to the trace; an empty one for a silent incident.

    Raises:
        InputError: the trace cannot be read or holds no error.
    """
    if trace is None:
        return Diagnosis(Report("-"), "no-error")
    from diagnose.pipeline import diagnose

    with opened(trace) as stream:
        diagnosis = diagnose(stream, trace, casebase=casebase)
    if diagnosis.report.error is None:
        raise InputError(
            f"{'standard input' if trace == '-' else click.format_filename(trace)} shows no error; "
            "for an incident that raises none: --silent --id SLUG --cause ID"
        )
    return diagnosis


def _cause(cause_id: str | None, diagnosis: Diagnosis, casebase: Casebase) -> Cause:
    """The cause that was asked for, or the first that the answer names."""
    if cause_id is not None and cause_id not in casebase.causes:
        near = difflib.get_close_matches(cause_id, casebase.causes, n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise click.UsageError(f"there is no cause {cause_id!r}{hint} (diagnose explain)")
    if cause_id is not None:
        return casebase.causes[cause_id]
    if diagnosis.causes:
        return casebase.causes[diagnosis.causes[0].id]
    error = diagnosis.report.error
    kind = error.family or "other" if error else "other"
    what = "this device error" if kind == DEVICE_FAMILY else f"this error ({kind})"
    fail(f"no cause can be guessed for {what}; if a device is behind it, name it with --cause ID")
