"""What of a failure's reports is counted as they come: days, hosts, versions, variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, cast

from sqlalchemy import Table, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from diagnose.memory.schema import Base, TallyRow

#: A day since 1970; a library with its version; the exact key.
Fact = Literal["day", "host", "version", "variant"]
DAY = 86400
_TABLE = cast(Table, TallyRow.__table__)


class Counted(NamedTuple):
    """What of a report is counted; ``message`` shows its variant."""

    received: int
    host: str | None
    versions: Mapping[str, str]
    exact: str | None
    message: str | None

    def facts(self) -> Iterator[tuple[Fact, str]]:
        """Its values, each with the fact that it is of."""
        yield "day", str(self.received // DAY)
        if self.host is not None:
            yield "host", self.host
        if self.exact is not None:
            yield "variant", self.exact
        yield from (("version", " ".join(pair)) for pair in self.versions.items())


class Tally(NamedTuple):
    """How many reports have a value, since when, and a message that shows it."""

    fact: Fact
    value: str
    count: int  # type: ignore[assignment]  # nobody asks this for tuple.count
    first: int
    said: str | None


def tallies(reports: Iterable[Counted]) -> list[Tally]:
    """The values of reports, each once, in one order: no two writers wait for each other."""
    found: dict[tuple[Fact, str], Tally] = {}
    for report in reports:
        for fact, value in report.facts():
            said = report.message if fact == "variant" else None
            held = found.get((fact, value), Tally(fact, value, 0, report.received, said))
            first = min(held.first, report.received)
            found[fact, value] = held._replace(count=held.count + 1, first=first)
    return [found[key] for key in sorted(found)]


def of(session: Session, group: str) -> list[Tally]:
    """What is counted of a failure, what was met last first."""
    columns = (TallyRow.fact, TallyRow.value, TallyRow.count, TallyRow.first, TallyRow.said)
    rows = session.execute(
        select(*columns)
        .where(TallyRow.group == group)
        .order_by(TallyRow.first.desc(), TallyRow.value)
    )
    return [
        Tally(cast(Fact, fact), value, count, first, said)
        for fact, value, count, first, said in rows
    ]


def add(session: Session, group: str, counted: Iterable[Tally], times: Literal[1, -1] = 1) -> None:
    """Counts values of a failure in, or out with ``times=-1``."""
    rows = [
        {"group_id": group, **one._asdict(), "count": times * one.count} for one in sorted(counted)
    ]
    if not rows:
        return
    new = upsert(session, TallyRow)
    count = _TABLE.c.count + new.excluded.count
    session.execute(new.on_conflict_do_update(_TABLE.primary_key, set_={"count": count}), rows)
    if times < 0:
        session.execute(delete(TallyRow).where(TallyRow.group == group, TallyRow.count <= 0))


def upsert(session: Session, row: type[Base]) -> sqlite.Insert:
    """An insertion that may meet its row; both dialects spell it alike."""
    inserts = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
    return cast(sqlite.Insert, inserts[session.get_bind().dialect.name](cast(Table, row.__table__)))
