"""``diagnose store``: who may write to it, who has changed what, what it holds, and how much."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, get_args

import click

from diagnose.commands.shared import KB, OUTPUT, STORE, Subcommands, fail
from diagnose.memory.records import FailureError, Scope

if TYPE_CHECKING:
    from diagnose.authoring.drafts import Draft
    from diagnose.casebase.store import Casebase
    from diagnose.memory.store import Store


@click.group(cls=Subcommands)
def store() -> None:
    """Tokens, changes, export and size of the store that `diagnose serve` and `remember` write to."""


@store.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(get_args(Scope)),
    default=("report", "remember"),
    show_default=True,
    help="What it allows; may be given more than once.",
)
@click.option(
    "--days", type=click.IntRange(min=1), help="How long; until it is revoked by default."
)
@STORE
def issue(name: str, scopes: Sequence[Scope], days: int | None, store: str | None) -> None:
    """Print a new token for NAME; it is shown once.

    report sends and keeps reports, remember writes down fixes, triage sets states, merges and splits, admin
    deletes.
    """
    click.echo(_opened(store).issue(name, scopes, getpass.getuser(), days))


@store.command()
@STORE
def tokens(store: str | None) -> None:
    """List tokens: id, name, scopes, and until when."""
    from diagnose.rendering.answer import day
    from diagnose.rendering.words import clean

    for token in _opened(store).tokens():
        until = day(token.expires, "en") if token.expires is not None else "-"
        click.echo(f"{token.id}  {clean(token.name)}  {' '.join(sorted(token.scopes))}  {until}")


@store.command()
@click.argument("id")
@STORE
def revoke(id: str, store: str | None) -> None:
    """End the token with an ID, as `tokens` shows it."""
    if not _opened(store).revoke(id, getpass.getuser()):
        fail(f"there is no token {id}")


@store.command()
@click.option(
    "--most", type=click.IntRange(min=1), default=100, show_default=True, help="How many at most."
)
@STORE
def audit(most: int, store: str | None) -> None:
    """List changes, the latest first: when (UTC), who, what, of which failure, report or token.

    There are merges and splits, states, deleted reports, tokens issued and revoked, evictions, imports.
    """
    import json
    import time

    from diagnose.rendering.words import clean

    for change in _opened(store).changes(limit=most):
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(change.at))
        details = json.dumps(change.details, ensure_ascii=False)
        words = (at, change.by, change.what, change.subject, change.other, details)
        click.echo("  ".join(clean(word) for word in words if word))


@store.command()
@click.option(
    "--units", is_flag=True, help="One fix a line, as a knowledge unit that agents share (cq)."
)
@STORE
@OUTPUT
def export(units: bool, store: str | None, output: Path | None) -> None:
    """Print all failures with their keys and fixes as JSON; reports stay."""
    import json

    from diagnose.memory.exchange import knowledge_units
    from diagnose.outputs import write

    held = _opened(store).exported()
    if units:
        lines = (json.dumps(one, ensure_ascii=False) for one in knowledge_units(held))
        write("".join(f"{line}\n" for line in lines), output)
    else:
        write(json.dumps(held, ensure_ascii=False, indent=1) + "\n", output)


@store.command(name="import")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@STORE
def import_(file: TextIO, store: str | None) -> None:
    """Add what another store exported to FILE, as far as it is missing here."""
    import json

    try:
        added = _opened(store).imported(json.load(file), getpass.getuser())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fail(f"{file.name} is no export of a store: {error}")
    click.echo(f"failures: {added.failures}, fixes: {added.fixes}")


@store.command()
@click.option(
    "--most", type=click.IntRange(min=0), required=True, help="How many reports are left."
)
@STORE
def evict(most: int, store: str | None) -> None:
    """Delete the dullest reports; counts and fixes stay."""
    click.echo(f"reports: -{_opened(store).evict(most, getpass.getuser())}")


@store.command()
@click.argument("failures", nargs=-1, metavar="[FAILURE]...")
@KB
@STORE
def promote(failures: tuple[str, ...], kb: Path, store: str | None) -> None:
    """Draft an incident of each FAILURE (the id in its address): kb/cases/SLUG, with what is remembered
    and TODO for the rest. Without one, of all that somebody has fixed.

    `diagnose kb check SLUG` then says what is left to write. Nothing is overwritten.
    """
    from diagnose.casebase.store import load

    if not (kb / "causes").is_dir():
        fail(f"{kb} is no case base: it has no causes/ folder; name it with --kb")
    held, casebase = _opened(store), load()
    fixed = [one["id"] for one in held.exported()["failures"] if one["fixes"]]
    for id in failures or fixed:
        group = held.group(id)
        if group is None:
            fail(f"there is no failure {id}")
        try:
            made = _draft(held, group.id, kb, casebase)
        except FailureError as error:
            click.echo(f"diagnose: {error}", err=True)
            continue
        try:
            click.echo("\n".join(map(str, made.write(kb))))
        except OSError as error:
            fail(f"{kb / 'cases' / made.slug} cannot be written: {error.strerror or error}")


def _draft(held: Store, id: str, kb: Path, casebase: Casebase) -> Draft:
    """The draft of a failure, from its latest report and from the fix that worked most often.

    Raises:
        FailureError: it has no report or no cause.
    """
    from diagnose.authoring.drafts import draft, proposed_slug
    from diagnose.pipeline import diagnose

    details, seen = held.page(id, limit=1), held.remembered(id)
    stored = held.report(details.reports[0][0]) if details.reports else None
    if stored is None:
        raise FailureError(f"failure {id} has no report left")
    diagnosis = diagnose(stored.input.text, stored.input.source, casebase=casebase)
    known = seen.fixes[0] if seen is not None and seen.fixes else None
    named = known.cause if known is not None else None
    cause = casebase.causes.get(named or next((one.id for one in diagnosis.causes), ""))
    if cause is None:
        raise FailureError(
            f"failure {id} has no cause: `diagnose remember --cause ID` gives it one"
        )
    slug = proposed_slug(diagnosis)
    if (kb / "cases" / slug).exists():
        slug = f"{slug[:47].rstrip('-')}-{id}"
    versions = {library: found[0] for library, found in details.versions.items()}
    return draft(diagnosis, cause, slug, guessed=named is None, known=known, versions=versions)


def _opened(where: str | None) -> Store:
    from diagnose.memory.lookup import location
    from diagnose.memory.redaction import Redacted
    from diagnose.memory.store import Store

    found = location(where)
    if found is None:
        fail("there is no store: --store none")
    return Store(found, lambda text: Redacted(text, {}))  # no text is written
