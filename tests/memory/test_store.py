"""The store on SQLite and PostgreSQL: reports, groups, fixes, merges by hand."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory.conftest import Clock, trace
from memory.variants import VARIANTS
from sqlalchemy import create_engine, event, inspect, select, text

from diagnose.memory import key as keys
from diagnose.memory import lookup, schema
from diagnose.memory.exchange import knowledge_units
from diagnose.memory.lookup import StoreError
from diagnose.memory.records import FailureError, Input
from diagnose.memory.redaction import Redacted
from diagnose.memory.store import HOUR, Store
from diagnose.migrating import migrate
from diagnose.model import Diagnosis

Answered = Callable[[str], Diagnosis]
ONE, TWO = trace("easyedit-memit-delta"), trace("adapters-dataparallel")


def keep(store: Store, answered: Answered, text: str, **about: str) -> str:
    """Keeps a report; the id of its group."""
    diagnosis = answered(text)
    return store.record(Input(text, **about), diagnosis).group


def test_a_paste_is_there_for_an_hour_and_does_not_count(
    store: Store, clock: Clock, answered: Answered
) -> None:
    diagnosis = answered(ONE)
    id = store.add(Input(ONE, "job.log", answers={"which": 1}))
    stored = store.report(id)
    assert stored is not None
    assert (stored.input.source, stored.input.answers, stored.group) == (
        "job.log",
        {"which": 1},
        None,
    )
    assert store.seen(diagnosis) is None
    clock.now += HOUR + 1
    assert store.report(id) is None
    other = store.add(Input(TWO))  # sweeps
    assert store.keep(id, diagnosis) is None
    assert store.keep(other, answered(TWO)) is not None


def test_of_too_many_pastes_the_oldest_go(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diagnose.memory.store._PASTES", 3)
    ids = []
    for _ in range(6):
        ids.append(store.add(Input(ONE)))
        clock.now += 1
    assert [store.report(id) is not None for id in ids] == [False, False, True, True, True, True]


def test_one_failure_is_one_group_and_is_known_from_the_next_second(
    store: Store, clock: Clock, answered: Answered
) -> None:
    group = keep(store, answered, ONE, host="node7")
    store.remember(group, "pass device= to arange", "ana", commit="a1b2c3")
    clock.now += 86400
    again = VARIANTS["other_folders"](VARIANTS["other_lines"](ONE))
    assert keep(store, answered, again, host="node9") == group
    store.remember(group, "pass device= to arange", "bo", outcome="changed")
    store.remember(group, "another way", "cy", outcome="failed")
    found = lookup.seen(store.where, answered(ONE).report)
    assert found is not None
    assert (found.group, found.count, found.hosts) == (group, 2, ("node7", "node9"))
    assert found.last - found.first == 86400
    first, second = found.fixes
    assert (first.text, first.by, first.commit) == ("pass device= to arange", "ana", "a1b2c3")
    assert (first.worked, first.changed, first.failed) == (1, 1, 0)
    assert (second.text, second.failed) == ("another way", 1)
    assert found.status == "known"
    assert lookup.seen(store.where, answered(TWO).report) is None


def test_a_thousand_ranks_of_a_job_are_one_report(store: Store, answered: Answered) -> None:
    def send(ranks: range) -> None:
        for rank in ranks:
            report = one.report._replace(ranks=(rank,))
            store.record(Input(ONE, job="4711"), one._replace(report=report))

    one = answered(ONE)
    threads = [threading.Thread(target=send, args=(range(n, 200, 4),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.seen(one)
    assert found is not None
    assert found.count == 1
    assert list(store.page(found.group).ranks) == list(range(200))


def test_groups_are_searched_and_paged(store: Store, answered: Answered, clock: Clock) -> None:
    one = keep(store, answered, ONE)
    clock.now += 1
    two = keep(store, answered, TWO)
    store.remember(two, "unwrap the model", "ana")
    found = store.groups()
    assert [group.id for group in found] == [two, one]
    for query, status, expected in (
        ("nothing", "", []),
        ("edit_output_fn", "", [one]),
        ("UNWRAP model", "", [two]),
        ("100%_", "", []),
        ("", "open", [one]),
        ("", "known", [two]),
    ):
        assert [group.id for group in store.groups(query, status)] == expected, query
    assert store.groups(limit=1) == found[:1]
    assert store.groups(before=(found[0].last, two)) == found[1:]


def test_a_merge_sticks_and_says_what_agrees(store: Store, answered: Answered) -> None:
    one, two = keep(store, answered, ONE), keep(store, answered, TWO)
    store.remember(two, "unwrap the model", "ana")
    agreed = store.merge(one, two, "bo")
    assert "error" in agreed
    assert keep(store, answered, TWO) == one
    found = store.seen(answered(TWO))
    assert found is not None
    assert (found.count, found.fixes[0].text) == (3, "unwrap the model")
    moved = store.group(two)
    assert moved is not None
    assert moved.id == one
    (merge,) = store.page(one).changes
    assert (merge.what, merge.subject, merge.other, merge.by) == ("merge", one, two, "bo")
    assert merge.details == {"facts": list(agreed)}
    with pytest.raises(FailureError, match="one failure already"):
        store.merge(one, two, "bo")
    with pytest.raises(FailureError, match="no failure nothing"):
        store.merge(one, "nothing", "bo")


def test_merged_groups_may_share_a_job(store: Store, answered: Answered) -> None:
    one, two = (keep(store, answered, text, job="4711") for text in (ONE, TWO))
    store.merge(one, two, "bo")
    found = store.seen(answered(ONE))
    assert found is not None
    assert found.count == 2


def test_a_split_sticks(store: Store, answered: Answered) -> None:
    other = ONE.replace(
        "two devices, cuda:1 and cuda:0!",
        "two devices, cuda:1 and cuda:0! (when checking argument for argument self in method wrapper_CUDA__add)",
    )
    assert other != ONE
    group = keep(store, answered, ONE)
    with pytest.raises(FailureError, match="no two kinds"):
        store.split(group, store.page(group).variants[0][0], "bo")
    assert keep(store, answered, other) == group
    narrow = keys.exact(answered(other).report, keys.key(answered(other).report))
    made = store.split(group, narrow, "bo")
    assert made != group
    assert keep(store, answered, other) == made
    assert keep(store, answered, ONE) == group
    seen = [store.seen(answered(text)) for text in (ONE, other)]
    assert [one and one.count for one in seen] == [2, 2]


def test_a_new_version_of_the_key_regroups_nothing(
    store: Store, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = keep(store, answered, ONE), keep(store, answered, TWO)

    def newer(report: keys.Report) -> keys.Key:
        return keys.key(report)._replace(line="", places=("newer",))  # would make one of both

    monkeypatch.setitem(keys.KEYS, 2, newer)
    monkeypatch.setattr("diagnose.memory.store.KEY_VERSION", 2)
    monkeypatch.setattr("diagnose.memory.store.key", newer)
    assert keep(store, answered, ONE) == one  # and writes the newer key beside the older
    assert keep(store, answered, ONE) == one
    found = lookup.seen(store.where, answered(ONE).report)
    assert found is not None
    assert found.count == 3
    assert store.group(two) is not None


def test_a_fix_that_does_not_hold_is_a_regression(store: Store, answered: Answered) -> None:
    def with_version(version: str) -> Diagnosis:
        report = answered(ONE).report._replace(versions=(("transformers", version),))
        return answered(ONE)._replace(report=report)

    group = keep(store, answered, ONE)
    store.mark(group, "fixed", "bo", "transformers 4.44")
    for version, status in (("4.43.2", "fixed"), ("4.44.1", "regressed")):
        store.record(Input(ONE), with_version(version))
        found = store.group(group)
        assert found is not None
        assert found.status == status
    assert sorted(store.page(group).versions["transformers"]) == ["4.43.2", "4.44.1"]


def test_a_report_is_deleted_for_good(store: Store, answered: Answered) -> None:
    diagnosis = answered(ONE)._replace(report=answered(ONE).report._replace(ranks=(0, 1)))
    id = store.record(Input(ONE), diagnosis).id
    store.merge(keep(store, answered, TWO), keep(store, answered, ONE), "bo")
    assert store.forget(id, "bo")
    assert not store.forget(id, "bo")
    assert store.report(id) is None
    (group,) = store.groups()
    assert group.count == 2
    for id, *_ in store.page(group.id).reports:
        assert store.forget(id, "bo")
    assert store.seen(diagnosis) is None
    tables = [table for table in schema.Base.metadata.sorted_tables if table.name != "memory_meta"]
    with store._engine.connect() as connection:
        left = [table.name for table in tables if connection.execute(select(table)).first()]
    assert left == ["memory_change"]


def test_a_failure_that_somebody_has_fixed_outlives_its_reports(
    store: Store, answered: Answered
) -> None:
    kept = store.record(Input(ONE), answered(ONE))
    store.remember(kept.group, "pass device=", "ana")
    assert store.forget(kept.id, "ana")
    found = store.seen(answered(ONE))
    assert found is not None
    assert (found.count, len(found.fixes)) == (0, 1)


def test_who_changed_what_is_there_afterwards_without_a_text(
    store: Store, answered: Answered, clock: Clock, tmp_path: Path
) -> None:
    one, two = keep(store, answered, ONE), keep(store, answered, TWO)
    secret = store.issue("ci", ["report"], "ana")
    (token,) = store.tokens()
    changes: list[Callable[[], object]] = [
        lambda: store.revoke(token.id, "ana"),
        lambda: store.merge(one, two, "bo"),
        lambda: store.split(one, store.page(one).variants[-1][0], "bo"),
        lambda: store.mark(one, "fixed", "cy", "ours 2"),
        lambda: store.imported(store.exported(), "cy"),
        lambda: store.forget(store.page(one).reports[0][0], "dee"),
        lambda: store.evict(0, "dee"),
    ]
    for change in changes:
        clock.now += 1
        change()
    found = store.changes()
    assert [(one.what, one.by) for one in reversed(found)] == [
        ("issue", "ana"),
        ("revoke", "ana"),
        ("merge", "bo"),
        ("split", "bo"),
        ("status", "cy"),
        ("import", "cy"),
        ("delete", "dee"),
        ("evict", "dee"),
    ]
    assert found[-1].details == {"name": "ci", "scopes": "report"}
    assert found[3].details == {"status": "fixed", "fixed_in": "ours 2"}
    assert store.changes((found[2].at, found[2].id), limit=2) == found[3:5]
    for word in (secret, "Expected all tensors", "reproduce.py"):
        assert word not in repr(found)


def test_what_does_not_happen_is_no_change(store: Store) -> None:
    assert not store.revoke("nothing", "ana")
    assert not store.forget("nothing", "ana")
    assert store.evict(0, "ana") == 0
    assert store.changes() == []


def test_the_dullest_reports_go_first_and_still_count(
    store: Store, answered: Answered, clock: Clock
) -> None:
    rare = keep(store, answered, ONE)
    clock.now += 86400
    for _ in range(6):
        often = keep(store, answered, TWO)
        clock.now += 3600
    assert store.evict(7, "bo") == 0
    assert store.evict(3, "bo") == 4
    assert [len(store.page(group).reports) for group in (rare, often)] == [1, 2]
    assert [group.count for group in store.groups()] == [6, 1]
    store.merge(often, rare, "bo")
    found = store.group(often)
    assert found is not None
    assert found.count == 7


def test_what_one_store_exports_another_imports(
    store: Store, answered: Answered, redact: Callable[[str], Redacted], tmp_path: Path
) -> None:
    one, two = keep(store, answered, ONE), keep(store, answered, TWO)
    store.remember(one, "pass device=", "ana", commit="a1b2c3")
    store.remember(two, "unwrap", "bo", outcome="failed")
    held = json.loads(json.dumps(store.exported()))
    other = Store(str(tmp_path / "other.sqlite"), redact)
    assert keep(other, answered, TWO) != two
    for expected in ((1, 2), (0, 0)):  # the second time nothing is missing
        assert other.imported(held, "bo") == expected
    for log, fix in ((ONE, "pass device="), (TWO, "unwrap")):
        found = other.seen(answered(log))
        assert found is not None
        assert [known.text for known in found.fixes] == [fix]
    assert keep(other, answered, ONE) == one
    with pytest.raises(ValueError, match="schema version 99"):
        other.imported({**held, "schema": 99}, "bo")
    other.close()


def test_each_fix_is_a_knowledge_unit(store: Store, answered: Answered) -> None:
    store.remember(keep(store, answered, ONE), "pass device=", "ana", commit="a1b2c3")
    store.remember(keep(store, answered, TWO), "unwrap", "bo", outcome="failed")
    units = list(knowledge_units(store.exported()))
    assert {unit["insight"]["action"]: unit["evidence"]["confirmations"] for unit in units} == {
        "pass device=": 1,
        "unwrap": 0,
    }
    for unit in units:  # the names that cq's schema has, and no others
        assert re.fullmatch("ku_[0-9a-f]{32}", unit["id"])
        assert unit.keys() == {
            "id", "domains", "insight", "context", "evidence", "tier", "created_by", "extensions",
        }  # fmt: skip
        assert unit["insight"].keys() == {"summary", "detail", "action"}
        assert all(unit["insight"].values())
        assert unit["context"].keys() == {"languages", "frameworks", "pattern"}
        assert all(re.fullmatch(r"[a-z0-9][a-z0-9_-]*:\S+", name) for name in unit["extensions"])
        assert unit["evidence"]["first_observed"] == "2026-11-03T10:00:00+00:00"
    assert units == list(knowledge_units(store.exported()))


def test_nothing_is_stored_before_it_is_redacted(store: Store, answered: Answered) -> None:
    secret = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f"
    log = f"export HF_TOKEN={secret}\n{ONE}".replace("/home/user/", "/home/ana/")
    log = log.replace("cuda:0!", f"cuda:0! {secret}")
    given = Input(log, "/home/ana/log", files={"/home/ana/a.py": secret})
    id = store.record(given, answered(log)).id
    stored = store.report(id)
    assert stored is not None
    assert stored.group is not None
    assert stored.removed["token"] >= 1
    store.remember(stored.group, f"login({secret!r})", "ana")
    engine = create_engine(
        lookup.url(store.where).replace("postgresql://", "postgresql+psycopg://")
    )
    with engine.connect() as connection:
        for table in schema.Base.metadata.sorted_tables:
            for row in connection.execute(table.select()):
                assert secret not in str(row)
                assert "/home/ana" not in str(row)
    engine.dispose()
    assert secret not in str(stored.input)
    assert "/home/ana" not in str(stored.input)


def test_what_no_database_has_room_for_is_replaced(store: Store, answered: Answered) -> None:
    found = answered(ONE)
    assert found.report.error is not None
    error = found.report.error._replace(message=f"a\0b\ud800 {found.report.error.message}")
    hostile = found._replace(report=found.report._replace(error=error))
    kept = store.record(Input(ONE, host="node\0"), hostile)
    store.remember(kept.group, "move\0it", "ana\ud800", commit="a\0")
    (group,) = store.groups("a\N{REPLACEMENT CHARACTER}b")
    assert group.id == kept.group
    assert store.groups("\0\ud800") == []
    assert store.group("\0") is None
    assert store.report("\0") is None


def test_a_newer_store_is_left_alone(
    where: str, redact: Callable[[str], Redacted], answered: Answered
) -> None:
    Store(where, redact).close()
    engine = create_engine(lookup.url(where))
    with engine.begin() as connection:
        connection.execute(text("UPDATE memory_meta SET value = '99'"))
    engine.dispose()
    with pytest.raises(StoreError, match="holds schema version 99"):
        Store(where, redact)
    with pytest.raises(StoreError, match="has schema version 99"):
        lookup.seen(where, answered(ONE).report)


def test_what_the_release_before_remembered_is_read_before_the_upgrade(
    where: str, redact: Callable[[str], Redacted], answered: Answered
) -> None:
    report = answered(ONE).report
    Store(where, redact).close()
    engine = create_engine(lookup.url(where))
    with engine.begin() as connection:
        connection.execute(text("UPDATE memory_meta SET value = '2' WHERE key = 'schema'"))
        connection.execute(text("DROP TABLE memory_change"))
    engine.dispose()

    assert lookup.seen(where, report) is None


def test_the_revisions_make_what_the_schema_declares(where: str) -> None:
    """Who changes the schema is reminded of the revision."""
    pytest.importorskip("alembic")
    engine = create_engine(lookup.url(where))
    found = []
    schema.Base.metadata.create_all(engine)
    for _ in range(2):
        look = inspect(engine)
        found.append(
            {
                table.name: (
                    sorted((one["name"], one["nullable"]) for one in look.get_columns(table.name)),
                    look.get_pk_constraint(table.name)["constrained_columns"],
                    sorted(str(one["column_names"]) for one in look.get_indexes(table.name)),
                    sorted(
                        (str(one["constrained_columns"]), one["referred_table"])
                        for one in look.get_foreign_keys(table.name)
                    ),
                )
                for table in schema.Base.metadata.sorted_tables
            }
        )
        schema.Base.metadata.drop_all(engine)
        with engine.begin() as connection:
            if len(found) == 1:
                migrate(connection, Path(schema.__file__).with_name("versions"), None)
            connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
    engine.dispose()
    assert found[0] == found[1]


def test_reading_and_writing_agree_on_the_version() -> None:
    assert str(schema.VERSION) == lookup.SCHEMA_VERSION


def test_where_there_is_no_store_nothing_is_remembered(tmp_path: Path, answered: Answered) -> None:
    report = answered(ONE).report
    assert lookup.seen(None, report) is None
    assert lookup.seen(str(tmp_path / "none"), report) is None
    (tmp_path / "broken").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="cannot be read"):
        lookup.seen(str(tmp_path / "broken"), report)


@pytest.mark.parametrize(
    ("given", "variable", "expected"),
    [
        (None, "here.sqlite", "here.sqlite"),
        ("a", "b", "a"),
        (None, "none", None),
        ("none", "b", None),
    ],
)
def test_where_the_store_is(
    given: str | None, variable: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIAGNOSE_STORE", variable)
    assert lookup.location(given) == expected
    monkeypatch.delenv("DIAGNOSE_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert lookup.location() == "/data/diagnose/memory.sqlite"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as for a user that has no entry
    assert lookup.location() is None


def test_requests_are_counted_by_all_workers_and_begin_anew(
    store: Store, redact: Callable[[str], Redacted], clock: Clock
) -> None:
    other = Store(store.where, redact, clock)
    assert [one.hit("ana", 60) for one in (store, other, store)] == [1, 2, 3]
    clock.now += 59
    assert other.hit("bo", 60) == 1
    assert (store.hit("ana", 60), other.hits("ana")) == (4, (4, clock.now + 1))
    clock.now += 1
    assert (other.hit("ana", 60), store.hits("bo")[0]) == (1, 1)
    other.close()


# --- at a hundred thousand reports ------------------------------------------------------------------


def queries(store: Store, ask: Callable[[], object]) -> list[str]:
    """The plan of each query of SQLite that something makes."""
    plans: list[str] = []

    @event.listens_for(store._engine, "before_cursor_execute")
    def asked(connection: Any, _: Any, sql: str, values: Any, *__: Any) -> None:
        if sql.startswith(("SELECT", "DELETE")) and not isinstance(values, list):
            raw = connection.connection.driver_connection
            plans.extend(
                f"{step[3]}: {sql}" for step in raw.execute(f"EXPLAIN QUERY PLAN {sql}", values)
            )

    ask()
    event.remove(store._engine, "before_cursor_execute", asked)
    return plans


def test_no_page_reads_all_reports_or_sorts_all_failures(
    tmp_path: Path, redact: Callable[[str], Redacted], answered: Answered
) -> None:
    store = Store(str(tmp_path / "memory.sqlite"), redact)
    group = keep(store, answered, ONE, host="node7")
    found = store.group(group)
    assert found is not None
    for ask in (
        lambda: store.add(Input(ONE)),
        lambda: store.groups(),
        lambda: store.groups(status="open", before=(found.last, group)),
        lambda: store.page(group),
        lambda: store.page(group, (found.last, "x")),
        lambda: store.record(Input(ONE), answered(ONE)),
        lambda: store.ready(),
    ):
        plans = queries(store, ask)
        assert plans
        for plan in plans:
            assert not re.match(r"SCAN memory_(report|rank|tally)\b", plan), plan
            assert not ("B-TREE FOR ORDER BY" in plan and "FROM memory_group" in plan), plan
    plans = queries(store, store.totals)
    assert all("COVERING INDEX" in plan for plan in plans if plan.startswith("SCAN memory_report"))
    store.close()


def test_what_is_counted_follows_merges_splits_and_deletion(
    store: Store, answered: Answered, clock: Clock
) -> None:
    def versions(text: str, version: str, host: str) -> str:
        found = answered(text)
        report = found.report._replace(versions=(("torch", version),))
        return store.record(Input(text, host=host), found._replace(report=report)).group

    def counted(group: str) -> tuple[dict[str, list[str]], list[int], list[str]]:
        page, seen = store.page(group), store.remembered(group)
        assert seen is not None
        return (
            {library: sorted(found) for library, found in page.versions.items()},
            [count for _, count in page.days],
            sorted(seen.hosts),
        )

    one = versions(ONE, "2.1", "node7")
    clock.now += 86400
    two = versions(TWO, "2.2", "node9")
    versions(TWO, "2.2", "node9")
    store.merge(one, two, "bo")
    assert counted(one) == ({"torch": ["2.1", "2.2"]}, [1, 2], ["node7", "node9"])
    (variant,) = [variant for variant, count, _ in store.page(one).variants if count == 2]
    made = store.split(one, variant, "bo")
    assert counted(one) == ({"torch": ["2.1"]}, [1], ["node7"])
    assert counted(made) == ({"torch": ["2.2"]}, [2], ["node9"])
    versions(ONE, "2.3", "node7")
    assert store.forget(store.page(one).reports[-1][0], "bo")
    assert counted(one) == ({"torch": ["2.3"]}, [1], ["node7"])
    store.evict(1, "bo")
    assert counted(made) == ({"torch": ["2.2"]}, [2], ["node9"])  # as the counts stay


def test_a_store_of_yesterday_is_upgraded_with_what_it_holds(
    where: str, redact: Callable[[str], Redacted], answered: Answered
) -> None:
    """The tables of version 1 with a report of each of two days."""
    pytest.importorskip("alembic")
    store = Store(where, redact)
    group = keep(store, answered, ONE, host="node7")
    keep(store, answered, ONE, host="node9")
    store.remember(group, "pass device=", "ana")
    store.merge(group, keep(store, answered, TWO), "bo")
    before = store.page(group), store.remembered(group)
    store.close()
    engine = create_engine(lookup.url(where).replace("postgresql://", "postgresql+psycopg://"))
    names = ("meta", "group", "key", "report", "rank", "fix", "outcome", "token", "change")
    with engine.begin() as connection:
        held = {
            f"memory_{name}": [dict(row) for row in connection.execute(text(f"SELECT * FROM memory_{name}")).mappings()]
            for name in names
        }  # fmt: skip
        schema.Base.metadata.drop_all(connection)
    with engine.begin() as connection:
        migrate(connection, Path(schema.__file__).with_name("versions"), None, "1")
        connection.execute(text("DROP TABLE alembic_version"))
        merges = held.pop("memory_change")
        held["memory_merge"] = [
            {"kept": row.pop("subject"), "agreed": row.pop("details"), **row} for row in merges
        ]
        held["memory_group"].sort(key=lambda row: row["merged"] is not None)
        for name, rows in held.items():
            for row in rows:
                row = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}
                row = {**row, "value": "1"} if name == "memory_meta" else row
                columns = ", ".join(f'"{column}"' for column in row)
                given = ", ".join(f":{column}" for column in row)
                connection.execute(text(f"INSERT INTO {name} ({columns}) VALUES ({given})"), row)
    engine.dispose()
    store = Store(where, redact)
    assert (store.page(group), store.remembered(group)) == before
    assert keep(store, answered, ONE) == group
    store.close()
