"""The failures of a store: lists, pages, states, merges and splits by hand."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, delete, func, or_, select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from diagnose.casebase.connection import connect
from diagnose.memory import lookup, tallies
from diagnose.memory.key import KEY_VERSION, Key, agreeing
from diagnose.memory.records import Change, FailureError, Group, Page, Place, What
from diagnose.memory.schema import (
    ChangeRow,
    FixRow,
    GroupRow,
    KeyRow,
    OutcomeRow,
    RankRow,
    ReportRow,
    TallyRow,
)
from diagnose.memory.tallies import Counted
from diagnose.memory.transactions import NAME, Transactions
from diagnose.model import Seen, Status

#: Reports of a failure whose ranks its page names.
_LATEST = 100
#: What of a report is counted.
COUNTED = (
    ReportRow.received,
    ReportRow.host,
    ReportRow.versions,
    ReportRow.exact,
    ReportRow.message,
)


class Failures(Transactions):
    """The part of a store that groups reports."""

    def mark(self, group: str, status: Status, by: str, fixed_in: str | None = None) -> None:
        """Sets the status of a failure; ``fixed_in`` is a library and a version (``transformers 4.44``), or
        any other text."""
        with self._writing() as session:
            held = session.get_one(GroupRow, current(session, group))
            held.status = status
            held.fixed_in = (fixed_in or "").strip()[:NAME] or None if status == "fixed" else None
            self._log(session, "status", by, held.id, status=status, fixed_in=held.fixed_in)

    def changes(self, before: Place | None = None, limit: int = 50) -> list[Change]:
        """What people have changed, the latest first; what follows ``before``."""
        with self._reading() as session:
            place = tuple_(ChangeRow.at, ChangeRow.id)
            return _changes(session, *([place < before] if before is not None else ()), limit=limit)

    def group(self, id: str) -> Group | None:
        """A failure; of one that was merged into another, that other."""
        with self._reading() as session:
            row = _merged(session, id)
            return _as_group(row) if row is not None else None

    def groups(
        self, query: str = "", status: str = "", before: Place | None = None, limit: int = 50
    ) -> list[Group]:
        """The failures that hold all words, the latest first; those that follow ``before``."""
        wanted = [GroupRow.merged.is_(None), GroupRow.count > 0]
        for word in query.lower().split()[:20]:
            wanted.append(GroupRow.words.contains(word, autoescape=True))
        if status:
            wanted.append(GroupRow.status == status)
        if before is not None:
            wanted.append(tuple_(GroupRow.last, GroupRow.id) < before)
        with self._reading() as session:
            rows = session.scalars(
                select(GroupRow)
                .where(*wanted)
                .order_by(GroupRow.last.desc(), GroupRow.id.desc())
                .limit(limit)
            )
            return [_as_group(row) for row in rows]

    def totals(self) -> Mapping[str, Mapping[str, int]]:
        """How many reports there are, kept and for an hour, failures by status, and outcomes of fixes."""
        with self._reading() as session:
            every, pastes = (
                session.scalar(select(func.count(column))) or 0
                for column in (ReportRow.id, ReportRow.expires)
            )
            statuses = (
                select(GroupRow.status, func.count())
                .where(GroupRow.merged.is_(None))
                .group_by(GroupRow.status)
            )
            outcomes = select(OutcomeRow.outcome, func.count()).group_by(OutcomeRow.outcome)
            return {
                "reports": {"yes": every - pastes, "no": pastes},
                "failures": _pairs(session, statuses),
                "outcomes": _pairs(session, outcomes),
            }

    def remembered(self, id: str) -> Seen | None:
        """What is remembered of a group."""
        return lookup.of_group(connect(self._url), id)

    def page(self, id: str, before: Place | None = None, limit: int = 50) -> Page:
        """The details of a group, with so many of its reports; those that follow ``before``."""
        with self._reading() as session:
            mine = ReportRow.group == id
            order = ReportRow.received.desc(), ReportRow.id.desc()
            place = tuple_(ReportRow.received, ReportRow.id)
            reports = session.execute(
                select(ReportRow.id, ReportRow.received, ReportRow.host)
                .where(mine, *([place < before] if before is not None else ()))
                .order_by(*order)
                .limit(limit)
            )
            latest = select(ReportRow.id).where(mine).order_by(*order).limit(_LATEST)
            ranks = session.scalars(
                select(RankRow.rank)
                .where(RankRow.report.in_(latest))
                .distinct()
                .order_by(RankRow.rank)
            )
            counted = tallies.of(session, id)
            versions: dict[str, list[str]] = defaultdict(list)
            for one in counted:
                if one.fact == "version":
                    library, _, version = one.value.partition(" ")
                    versions[library].append(version)
            variants = [one for one in counted if one.fact == "variant"]
            variants.sort(key=lambda one: -one.count)
            return Page(
                [(id, at, host) for id, at, host in reports],
                list(ranks),
                versions,
                sorted((int(one.value), one.count) for one in counted if one.fact == "day"),
                _changes(session, or_(ChangeRow.subject == id, ChangeRow.other == id), limit=limit),
                [(one.value, one.count, one.said or "") for one in variants[:limit]],
            )

    def merge(self, kept: str, other: str, by: str) -> Sequence[str]:
        """Makes one failure of two, for good: keys, reports and fixes of ``other`` become ``kept``'s.

        Returns:
            The names of the facts that agree.

        Raises:
            FailureError: there are no two such groups.
        """
        with self._writing() as session:
            kept, other = current(session, kept), current(session, other)
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
            tallies.add(session, kept, tallies.of(session, other))
            session.execute(delete(TallyRow).where(TallyRow.group == other))
            for table in (KeyRow, ReportRow, FixRow):
                _move(session, table.group, other, kept)
            two.merged = kept
            one.words = f"{one.words} {two.words}"
            self._log(session, "merge", by, kept, other, facts=agreed)
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
            group = current(session, group)
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
            moved = [Counted(*row) for row in session.execute(select(*COUNTED).where(*mine))]
            session.execute(update(ReportRow).where(*mine).values({ReportRow.group: made.id}))
            counted = tallies.tallies(moved)
            tallies.add(session, group, counted, -1)
            tallies.add(session, made.id, counted)
            self._log(session, "split", by, group, made.id)
            self._recount(session, group, -len(moved))
            self._recount(session, made.id, len(moved))
            return made.id

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


def _pairs(session: Session, query: Select[str, int]) -> dict[str, int]:
    return {label: count for label, count in session.execute(query)}  # noqa: C416  # rows are no tuples


def current(session: Session, group: str) -> str:
    """A group, or the one that it was merged into.

    Raises:
        FailureError: there is none.
    """
    row = _merged(session, group)
    if row is None:
        raise FailureError(f"there is no failure {group} in the store")
    return row.id


def _merged(session: Session, group: str) -> GroupRow | None:
    """The row of a group, or of the one that it was merged into; None where there is none."""
    row = session.get(GroupRow, group)
    while row is not None and row.merged is not None:
        row = session.get(GroupRow, row.merged)
    return row


def _changes(session: Session, *wanted: ColumnElement[bool], limit: int) -> list[Change]:
    """What was changed, the latest first."""
    rows = session.scalars(
        select(ChangeRow)
        .where(*wanted)
        .order_by(ChangeRow.at.desc(), ChangeRow.id.desc())
        .limit(limit)
    )
    return [
        Change(
            row.id, cast(What, row.kind), row.subject, row.other, row.details, row.author, row.at
        )
        for row in rows
    ]


def remove(session: Session, group: str) -> None:
    """Deletes a failure whose reports were all deleted, unless somebody has fixed it, and those that were
    merged into it: their facts are of a report."""
    fixed = session.scalar(select(FixRow.id).where(FixRow.group == group).limit(1))
    if fixed is not None or session.get_one(GroupRow, group).count > 0:
        return
    rows = [session.get_one(GroupRow, group)]
    for row in rows:
        rows += session.scalars(select(GroupRow).where(GroupRow.merged == row.id))
    for table in (KeyRow, TallyRow):
        session.execute(delete(table).where(table.group == group))
    for row in reversed(rows):
        session.delete(row)
        session.flush()


def _move(session: Session, column: InstrumentedAttribute[Any], old: str, new: str) -> None:
    session.execute(update(column.class_).where(column == old).values({column: new}))


def _agreed(one: GroupRow, two: GroupRow) -> tuple[str, ...]:
    def of(row: GroupRow) -> Key:
        return Key(*(_frozen(row.facts[name]) for name in Key._fields))

    same = agreeing(of(one), of(two))
    return (*same, "cause") if one.cause and one.cause == two.cause else same


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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
