"""``diagnose store``: who may write to it, what it holds, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, get_args

import click

from diagnose.commands.shared import OUTPUT, STORE, Subcommands, fail
from diagnose.memory.records import Scope

if TYPE_CHECKING:
    from diagnose.memory.store import Store


@click.group(cls=Subcommands)
def store() -> None:
    """Tokens, export, import and size of the store that `diagnose serve` and `remember` write to."""


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
    click.echo(_opened(store).issue(name, scopes, days))


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
    if not _opened(store).revoke(id):
        fail(f"there is no token {id}")


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
        added = _opened(store).imported(json.load(file))
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
    click.echo(f"reports: -{_opened(store).evict(most)}")


def _opened(where: str | None) -> Store:
    from diagnose.memory.lookup import location
    from diagnose.memory.redaction import Redacted
    from diagnose.memory.store import Store

    found = location(where)
    if found is None:
        fail("there is no store: --store none")
    return Store(found, lambda text: Redacted(text, {}))  # no text is written
