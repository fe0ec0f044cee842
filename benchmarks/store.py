"""The service over a full store, beside a bare Flask "hello" under the same server and the same client.

    python benchmarks/store.py [--reports 100000] [--store LOCATION] [--clients 4] [--seconds 5]

A store at a new place is filled first: reports of documented incidents, cloned over failures as in
life: a few very often, most rarely. Then each address is asked for in turns. What is printed
is milliseconds (p50, p99), requests a second, and the median as a multiple of hello's.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Table, func, insert, select

from diagnose.casebase.store import load
from diagnose.memory.records import Input
from diagnose.memory.redaction import redactor
from diagnose.memory.schema import GroupRow, KeyRow, RankRow, ReportRow, TallyRow
from diagnose.memory.store import Store
from diagnose.memory.tallies import Counted, tallies
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose

CASES = Path(__file__).parents[1] / "kb" / "cases"
#: Reports that one statement writes; incidents that are cloned; days over which reports are spread.
AT_ONCE, INCIDENTS, DAYS = 5_000, 40, 90
RANKS, HOSTS, VARIANTS = 8, 64, 3
#: Requests of each client before the first that counts: each worker has then answered some.
_WARM = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reports", type=int, default=100_000)
    parser.add_argument("--failures", type=int, default=5_000)
    parser.add_argument("--store")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hello", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hello:
        _hello(options.hello, options.workers)
        return
    with tempfile.TemporaryDirectory() as folder:
        where = options.store or str(Path(folder, "memory.sqlite"))
        store = Store(where, redactor(load().redaction().rules))
        answers = _answers()
        if not store.groups(limit=1):
            begun = time.perf_counter()
            fill(store, answers, options.reports, options.failures)
            print(f"filled in {time.perf_counter() - begun:.0f} s")
        _measure(store, where, answers, options)
        store.close()


def fill(store: Store, answers: list[tuple[str, Diagnosis]], reports: int, failures: int) -> None:
    """Writes so many reports of so many failures, the n-th failure 1/n times as often as the first."""
    chance, now = random.Random(7), int(time.time())
    for text, answer in answers:
        store.record(Input(text, host="node0"), answer)
    with store._engine.begin() as connection:
        connection.execute(_of(TallyRow).delete())  # the few are counted with the many
    with store._engine.connect() as connection:
        groups = [dict(row) for row in connection.execute(select(_of(GroupRow))).mappings()]
        first = {
            row["group_id"]: dict(row)
            for row in connection.execute(select(_of(ReportRow))).mappings()
        }
    wanted = failures - len(groups)
    made = []
    for number in range(wanted):
        group = chance.choice(groups)
        name = f"step_{number}"
        facts = {**group["facts"], "function": name}
        made.append(
            {
                **group,
                "id": secrets.token_hex(6),
                "facts": facts,
                "words": f"{group['words']} {name}",
                "count": 0,
            }
        )
        first[made[-1]["id"]] = first[group["id"]]
    weights = [1 / (number + 1) for number in range(failures)]
    every = [*made, *groups]
    chance.shuffle(every)
    drawn = chance.choices(every, weights, k=reports)
    rows = [_clone(first[group["id"]], group["id"], chance, now) for group in drawn]
    for row, group in zip(rows, drawn, strict=True):
        group["count"] += 1
        group["first"], group["last"] = (
            min(group["first"], row["received"]),
            max(group["last"], row["received"]),
        )
    counted = defaultdict(list)
    for row in rows:
        counted[row["group_id"]].append(Counted(*(row[name] for name in Counted._fields)))
    with store._engine.begin() as connection:
        connection.execute(insert(_of(GroupRow)), made)
        connection.execute(
            insert(_of(KeyRow)),
            [{"digest": one["id"], "version": 1, "group_id": one["id"]} for one in made],
        )
        for begin in range(0, len(rows), AT_ONCE):
            part = rows[begin : begin + AT_ONCE]
            connection.execute(insert(_of(ReportRow)), part)
            ranks = [
                {"report_id": row["id"], "rank": rank} for row in part for rank in range(RANKS)
            ]
            connection.execute(insert(_of(RankRow)), ranks)
        for group, reported in counted.items():
            values = [{"group_id": group, **one._asdict()} for one in tallies(reported)]
            connection.execute(insert(_of(TallyRow)), values)
        for group in groups:
            table = _of(GroupRow)
            connection.execute(table.update().where(table.c.id == group["id"]).values(group))


def _clone(row: dict[str, Any], group: str, chance: random.Random, now: int) -> dict[str, Any]:
    variant = chance.randrange(VARIANTS)
    return {
        **row,
        "id": secrets.token_urlsafe(12),
        "group_id": group,
        "received": now - chance.randrange(DAYS * 86400),
        "exact": f"{group[:11]}{variant}",
        "message": f"{row['message']} {variant}",
        "host": f"node{chance.randrange(HOSTS)}",
        "versions": {
            "torch": f"2.{chance.randrange(9)}",
            "transformers": f"4.{chance.randrange(40)}",
        },
    }


def _of(row: Any) -> Table:
    table: Table = row.__table__
    return table


def _answers() -> list[tuple[str, Diagnosis]]:
    casebase, found = load(), []
    for path in sorted(CASES.glob("*/trace.txt")):
        text = path.read_text(encoding="utf-8")
        answer = diagnose(text, casebase=casebase)
        if answer.report.error is not None:
            found.append((text, answer))
        if len(found) == INCIDENTS:
            break
    return found


def _measure(
    store: Store, where: str, answers: list[tuple[str, Diagnosis]], options: argparse.Namespace
) -> None:
    with store._reading() as session:
        reports = session.scalar(select(func.count()).select_from(ReportRow))
        failures = session.scalar(select(func.count()).select_from(GroupRow))
        often = session.scalars(select(GroupRow.id).order_by(GroupRow.count.desc())).first()
        old = session.scalars(select(GroupRow.last).order_by(GroupRow.last).offset(200)).first()
    rare = store.groups(limit=1)[0].id
    seen = [_timed(lambda answer=answer: store.seen(answer)) for _, answer in answers * 5]
    print(f"{reports} reports in {failures} failures; {options.clients} clients")
    _print("", "p50 ms", "p99 ms", "1/s", "of hello")
    with _server(None, options.workers) as port:
        hello = _asked(port, "GET", "/", [b""], options)
    base = _row("hello", *hello)
    texts = [json.dumps({"text": text}).encode() for text, _ in answers]
    sent = [json.dumps({"text": text, "host": "node1"}).encode() for text, _ in answers]
    with _server(where, options.workers) as port:
        for name, method, path, bodies in (
            ("/failures", "GET", "/failures", [b""]),
            ("/failures?q=", "GET", "/failures?q=step_77+cuda", [b""]),
            ("/failures, last page", "GET", f"/failures?before={old}-x", [b""]),
            ("a failure, most often", "GET", f"/failures/{often}", [b""]),
            ("a failure, latest", "GET", f"/failures/{rare}", [b""]),
            ("API: failures", "GET", "/api/v1/failures", [b""]),
            ("API: a failure", "GET", f"/api/v1/failures/{often}", [b""]),
            ("/metrics", "GET", "/metrics", [b""]),
            ("/readyz", "GET", "/readyz", [b""]),
            ("API: diagnoses", "POST", "/api/v1/diagnoses", texts),
            ("API: a report sent", "POST", "/api/v1/reports", sent),
        ):
            _row(name, *_asked(port, method, path, bodies, options), base)
    _row("what is remembered", seen, sum(seen) / 1000, base)


def _row(name: str, taken: list[float], seconds: float, base: float | None = None) -> float:
    middle = statistics.median(taken)
    high = statistics.quantiles(taken, n=100)[-1]
    times = f"{middle / base:.1f}" if base else ""
    _print(name, f"{middle:.1f}", f"{high:.1f}", f"{len(taken) / seconds:.0f}", times)
    return middle


def _print(name: str, *figures: str) -> None:
    print(f"{name:24}" + "".join(f"{figure:>10}" for figure in figures), flush=True)


def _timed(run: Any) -> float:
    begun = time.perf_counter()
    run()
    return (time.perf_counter() - begun) * 1000


def _asked(
    port: int, method: str, path: str, bodies: list[bytes], options: argparse.Namespace
) -> tuple[list[float], float]:
    """Milliseconds of each request of all clients, and how many seconds they went on."""
    taken: list[float] = []
    begun = 0.0
    warm = threading.Barrier(options.clients)

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        headers = (
            {"Content-Type": "application/json", "Accept": "application/json"} if bodies[0] else {}
        )
        nonlocal begun

        def ask(turn: int) -> None:
            connection.request(method, path, bodies[turn % len(bodies)] or None, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 400, (path, answer.status)

        for turn in range(_WARM):
            ask(turn)
        warm.wait()
        begun = begun or time.perf_counter()
        turn = number
        while time.perf_counter() < begun + options.seconds:
            taken.append(_timed(lambda: ask(turn)))  # noqa: B023
            turn += options.clients

    threads = [threading.Thread(target=client, args=(number,)) for number in range(options.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, time.perf_counter() - begun


@contextmanager
def _server(where: str | None, workers: int) -> Iterator[int]:
    """The port of a service over a store, or of hello."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, __file__, "--hello", str(port)]
    if where is not None:
        command = [sys.executable, "-m", "diagnose", "serve", "--port", str(port), "--store", where]
    command += ["--workers", str(workers)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        try:
            yield port
        finally:
            process.terminate()


def _hello(port: int, workers: int) -> None:
    from flask import Flask

    from diagnose.web.serve import _gunicorn

    app = Flask("hello")
    app.add_url_rule("/", view_func=lambda: "hello")
    _gunicorn(app, "127.0.0.1", port, workers)


if __name__ == "__main__":
    main()
