"""The store, written: reports, what fixed the failures that they are of, and all that its parts do.

Everything is redacted here, before it is written. Writers to SQLite wait for each other, readers never
(WAL).
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from diagnose.memory import lookup, tallies
from diagnose.memory.exchange import Exchange
from diagnose.memory.failures import Failures, current, remove
from diagnose.memory.key import KEY_VERSION, Key, digests, exact, key
from diagnose.memory.lookup import StoreError
from diagnose.memory.records import Input, Kept, News, Stored
from diagnose.memory.redaction import redacted
from diagnose.memory.schema import FixRow, GroupRow, KeyRow, OutcomeRow, RankRow, ReportRow
from diagnose.memory.tallies import DAY, Counted, Tally
from diagnose.memory.tokens import Tokens
from diagnose.memory.transactions import NAME
from diagnose.model import Diagnosis, Outcome, Seen
from diagnose.versions import version as version_of

#: Seconds that a report is there which nobody has kept.
HOUR = 3600
#: The most of a text that somebody writes about a fix.
_TEXT = 4000
_ATTEMPTS = 4
#: So many reports that nobody has kept are there at once: no visitor can fill the disk.
_PASTES = 10_000
#: Reports that one statement deletes.
_AT_ONCE = 500


class Store(Failures, Exchange, Tokens):
    """A store; how it is opened says `diagnose.memory.transactions.Transactions`."""

    def add(self, given: Input) -> str:
        """Stores a report, redacted, for an hour.

        Returns:
            Its id, which nobody can guess.

        Raises:
            StoreError: it cannot be written; so do all other methods.
        """
        given, removed = self._redacted(given)
        with self._writing() as session:
            return self._add(session, given, removed).id

    def record(self, given: Input, diagnosis: Diagnosis) -> Kept:
        """Stores the report of a failure, redacted, for good. The ranks of a job are one report.

        Args:
            given: what was sent.
            diagnosis: its answer, which names an error.
        """
        given, removed = self._redacted(given)  # before the others have to wait
        for _ in range(_ATTEMPTS):
            try:
                with self._writing() as session:
                    kept = self._keep(session, self._add(session, given, removed), diagnosis)
                    _add_ranks(session, kept.id, given.ranks)
                    return kept
            except StoreError as error:  # another rank of the job was as quick
                if not isinstance(error.__cause__, IntegrityError):
                    raise
                failed = error
        raise failed

    def keep(self, id: str, diagnosis: Diagnosis) -> Kept | None:
        """Keeps a stored report for good, so that it counts; None where it has gone or has no error."""
        with self._writing() as session:
            row = session.get(ReportRow, id)
            if row is None or diagnosis.report.error is None:
                return None
            if row.group is not None:
                return Kept(row.id, row.group, False)
            return self._keep(session, row, diagnosis)

    def _add(self, session: Session, given: Input, removed: dict[str, int]) -> ReportRow:
        now = self._now()
        crowded = session.scalar(
            select(ReportRow.expires)
            .where(ReportRow.expires.is_not(None))
            .order_by(ReportRow.expires.desc())
            .offset(_PASTES)
            .limit(1)
        )
        session.execute(
            delete(ReportRow)
            .where(ReportRow.expires <= max(now - 1, crowded or 0))
            .execution_options(synchronize_session=False)
        )
        row = ReportRow(
            id=secrets.token_urlsafe(12),
            received=now,
            expires=now + HOUR,
            job=given.job,
            host=given.host,
            versions={},
            removed=removed,
            input=_packed(given),
        )
        session.add(row)
        return row

    def report(self, id: str) -> Stored | None:
        """A stored report; None where there is none, or no more."""
        with self._reading() as session:
            row = session.get(ReportRow, id)
            if row is None or (row.expires is not None and row.expires < self._now()):
                return None
            return Stored(
                row.id, _unpacked(row.input), row.received, row.expires, row.removed, row.group
            )

    def forget(self, id: str, by: str) -> bool:
        """Deletes a report for good, and with the last one its failure, if nobody has written a fix; False
        where there is none."""
        with self._writing() as session:
            row = session.get(ReportRow, id)
            if row is None:
                return False
            group = row.group
            session.execute(delete(RankRow).where(RankRow.report == id))
            session.delete(row)
            session.flush()
            self._log(session, "delete", by, id)
            if group is not None:
                tallies.add(session, group, _counted(row), -1)
                self._recount(session, group, -1)
                remove(session, group)
            return True

    def evict(self, most: int, by: str) -> int:
        """Deletes the dullest kept reports until at most so many are left; how many went.

        A report is the duller the older it is and the more newer ones its failure has, so that a rare
        failure keeps its only report. Counts, fixes and failures stay.
        """
        with self._writing() as session:
            kept = ReportRow.group.is_not(None)
            total = session.scalar(select(func.count()).select_from(ReportRow).where(kept)) or 0
            if total <= most:
                return 0
            newest = func.row_number().over(
                partition_by=ReportRow.group, order_by=ReportRow.received.desc()
            )
            age = (self._now() - ReportRow.received) // DAY + 1
            dullest = (
                select(ReportRow.id)
                .where(kept)
                .order_by((newest * age).desc(), ReportRow.received, ReportRow.id)
                .limit(total - most)
            )
            gone = list(session.scalars(dullest))
            for table, column in ((RankRow, RankRow.report), (ReportRow, ReportRow.id)):
                for begin in range(0, len(gone), _AT_ONCE):
                    session.execute(delete(table).where(column.in_(gone[begin : begin + _AT_ONCE])))
            self._log(session, "evict", by, count=len(gone))
            return len(gone)

    def _keep(self, session: Session, row: ReportRow, diagnosis: Diagnosis) -> Kept:
        report = diagnosis.report
        assert report.error is not None
        found = key(report)
        group = self._group(session, diagnosis, found)
        if row.job is not None:
            same = session.scalar(
                select(ReportRow).where(ReportRow.group == group, ReportRow.job == row.job)
            )
            if same is not None and same.id != row.id:
                session.expunge(row) if row in session.new else session.delete(row)
                _add_ranks(session, same.id, report.ranks)
                return Kept(same.id, group, False)
        row.group, row.expires, row.versions = group, None, dict(report.versions)
        row.key, row.exact = found.digest, exact(report, found)
        row.message = self._redact(report.error.message[:NAME]).text
        session.flush()
        _add_ranks(session, row.id, report.ranks)
        tallies.add(session, group, _counted(row))
        held = session.get_one(GroupRow, group)
        regressed = held.status == "fixed" and _holds(held.fixed_in, row.versions)
        news: News | None = "regressed" if regressed else None if held.count else "new"
        session.execute(
            update(GroupRow)
            .where(GroupRow.id == group)
            .values(
                count=GroupRow.count + 1,
                last=row.received,
                status="regressed" if regressed else held.status,
            )
        )
        return Kept(row.id, group, True, news)

    def _group(self, session: Session, diagnosis: Diagnosis, found: Key) -> str:
        """The group of a failure, made where there is none. A group that only an older key knows gets
        today's beside it."""
        today = (found.digest, KEY_VERSION)
        for digest, version in digests(diagnosis.report):
            row = session.get(KeyRow, (digest, version))
            if row is not None:
                if version != KEY_VERSION and session.get(KeyRow, today) is None:
                    session.add(KeyRow(digest=today[0], version=today[1], group=row.group))
                return row.group
        facts = self._facts(diagnosis, found)
        now = self._now()
        group = GroupRow(
            id=secrets.token_hex(6),
            cause=diagnosis.causes[0].id if diagnosis.verdict == "diagnosed" else None,
            facts=facts,
            words=_words(facts),
            count=0,
            first=now,
            last=now,
            status="open",
        )
        try:
            with session.begin_nested():  # another process may have just made it
                session.add(group)
                session.flush()
                session.add(KeyRow(digest=today[0], version=today[1], group=group.id))
                session.flush()
        except IntegrityError:
            return session.get_one(KeyRow, today).group
        return group.id

    def _facts(self, diagnosis: Diagnosis, found: Key) -> dict[str, Any]:
        """What is shown of a failure, redacted."""
        error, place = diagnosis.report.error, diagnosis.culprit or diagnosis.site
        assert error is not None
        facts = {
            **found._asdict(),
            "message": error.message[:_TEXT],
            "cause": diagnosis.causes[0].title if diagnosis.causes else "",
            "file": place.file if place else "",
            "function": (place.function or "") if place else "",
            "code": (place.code or "")[:_TEXT] if place else "",
        }
        return redacted(facts, self._redact)[0]

    def _redacted(self, given: Input) -> tuple[Input, dict[str, int]]:
        """What was sent without secrets, and how many of each kind went."""
        removed: dict[str, int] = {}

        def clean(text: str) -> str:
            found = self._redact(text)
            for kind, count in found.removed.items():
                removed[kind] = removed.get(kind, 0) + count
            return found.text

        files = {clean(name): clean(text) for name, text in given.files.items()}
        text, source = clean(given.text), clean(given.source)
        return given._replace(text=text, source=source, files=files), removed

    def seen(self, diagnosis: Diagnosis) -> Seen | None:
        """As `lookup.seen`."""
        return lookup.seen(self.where, diagnosis.report)

    def remember(
        self,
        group: str,
        text: str,
        by: str,
        *,
        outcome: Outcome = "worked",
        commit: str | None = None,
        link: str | None = None,
        cause: str | None = None,
    ) -> None:
        """Writes down what fixed a failure, or what came of a fix that is written down already.

        Args:
            group: the failure.
            text: what fixed it.
            by: who says so.
            outcome: whether it worked as written, changed, or not.
            commit: the change that holds the fix.
            link: where one can read more.
            cause: the id of the cause, where the answer named another.
        """
        clean = self._redact(" ".join(text.split())[:_TEXT]).text
        by, now = by[:NAME], self._now()
        with self._writing() as session:
            group = current(session, group)
            held = session.get_one(GroupRow, group)
            same = select(FixRow.id).where(
                FixRow.group == group,
                or_(FixRow.text == clean, FixRow.revision == commit)
                if commit
                else FixRow.text == clean,
            )
            fix = session.scalar(same)
            if fix is None:
                fix = secrets.token_hex(6)
                session.add(
                    FixRow(
                        id=fix,
                        group=group,
                        text=clean,
                        author=by,
                        at=now,
                        revision=commit and self._redact(commit[:NAME]).text,
                        link=link and self._redact(link[:_TEXT]).text,
                        cause=cause,
                    )
                )
                held.words = f"{held.words} {clean.lower()}"
            session.flush()
            session.add(
                OutcomeRow(id=secrets.token_hex(8), fix=fix, outcome=outcome, author=by, at=now)
            )
            if held.status == "open":
                held.status = "known"


def _counted(row: ReportRow) -> list[Tally]:
    return tallies.tallies([Counted(row.received, row.host, row.versions, row.exact, row.message)])


def _add_ranks(session: Session, report: str, ranks: Sequence[int]) -> None:
    held = set(session.scalars(select(RankRow.rank).where(RankRow.report == report)))
    session.add_all(RankRow(report=report, rank=rank) for rank in {*ranks} - held)


def _holds(fixed_in: str | None, versions: Mapping[str, str]) -> bool:
    """Whether a report is of a version that holds the fix; where none is named, each later one is."""
    library, _, text = (fixed_in or "").partition(" ")
    fixed = version_of(text)
    if fixed is None:
        return True
    found = version_of(versions.get(library, ""))
    return found is not None and found >= fixed


def _words(facts: Mapping[str, Any]) -> str:
    """What a search of groups looks through."""
    texts = (" ".join(one) if isinstance(one, list | tuple) else str(one) for one in facts.values())
    return " ".join(texts).lower()


def _packed(given: Input) -> bytes:
    return zlib.compress(json.dumps(given._asdict()).encode())


def _unpacked(data: bytes) -> Input:
    return Input(**json.loads(zlib.decompress(data)))
