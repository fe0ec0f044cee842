"""From store to store: failures with their keys and fixes as plain values, without reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from sqlalchemy import inspect, select

from diagnose.memory import schema
from diagnose.memory.records import Imported
from diagnose.memory.schema import FixRow, GroupRow, KeyRow, OutcomeRow
from diagnose.memory.transactions import Transactions

#: Raised with every change of what is exported.
_FORMAT = 1
#: The outcome of a fix that says nothing for it.
_NO_HELP = "failed"


class Exchange(Transactions):
    """The part of a store that is written into another one."""

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
                "schema": _FORMAT,
                "failures": [
                    {
                        **_values(group),
                        "keys": keys[group.id],
                        "fixes": [{**fix, "outcomes": tried[fix["id"]]} for fix in fixes[group.id]],
                    }
                    for group in groups
                ],
            }

    def imported(self, held: Mapping[str, Any], by: str) -> Imported:
        """Adds what another store exported, as far as it is missing here: a failure that one of its keys is
        known of gets its fixes and its other keys.

        Raises:
            ValueError: it is of another schema version.
            KeyError, TypeError, AttributeError: it is no export.
        """
        if held["schema"] != _FORMAT:
            raise ValueError(f"schema version {held['schema']}, wanted is {_FORMAT}")
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
            self._log(session, "import", by, failures=failures, fixes=fixes)
        return Imported(failures, fixes)


def knowledge_units(held: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fixes of an export as units of shared knowledge for agents (cq's ``knowledge_unit.json``).

    Args:
        held: what `Exchange.exported` gave.
    """
    for failure in held["failures"]:
        facts = failure["facts"]
        for fix in failure["fixes"]:
            helped = [one["at"] for one in fix["outcomes"] if one["outcome"] != _NO_HELP]
            extensions = {
                "diagnose:keys": [key["digest"] for key in failure["keys"]],
                "diagnose:commit": fix["revision"],
                "diagnose:link": fix["link"],
            }
            yield {
                "id": f"ku_{uuid5(NAMESPACE_OID, fix['id']).hex}",
                "domains": ["pytorch", "device-placement", *facts["libraries"]],
                "insight": {
                    "summary": f"{facts['error']}: {facts['message']}",
                    "detail": facts["cause"] or facts["said"],
                    "action": fix["text"],
                },
                "context": {
                    "languages": ["python"],
                    "frameworks": ["pytorch", *facts["libraries"]],
                    "pattern": fix["cause"] or failure["cause"] or "",
                },
                "evidence": {
                    "confirmations": len(helped),
                    "first_observed": _iso(failure["first"]),
                    "last_confirmed": _iso(max(helped, default=fix["at"])),
                },
                "tier": "private",
                "created_by": fix["author"],
                "extensions": {name: value for name, value in extensions.items() if value},
            }


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at, timezone.utc).isoformat()


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
