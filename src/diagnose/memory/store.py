"""The store, written: reports, the failures that they are of, what fixed these, merges by hand.

Everything is redacted here, before it is written. Each method is one transaction; writers to SQLite wait
for each other, readers never (WAL).
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import Engine, case, delete, event, func, inspect, or_, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import InstrumentedAttribute, Session

from diagnose.casebase.connection import CasebaseError, connect, displayed, engine_of
from diagnose.memory import lookup, schema
from diagnose.memory.key import KEY_VERSION, Key, agreeing, digests, exact, key
from diagnose.memory.lookup import StoreError
from diagnose.memory.redaction import Redacted, redacted
from diagnose.memory.schema import (
    FixRow,
    GroupRow,
    KeyRow,
    MergeRow,
    OutcomeRow,
    RankRow,
    ReportRow,
    TokenRow,
)
from diagnose.migrating import migrate
from diagnose.model import Diagnosis, Outcome, Seen, Status
from diagnose.versions import version as version_of

#: Seconds that a report is there which nobody has kept.
HOUR = 3600
#: The most of a text that somebody writes about a fix, and of the shorter ones.
_TEXT, _NAME = 4000, 200
_BUSY = 30
_ATTEMPTS = 4
#: So many reports that nobody has kept are there at once: no visitor can fill the disk.
_PASTES = 10_000
#: Reports of a failure whose ranks and versions its page names.
_LATEST = 500
#: Reports that one statement deletes.
_AT_ONCE = 500
_DAY = 86400
Redact = Callable[[str], Redacted]
#: What a token allows: to send and keep reports, to write down fixes, to change failures, to delete.
Scope = Literal["report", "remember", "triage", "admin"]


class FailureError(Exception):
    """A failure that is not there, or that cannot be merged or divided so; the message is a sentence."""


class Input(NamedTuple):
    """What was diagnosed, and who sent it: the text, its name, the files that came along, the replies to
    questions; ``job`` names all ranks of one run."""

    text: str
    source: str = "-"
    lang: str = "en"
    files: Mapping[str, str] = {}  # nobody changes it
    answers: Mapping[str, int] = {}
    host: str | None = None
    job: str | None = None
    ranks: Sequence[int] = ()


class Kept(NamedTuple):
    """A report that is kept: its id, its group, and False where its job had a report already."""

    id: str
    group: str
    new: bool


class Stored(NamedTuple):
    """A report as it is stored: its input, redacted, what was taken out, by kind, and until when it is
    there (None: for good); ``group`` is None where it is not kept."""

    id: str
    input: Input
    received: int
    expires: int | None
    removed: Mapping[str, int]
    group: str | None


class Token(NamedTuple):
    """Who may do what, until when (None: until it is revoked)."""

    id: str
    name: str
    scopes: frozenset[Scope]
    created: int
    expires: int | None


class Group(NamedTuple):
    """A failure as lists and its page show it."""

    id: str
    facts: Mapping[str, Any]
    cause: str | None
    count: int  # type: ignore[assignment]  # nobody asks this for tuple.count
    first: int
    last: int
    status: Status
    fixed_in: str | None


class Merge(NamedTuple):
    """A merge or split by hand: of which group, the facts that agreed, by whom and when."""

    kind: str
    kept: str
    other: str
    agreed: Sequence[str]
    by: str
    at: int


class Imported(NamedTuple):
    """How many failures and fixes were new."""

    failures: int
    fixes: int


class Page(NamedTuple):
    """The details of a group: the latest reports, ranks, versions, reports by day and merges."""

    reports: Sequence[tuple[str, int, str | None]]
    ranks: Sequence[int]
    versions: Mapping[str, Sequence[str]]
    days: Sequence[tuple[int, int]]
    merges: Sequence[Merge]
    variants: Sequence[tuple[str, int, str]]


class Store:
    """A store at a path or database URL.

    Args:
        where: its location.
        redact: takes out of a text what nobody else may read.
        now: the clock, in seconds since 1970.

    Raises:
        StoreError: it cannot be opened, or holds a schema version that there is no way from.
    """

    def __init__(self, where: str, redact: Redact, now: Callable[[], float] = time.time) -> None:
        self.where = where
        self._redact = redact
        self._now: Callable[[], int] = lambda: int(now())
        self._url = lookup.url(where)
        try:
            if self._url.startswith("sqlite:///"):
                Path(self._url.removeprefix("sqlite:///")).parent.mkdir(
                    mode=0o700, parents=True, exist_ok=True
                )
            self._engine = _prepared(engine_of(self._url))
            self._upgrade()
        except CasebaseError as error:
            raise StoreError(f"the store {displayed(where)} cannot be opened: {error}") from error
        except (SQLAlchemyError, ImportError, OSError) as error:
            raise StoreError(
                f"the store {displayed(where)} cannot be opened: {_reason(error)}"
            ) from error

    @property
    def shown(self) -> str:
        """Its location as it may be shown: without a password."""
        return displayed(self.where)

    def close(self) -> None:
        """Gives its connections back; a forked process opens its own."""
        self._engine.dispose()

    # --- reports ----------------------------------------------------------------------------------

    def add(self, given: Input) -> str:
        """Stores a report, redacted, for an hour.

        Returns:
            Its id, which nobody can guess.

        Raises:
            StoreError: it cannot be written; so do all other methods.
        """
        with self._writing() as session:
            return self._add(session, given).id

    def record(self, given: Input, diagnosis: Diagnosis) -> Kept:
        """Stores the report of a failure, redacted, for good. The ranks of a job are one report.

        Args:
            given: what was sent.
            diagnosis: its answer, which names an error.
        """
        for _ in range(_ATTEMPTS):
            try:
                with self._writing() as session:
                    kept = self._keep(session, self._add(session, given), diagnosis)
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

    def _add(self, session: Session, given: Input) -> ReportRow:
        removed: dict[str, int] = {}
        given = self._redacted(given, removed)
        now = self._now()
        crowded = (
            select(ReportRow.id)
            .where(ReportRow.expires.is_not(None))
            .order_by(ReportRow.expires.desc())
            .offset(_PASTES)
            .limit(_AT_ONCE)
        )
        session.execute(
            delete(ReportRow)
            .where(or_(ReportRow.expires < now, ReportRow.id.in_(crowded)))
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

    def forget(self, id: str) -> bool:
        """Deletes a report for good; False where there is none."""
        with self._writing() as session:
            row = session.get(ReportRow, id)
            if row is None:
                return False
            group = row.group
            session.execute(delete(RankRow).where(RankRow.report == id))
            session.delete(row)
            session.flush()
            if group is not None:
                self._recount(session, group, -1)
            return True

    def evict(self, most: int) -> int:
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
            age = (self._now() - ReportRow.received) // _DAY + 1
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
        row.message = self._redact(report.error.message[:_NAME]).text
        session.flush()
        _add_ranks(session, row.id, report.ranks)
        held = session.get_one(GroupRow, group)
        regressed = held.status == "fixed" and _holds(held.fixed_in, row.versions)
        session.execute(
            update(GroupRow)
            .where(GroupRow.id == group)
            .values(
                count=GroupRow.count + 1,
                last=row.received,
                status="regressed" if regressed else held.status,
            )
        )
        return Kept(row.id, group, True)

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

    def _redacted(self, given: Input, removed: dict[str, int]) -> Input:
        def clean(text: str) -> str:
            found = self._redact(text)
            for kind, count in found.removed.items():
                removed[kind] = removed.get(kind, 0) + count
            return found.text

        files = {clean(name): clean(text) for name, text in given.files.items()}
        return given._replace(text=clean(given.text), source=clean(given.source), files=files)

    # --- what is remembered -----------------------------------------------------------------------

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
        by, now = by[:_NAME], self._now()
        with self._writing() as session:
            group = _current(session, group)
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
                        revision=commit and self._redact(commit[:_NAME]).text,
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

    def mark(self, group: str, status: Status, fixed_in: str | None = None) -> None:
        """Sets the status of a failure; ``fixed_in`` is a library and a version (``transformers 4.44``), or
        any other text."""
        with self._writing() as session:
            held = session.get_one(GroupRow, _current(session, group))
            held.status = status
            held.fixed_in = (fixed_in or "").strip()[:_NAME] or None if status == "fixed" else None

    # --- groups -----------------------------------------------------------------------------------

    def group(self, id: str) -> Group | None:
        """A failure; of one that was merged into another, that other."""
        with self._reading() as session:
            row = session.get(GroupRow, id)
            while row is not None and row.merged is not None:
                row = session.get(GroupRow, row.merged)
            return _as_group(row) if row is not None else None

    def groups(
        self, query: str = "", status: str = "", offset: int = 0, limit: int = 50
    ) -> tuple[list[Group], int]:
        """The failures that hold all words, the latest first, and how many there are in all."""
        wanted = [GroupRow.merged.is_(None), GroupRow.count > 0]
        for word in query.lower().split()[:20]:
            wanted.append(GroupRow.words.contains(word, autoescape=True))
        if status:
            wanted.append(GroupRow.status == status)
        with self._reading() as session:
            total = session.scalar(select(func.count()).select_from(GroupRow).where(*wanted))
            rows = session.scalars(
                select(GroupRow)
                .where(*wanted)
                .order_by(GroupRow.last.desc(), GroupRow.id)
                .offset(offset)
                .limit(limit)
            )
            return [_as_group(row) for row in rows], total or 0

    def totals(self) -> Mapping[str, Mapping[str, int]]:
        """How many reports there are, kept and for an hour, failures by status, and outcomes of fixes."""
        with self._reading() as session:
            kept = case((ReportRow.group.is_not(None), "yes"), else_="no")
            return {
                name: {str(label): count for label, count in session.execute(query)}
                for name, query in {
                    "reports": select(kept, func.count()).group_by(kept),
                    "failures": select(GroupRow.status, func.count())
                    .where(GroupRow.merged.is_(None))
                    .group_by(GroupRow.status),
                    "outcomes": select(OutcomeRow.outcome, func.count()).group_by(
                        OutcomeRow.outcome
                    ),
                }.items()
            }

    def remembered(self, id: str) -> Seen | None:
        """What is remembered of a group."""
        return lookup.of_group(connect(self._url), id)

    def page(self, id: str, limit: int = 50, offset: int = 0) -> Page:
        """The details of a group, with so many of its reports."""
        with self._reading() as session:
            mine = ReportRow.group == id
            reports = session.execute(
                select(ReportRow.id, ReportRow.received, ReportRow.host)
                .where(mine)
                .order_by(ReportRow.received.desc(), ReportRow.id)
                .offset(offset)
                .limit(limit)
            )
            latest = (
                select(ReportRow.id).where(mine).order_by(ReportRow.received.desc()).limit(_LATEST)
            )
            ranks = session.scalars(
                select(RankRow.rank)
                .where(RankRow.report.in_(latest))
                .distinct()
                .order_by(RankRow.rank)
            )
            versions: dict[str, dict[str, None]] = {}
            for found in session.scalars(
                select(ReportRow.versions)
                .where(mine)
                .order_by(ReportRow.received.desc())
                .limit(_LATEST)
            ):
                for library, version in found.items():
                    versions.setdefault(library, {})[version] = None
            days = session.execute(
                select((ReportRow.received // _DAY).label("day"), func.count())
                .where(mine)
                .group_by("day")
                .order_by("day")
            )
            merges = session.scalars(
                select(MergeRow)
                .where(or_(MergeRow.kept == id, MergeRow.other == id))
                .order_by(MergeRow.at.desc())
            )
            variants = session.execute(
                select(ReportRow.exact, func.count(), func.min(ReportRow.message))
                .where(mine)
                .group_by(ReportRow.exact)
                .order_by(func.count().desc())
                .limit(limit)
            )
            return Page(
                [(id, at, host) for id, at, host in reports],
                list(ranks),
                {library: list(found) for library, found in versions.items()},
                [(int(day), count) for day, count in days],
                [
                    Merge(row.kind, row.kept, row.other, row.agreed["facts"], row.author, row.at)
                    for row in merges
                ],
                [(exact or "", count, said or "") for exact, count, said in variants],
            )

    def merge(self, kept: str, other: str, by: str) -> Sequence[str]:
        """Makes one failure of two, for good: keys, reports and fixes of ``other`` become ``kept``'s.

        Returns:
            The names of the facts that agree.

        Raises:
            FailureError: there are no two such groups.
        """
        with self._writing() as session:
            kept, other = _current(session, kept), _current(session, other)
            if kept == other:
                raise FailureError("these two are one failure already")
            one, two = session.get_one(GroupRow, kept), session.get_one(GroupRow, other)
            agreed = _agreed(one, two)
            ours = select(ReportRow.job).where(ReportRow.group == kept, ReportRow.job.is_not(None))
            session.execute(  # a job that has a report of each keeps both
                update(ReportRow)
                .where(ReportRow.group == other, ReportRow.job.in_(ours))
                .values(job=None)
            )
            for table in (KeyRow, ReportRow, FixRow):
                _move(session, table.group, other, kept)
            two.merged = kept
            one.words = f"{one.words} {two.words}"
            self._log(session, "merge", kept, other, agreed, by)
            first = min(one.first, two.first)
            self._recount(session, kept, two.count)
            one.first = first
            return agreed

    def split(self, group: str, variant: str, by: str) -> str:
        """Makes the reports of one exact key a failure of their own, for good.

        Returns:
            The new group.

        Raises:
            FailureError: the group has no such reports, or no others.
        """
        with self._writing() as session:
            group = _current(session, group)
            held = session.get_one(GroupRow, group)
            mine = (ReportRow.group == group, ReportRow.exact == variant)
            first = session.scalar(
                select(ReportRow).where(*mine).order_by(ReportRow.received).limit(1)
            )
            others = session.scalar(
                select(ReportRow.id)
                .where(ReportRow.group == group, ReportRow.exact != variant)
                .limit(1)
            )
            if first is None or others is None:
                raise FailureError("there are no two kinds of reports to divide")
            made = GroupRow(
                id=secrets.token_hex(6),
                cause=held.cause,
                facts=held.facts,
                words=held.words,
                count=0,
                first=first.received,
                last=first.received,
                status="open",
            )
            session.add(made)
            session.flush()
            session.merge(KeyRow(digest=variant, version=KEY_VERSION, group=made.id))
            moved = session.scalar(select(func.count()).select_from(ReportRow).where(*mine)) or 0
            session.execute(update(ReportRow).where(*mine).values({ReportRow.group: made.id}))
            self._log(session, "split", group, made.id, (), by)
            self._recount(session, group, -moved)
            self._recount(session, made.id, moved)
            return made.id

    def _log(
        self, session: Session, kind: str, kept: str, other: str, agreed: Sequence[str], by: str
    ) -> None:
        session.add(
            MergeRow(
                id=secrets.token_hex(8),
                kind=kind,
                kept=kept,
                other=other,
                agreed={"facts": list(agreed)},
                author=by[:_NAME],
                at=self._now(),
            )
        )
        session.flush()

    def _recount(self, session: Session, group: str, change: int) -> None:
        """Counts ``change`` more reports in, and looks anew for the first and the last that are there;
        those that were evicted still count."""
        first, last = session.execute(
            select(func.min(ReportRow.received), func.max(ReportRow.received)).where(
                ReportRow.group == group
            )
        ).one()
        held = session.get_one(GroupRow, group)
        held.count += change
        held.first, held.last = first or held.first, last or held.last

    # --- from store to store ----------------------------------------------------------------------

    def exported(self) -> dict[str, Any]:
        """All failures with their keys and fixes, as plain values; no reports."""
        with self._reading() as session:
            keys = _by(session.scalars(select(KeyRow).order_by(KeyRow.digest)), "group")
            fixes = _by(session.scalars(select(FixRow).order_by(FixRow.id)), "group")
            tried = _by(session.scalars(select(OutcomeRow).order_by(OutcomeRow.id)), "fix")
            groups = session.scalars(
                select(GroupRow).where(GroupRow.merged.is_(None)).order_by(GroupRow.id)
            )
            return {
                "schema": schema.VERSION,
                "failures": [
                    {
                        **_values(group),
                        "keys": keys[group.id],
                        "fixes": [{**fix, "outcomes": tried[fix["id"]]} for fix in fixes[group.id]],
                    }
                    for group in groups
                ],
            }

    def imported(self, held: Mapping[str, Any]) -> Imported:
        """Adds what another store exported, as far as it is missing here: a failure that one of its keys is
        known of gets its fixes and its other keys.

        Raises:
            ValueError: it is of another schema version.
            KeyError, TypeError, AttributeError: it is no export.
        """
        if held["schema"] != schema.VERSION:
            raise ValueError(f"schema version {held['schema']}, wanted is {schema.VERSION}")
        failures = fixes = 0
        with self._writing() as session:
            for one in held["failures"]:
                keys = [(key["digest"], key["version"]) for key in one["keys"]]
                known = (session.get(KeyRow, key) for key in keys)
                group = next((row.group for row in known if row is not None), None)
                if group is None:
                    group, failures = one["id"], failures + 1
                    session.add(GroupRow(**_given(GroupRow, one)))
                    session.flush()
                for digest, version in keys:
                    if session.get(KeyRow, (digest, version)) is None:
                        session.add(KeyRow(digest=digest, version=version, group=group))
                for fix in one["fixes"]:
                    if session.get(FixRow, fix["id"]) is None:
                        fixes += 1
                        session.add(FixRow(**{**_given(FixRow, fix), "group": group}))
                        session.flush()
                    for outcome in fix["outcomes"]:
                        if session.get(OutcomeRow, outcome["id"]) is None:
                            session.add(OutcomeRow(**_given(OutcomeRow, outcome)))
                session.flush()
        return Imported(failures, fixes)

    # --- tokens -----------------------------------------------------------------------------------

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
                    name=name[:_NAME],
                    scopes=" ".join(sorted(scopes)),
                    created=now,
                    expires=now + days * _DAY if days is not None else None,
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

    # --- transactions -----------------------------------------------------------------------------

    def ready(self) -> None:
        """Raises `StoreError` where it cannot be read."""
        with self._reading() as session:
            session.get(schema.MetaRow, "schema")

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with self._session() as session, session.begin():
            session.connection(execution_options={"writes": True})
            yield session

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._session() as session, session.begin():
            yield session

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with Session(self._engine) as session:
                yield session
        except (SQLAlchemyError, CasebaseError) as error:
            raise StoreError(
                f"the store {displayed(self.where)} cannot be used: {_reason(error)}"
            ) from error

    def _upgrade(self) -> None:
        """Makes the tables, or brings those of an older version to today's."""
        if not inspect(self._engine).has_table(schema.MetaRow.__tablename__):
            schema.Base.metadata.create_all(self._engine)
        with Session(self._engine) as session, session.begin():
            connection = session.connection(execution_options={"writes": True})
            row = session.get(schema.MetaRow, "schema")
            if row is None:
                session.add(schema.MetaRow(key="schema", value=str(schema.VERSION)))
            elif row.value != str(schema.VERSION):
                if not row.value.isdecimal() or int(row.value) > schema.VERSION:
                    raise StoreError(
                        f"the store {displayed(self.where)} holds schema version {row.value}, this "
                        f"diagnose writes version {schema.VERSION}"
                    )
                migrate(connection, Path(__file__).with_name("versions"), int(row.value))
                session.merge(schema.MetaRow(key="schema", value=str(schema.VERSION)))


def _prepared(engine: Engine) -> Engine:
    """SQLite with one writer at a time who waits for his turn, and readers who never wait."""
    if engine.url.get_backend_name() != "sqlite":
        return engine

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below
        connection.execute(f"PRAGMA busy_timeout = {_BUSY * 1000}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begun(connection: Any) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _reason(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).strip()


def _current(session: Session, group: str) -> str:
    """A group, or the one that it was merged into.

    Raises:
        FailureError: there is none.
    """
    row = session.get(GroupRow, group)
    while row is not None and row.merged is not None:
        row = session.get(GroupRow, row.merged)
    if row is None:
        raise FailureError(f"there is no failure {group} in the store")
    return row.id


def _move(session: Session, column: InstrumentedAttribute[Any], old: str, new: str) -> None:
    session.execute(update(column.class_).where(column == old).values({column: new}))


def _add_ranks(session: Session, report: str, ranks: Sequence[int]) -> None:
    held = set(session.scalars(select(RankRow.rank).where(RankRow.report == report)))
    session.add_all(RankRow(report=report, rank=rank) for rank in {*ranks} - held)


def _agreed(one: GroupRow, two: GroupRow) -> tuple[str, ...]:
    def of(row: GroupRow) -> Key:
        return Key(*(_frozen(row.facts[name]) for name in Key._fields))

    same = agreeing(of(one), of(two))
    return (*same, "cause") if one.cause and one.cause == two.cause else same


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _values(row: schema.Base) -> dict[str, Any]:
    """A row as plain values, by attribute."""
    return {column.key: getattr(row, column.key) for column in inspect(type(row)).column_attrs}


def _given(table: type[schema.Base], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row, without what else stands beside them."""
    return {column.key: values[column.key] for column in inspect(table).column_attrs}


def _by(rows: Iterable[schema.Base], column: str) -> Mapping[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        values = _values(row)
        found[values[column]].append(values)
    return found


def _sealed(secret: str) -> str:
    """The digest of a token: it is random and long, so that no slow digest is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _as_token(row: TokenRow) -> Token:
    scopes = cast("list[Scope]", row.scopes.split())
    return Token(row.id, row.name, frozenset(scopes), row.created, row.expires)


def _as_group(row: GroupRow) -> Group:
    return Group(
        row.id,
        row.facts,
        row.cause,
        row.count,
        row.first,
        row.last,
        cast(Status, row.status),
        row.fixed_in,
    )


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
