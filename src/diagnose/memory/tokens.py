"""Who may write, by tokens, of which the store holds digests; and how often anybody may ask."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import cast

from sqlalchemy import delete, select

from diagnose.memory.records import Scope, Token
from diagnose.memory.schema import HitRow, TokenRow
from diagnose.memory.tallies import DAY, upsert
from diagnose.memory.transactions import NAME, Transactions


class Tokens(Transactions):
    """The part of a store that says who may do what."""

    def issue(self, name: str, scopes: Iterable[Scope], by: str, days: int | None = None) -> str:
        """A new token, which is nowhere written down but as a digest.

        Args:
            name: whose it is; what they write bears it.
            scopes: what it allows.
            by: who issues it.
            days: how long; until it is revoked if None.
        """
        secret, now = f"dgn_{secrets.token_urlsafe(32)}", self._now()
        row = TokenRow(
            id=secrets.token_hex(4),
            digest=_sealed(secret),
            name=name[:NAME],
            scopes=" ".join(sorted(scopes)),
            created=now,
            expires=now + days * DAY if days is not None else None,
        )
        with self._writing() as session:
            session.add(row)
            self._log(session, "issue", by, row.id, name=row.name, scopes=row.scopes)
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

    def revoke(self, id: str, by: str) -> bool:
        """Ends a token; False where there is none."""
        with self._writing() as session:
            row = session.get(TokenRow, id)
            if row is not None:
                session.delete(row)
                self._log(session, "revoke", by, id, name=row.name)
            return row is not None

    def hit(self, name: str, seconds: int, amount: int = 1) -> int:
        """Counts requests in, and says how many there were in the window that the first of them began.

        Args:
            name: what they are counted under.
            seconds: how long a window is.
            amount: how many come in.
        """
        now = self._now()
        with self._writing() as session:
            session.execute(delete(HitRow).where(HitRow.until <= now))
            new = upsert(session, HitRow).values(name=name, count=amount, until=now + seconds)
            count = HitRow.count + new.excluded.count
            counted = new.on_conflict_do_update(index_elements=["name"], set_={"count": count})
            return session.scalars(counted.returning(HitRow.count)).one()

    def hits(self, name: str) -> tuple[int, int]:
        """How many requests were counted under a name, and when their window ends."""
        with self._reading() as session:
            row = session.get(HitRow, name)
            return (row.count, row.until) if row is not None else (0, self._now())


def _sealed(secret: str) -> str:
    """The digest of a token: it is random and long, so that no slow digest is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _as_token(row: TokenRow) -> Token:
    scopes = cast("list[Scope]", row.scopes.split())
    return Token(row.id, row.name, frozenset(scopes), row.created, row.expires)
