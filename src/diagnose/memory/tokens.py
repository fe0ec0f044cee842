"""Who may write: tokens, of which the store holds digests."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import cast

from sqlalchemy import select

from diagnose.memory.records import Scope, Token
from diagnose.memory.schema import TokenRow
from diagnose.memory.tallies import DAY
from diagnose.memory.transactions import NAME, Transactions


class Tokens(Transactions):
    """The part of a store that says who may do what."""

    def issue(self, name: str, scopes: Iterable[Scope], days: int | None = None) -> str:
        """A new token, which is nowhere written down but as a digest.

        Args:
            name: whose it is; what they write bears it.
            scopes: what it allows.
            days: how long; until it is revoked if None.
        """
        secret, now = f"dgn_{secrets.token_urlsafe(32)}", self._now()
        with self._writing() as session:
            session.add(
                TokenRow(
                    id=secrets.token_hex(4),
                    digest=_sealed(secret),
                    name=name[:NAME],
                    scopes=" ".join(sorted(scopes)),
                    created=now,
                    expires=now + days * DAY if days is not None else None,
                )
            )
        return secret

    def tokens(self) -> list[Token]:
        """All tokens, the oldest first."""
        with self._reading() as session:
            rows = session.scalars(select(TokenRow).order_by(TokenRow.created, TokenRow.id))
            return [_as_token(row) for row in rows]

    def token(self, secret: str) -> Token | None:
        """What a token allows; None where there is none, or no more."""
        with self._reading() as session:
            row = session.scalar(select(TokenRow).where(TokenRow.digest == _sealed(secret)))
            if row is None or (row.expires is not None and row.expires < self._now()):
                return None
            return _as_token(row)

    def revoke(self, id: str) -> bool:
        """Ends a token; False where there is none."""
        with self._writing() as session:
            row = session.get(TokenRow, id)
            if row is not None:
                session.delete(row)
            return row is not None


def _sealed(secret: str) -> str:
    """The digest of a token: it is random and long, so that no slow digest is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _as_token(row: TokenRow) -> Token:
    scopes = cast("list[Scope]", row.scopes.split())
    return Token(row.id, row.name, frozenset(scopes), row.created, row.expires)
