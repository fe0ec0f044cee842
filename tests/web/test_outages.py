"""Workers that are killed, databases that are locked, full or gone: what was acknowledged is there afterwards."""

from __future__ import annotations

import json
import sqlite3
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest
from casebase import postgresql_server
from memory.conftest import postgresql, where  # noqa: F401  # fixtures
from sqlalchemy import create_engine, event, make_url, text
from web.conftest import server_process
from web.samples import TRACES

from diagnose.memory.store import Store
from diagnose.web import create_app

TRACE = TRACES[0].read_text(encoding="utf-8")
#: Which fits into no page that is free.
LONG = "\n".join(
    [*("".join(map(chr, range(at, at + 100))) for at in range(256, 40_000, 100)), TRACE]
)


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Another program writes, and does not end."""
    if store.where.startswith("postgresql"):
        with create_engine(store.where).begin() as connection:
            connection.execute(text("LOCK TABLE memory_report IN EXCLUSIVE MODE"))
            yield
        return
    other = sqlite3.connect(store.where, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


@contextmanager
def full(store: Store) -> Iterator[None]:
    """The disk is, or PostgreSQL says so."""
    if store.where.startswith("postgresql"):
        raising = "CREATE FUNCTION raising() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END'"
        trigger = "CREATE TRIGGER disk BEFORE INSERT ON memory_report EXECUTE FUNCTION raising()"
        with create_engine(store.where).begin() as connection:
            connection.execute(text(raising))
            connection.execute(text(trigger))
        yield
        with create_engine(store.where).begin() as connection:
            connection.execute(text("DROP FUNCTION raising CASCADE"))
        return

    @event.listens_for(store._engine, "connect")
    def limited(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # as many as there are

    store.close()
    yield
    event.remove(store._engine, "connect", limited)
    store.close()


@contextmanager
def stopped(store: Store) -> Iterator[None]:
    """The server crashes, and starts again."""
    with postgresql_server.stopped(Path(str(make_url(store.where).query["host"]))):
        yield


@pytest.mark.faults
@pytest.mark.parametrize(
    ("where", "broken"),
    [
        *((engine, broken) for engine in ("sqlite", "postgresql") for broken in (locked, full)),
        ("postgresql", stopped),
    ],
    indirect=["where"],
)
def test_a_store_out_of_order_refuses_loses_nothing_and_needs_no_restart(
    casebase_path: Path,
    where: str,  # noqa: F811
    broken: Callable[[Store], AbstractContextManager[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("diagnose.memory.transactions._BUSY", 0.1)
    app = create_app(casebase_path, store=where)
    client, store = app.test_client(), app.extensions["diagnose-store"]

    def send() -> tuple[int, str]:
        answer = client.post("/api/v1/reports", json={"text": LONG})
        return answer.status_code, answer.get_json(force=True).get("id")

    sent = [send() for _ in range(2)]
    with broken(store):
        assert [send()[0] for _ in range(2)] == [503, 503]
        assert "cause-1" in client.post("/", data={"text": LONG}).text  # is still answered
        assert client.get("/healthz").status_code == 200
        readable = 503 if broken is stopped else 200
        assert client.get("/readyz").status_code == readable
        assert client.get(f"/api/v1/reports/{sent[0][1]}").status_code == readable
    sent += [send() for _ in range(2)]
    assert [status for status, _ in sent] == [201] * 4
    (group,) = store.groups()
    assert {id for id, *_ in store.page(group.id).reports} == {id for _, id in sent}
    assert group.count == 4
    store.close()


def test_what_was_acknowledged_is_there_after_a_worker_was_killed(
    casebase_path: Path,
    where: str,  # noqa: F811
) -> None:
    options = ["--workers", "2", "--casebase", str(casebase_path), "--store", where]
    with server_process(
        lambda port: [sys.executable, "-m", "diagnose", "serve", "--port", str(port), *options]
    ) as (address, process):

        def ask(path: str, body: bytes | None = None) -> dict[str, object] | None:
            """An answer; None where the worker died over it."""
            headers = {"Content-Type": "application/json"}
            try:
                with urllib.request.urlopen(
                    urllib.request.Request(address + path, body, headers)
                ) as answer:
                    found: dict[str, object] = json.load(answer)
                    return found
            except urllib.error.HTTPError:
                raise
            except OSError:
                return None

        body = json.dumps({"text": TRACE}).encode()
        first = psutil.Process(process.pid).children()[0]
        with ThreadPoolExecutor(4) as clients:
            sending = [clients.submit(ask, "/api/v1/reports", body) for _ in range(24)]
            sending[4].result()
            first.kill()
            sent = [answer for answer in (one.result() for one in sending) if answer is not None]
        assert len(sent) > 12
        for answer in sent:
            assert ask(f"/api/v1/reports/{answer['id']}") is not None
        found = ask(f"/api/v1/failures/{sent[0]['failure']}")
        assert found is not None
        assert isinstance(found["count"], int)
        assert len(sent) <= found["count"] <= 24
