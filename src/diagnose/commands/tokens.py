"""``diagnose tokens``: who may write to the store of a service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from diagnose.commands.shared import STORE, Subcommands, fail

if TYPE_CHECKING:
    from diagnose.memory.store import Scope, Store

_SCOPES = ("report", "remember", "triage", "admin")


@click.group(cls=Subcommands)
def tokens() -> None:
    """Issue, list and revoke tokens for `diagnose serve --access read` or `closed`."""


@tokens.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(_SCOPES),
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


@tokens.command(name="list")
@STORE
def listed(store: str | None) -> None:
    """List tokens: id, name, scopes, and until when."""
    from diagnose.rendering.answer import day
    from diagnose.rendering.words import clean

    for token in _opened(store).tokens():
        until = day(token.expires, "en") if token.expires is not None else "-"
        click.echo(f"{token.id}  {clean(token.name)}  {' '.join(sorted(token.scopes))}  {until}")


@tokens.command()
@click.argument("id")
@STORE
def revoke(id: str, store: str | None) -> None:
    """End the token with an ID, as `list` shows it."""
    if not _opened(store).revoke(id):
        fail(f"there is no token {id}")


def _opened(where: str | None) -> Store:
    from diagnose.memory.lookup import location
    from diagnose.memory.redaction import Redacted
    from diagnose.memory.store import Store

    found = location(where)
    if found is None:
        fail("there is no store: --store none")
    return Store(found, lambda text: Redacted(text, {}))  # no text is written
