"""The service over a full store, beside a bare Flask "hello" under the same server and the same client.

    python benchmarks/store.py [--postgresql] [--reports 100000] [--clients 4] [--seconds 5]
    python benchmarks/store.py [--postgresql] --minutes 30 --clients 50 --idle 200

A store at a new place is filled first: reports of documented incidents, cloned over failures as in
life: a few very often, most rarely. Then each address is asked for in turns. What is printed
is milliseconds (p50, p99), requests a second, the median as a multiple of hello's, and CPU of the server a
request, which a busy machine changes less.

With --minutes, clients ask for all addresses by turns, with a pause after each answer, while others hold a
connection and say nothing. What is printed is the memory of each worker, in MiB, a line a minute.
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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from sqlalchemy import Table, func, insert, select

from diagnose.casebase.store import load
from diagnose.memory.records import Input
from diagnose.memory.redaction import redactor
from diagnose.memory.schema import GroupRow, KeyRow, RankRow, ReportRow, TallyRow
from diagnose.memory.store import Store
from diagnose.memory.tallies import Counted, tallies
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose

ROOT = Path(__file__).parents[1]
CASES = ROOT / "kb" / "cases"
#: Reports that one statement writes; incidents that are cloned; days over which reports are spread.
AT_ONCE, INCIDENTS, DAYS = 5_000, 40, 90
RANKS, HOSTS, VARIANTS = 8, 64, 3
#: Requests of each client before the first that counts: each worker has then answered some.
_WARM = 5
#: Seconds between two looks at the memory of workers.
_EVERY = 10


class Request(NamedTuple):
    """What clients ask for: a name, and the bodies that they send by turns."""

    name: str
    method: str
    path: str
    bodies: Sequence[bytes] = (b"",)

    def ask(self, connection: http.client.HTTPConnection, turn: int) -> None:
        """Asks once.

        Raises:
            AssertionError: the answer is an error.
        """
        json = {"Content-Type": "application/json", "Accept": "application/json"}
        headers = json if self.bodies[0] else {}
        connection.request(self.method, self.path, self.bodies[turn % len(self.bodies)], headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status < 400, (self.path, answer.status)


class Served(NamedTuple):
    """A server: its port, and its process, of which workers are children."""

    port: int
    process: psutil.Process

    def worked(self) -> float:
        """Seconds of CPU that it has taken."""
        every = [self.process, *self.process.children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in every)


class Asked(NamedTuple):
    """Milliseconds of each request, how many seconds they went on, and seconds of CPU of the server."""

    taken: list[float]
    seconds: float
    worked: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reports", type=int, default=100_000)
    parser.add_argument("--failures", type=int, default=5_000)
    parser.add_argument("--store")
    parser.add_argument("--postgresql", action="store_true", help="on a server of its own")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="of load, in which memory is looked at")
    parser.add_argument("--idle", type=int, default=200, help="connections that say nothing")
    parser.add_argument("--pause", type=float, default=2, help="seconds after each answer")
    parser.add_argument("--hello", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hello:
        _hello(options.hello, options.workers)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="store")))
        where = options.store or str(folder / "memory.sqlite")
        if options.postgresql:
            sys.path.insert(0, str(ROOT / "tests"))
            from casebase import postgresql_server

            where = stack.enter_context(postgresql_server.running(folder))
        store = Store(where, redactor(load().redaction().rules))
        answers = _answers()
        if not store.groups(limit=1):
            begun = time.perf_counter()
            fill(store, answers, options.reports, options.failures)
            print(f"filled in {time.perf_counter() - begun:.0f} s")
        requests = _requests(store, answers)
        if options.minutes:
            _watch(where, requests, options)
        else:
            _measure(store, where, answers, requests, options)
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


def _requests(store: Store, answers: list[tuple[str, Diagnosis]]) -> list[Request]:
    """What a filled store is asked for."""
    with store._reading() as session:
        reports = session.scalar(select(func.count()).select_from(ReportRow))
        failures = session.scalar(select(func.count()).select_from(GroupRow))
        often = session.scalars(select(GroupRow.id).order_by(GroupRow.count.desc())).first()
        old = session.scalars(select(GroupRow.last).order_by(GroupRow.last).offset(200)).first()
    print(f"{reports} reports in {failures} failures")
    rare = store.groups(limit=1)[0].id
    texts = [json.dumps({"text": text}).encode() for text, _ in answers]
    sent = [json.dumps({"text": text, "host": "node1"}).encode() for text, _ in answers]
    return [
        Request("/failures", "GET", "/failures"),
        Request("/failures?q=", "GET", "/failures?q=step_77+cuda"),
        Request("/failures, last page", "GET", f"/failures?before={old}-x"),
        Request("a failure, most often", "GET", f"/failures/{often}"),
        Request("a failure, latest", "GET", f"/failures/{rare}"),
        Request("API: failures", "GET", "/api/v1/failures"),
        Request("API: a failure", "GET", f"/api/v1/failures/{often}"),
        Request("/metrics", "GET", "/metrics"),
        Request("/readyz", "GET", "/readyz"),
        Request("API: diagnoses", "POST", "/api/v1/diagnoses", texts),
        Request("API: a report sent", "POST", "/api/v1/reports", sent),
    ]


def _measure(
    store: Store,
    where: str,
    answers: list[tuple[str, Diagnosis]],
    requests: list[Request],
    options: argparse.Namespace,
) -> None:
    worked = time.process_time()
    seen = [_timed(lambda answer=answer: store.seen(answer)) for _, answer in answers * 5]
    worked = time.process_time() - worked
    _print(f"{options.clients} clients", "p50 ms", "p99 ms", "1/s", "of hello", "CPU ms")
    with _server(None, options.workers) as served:
        hello = _asked(served, Request("hello", "GET", "/"), options)
    _row("hello", hello)
    with _server(where, options.workers) as served:
        for request in requests:
            _row(request.name, _asked(served, request, options), hello)
    _row("what is remembered", Asked(seen, sum(seen) / 1000, worked), hello)


def _watch(where: str, requests: list[Request], options: argparse.Namespace) -> None:
    """Prints what each worker holds while clients ask and others only hold a connection."""
    with _server(where, options.workers) as served, ExitStack() as stack:
        end = time.monotonic() + 60 * options.minutes
        answered, failed = [0] * options.clients, [0] * options.clients

        def client(number: int) -> None:
            turn = number
            while time.monotonic() < end:
                # A server ends a connection that is idle for longer than the pause.
                with closing(http.client.HTTPConnection("127.0.0.1", served.port)) as connection:
                    try:
                        requests[turn % len(requests)].ask(connection, turn)
                        answered[number] += 1
                    except (OSError, http.client.HTTPException, AssertionError):
                        failed[number] += 1
                turn += 1
                time.sleep(options.pause)

        threads = [threading.Thread(target=client, args=(n,)) for n in range(options.clients)]
        for thread in threads:
            thread.start()
        idle: list[socket.socket] = []
        stack.callback(lambda: [one.close() for one in idle])
        workers = served.process.children()
        held: list[list[float]] = []
        _print("minute", "idle", "answers", "errors", *(f"pid {one.pid}" for one in workers))
        while time.monotonic() < end:
            for one in [one for one in idle if not _is_open(one)]:  # the server has ended it
                one.close()
                idle.remove(one)
            while len(idle) < options.idle:
                idle.append(socket.create_connection(("127.0.0.1", served.port)))
            time.sleep(_EVERY)
            held.append([one.memory_info().rss / 2**20 for one in workers])
            if len(held) % (60 // _EVERY) == 0:
                _print(
                    f"{len(held) * _EVERY / 60:.0f}",
                    str(len(idle)),
                    str(sum(answered)),
                    str(sum(failed)),
                    *(f"{size:.1f}" for size in held[-1]),
                )
        for thread in threads:
            thread.join()
        assert [one.pid for one in served.process.children()] == [one.pid for one in workers]
    for name, part in (
        ("first third", held[: len(held) // 3]),
        ("last third", held[-len(held) // 3 :]),
    ):
        _print(
            name,
            *[""] * 3,
            *(f"{statistics.median(sizes):.1f}" for sizes in zip(*part, strict=True)),
        )


def _is_open(peer: socket.socket) -> bool:
    peer.setblocking(False)
    try:
        return bool(peer.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _row(name: str, asked: Asked, base: Asked | None = None) -> None:
    middle = statistics.median(asked.taken)
    high = statistics.quantiles(asked.taken, n=100)[-1]
    times = middle / statistics.median((base or asked).taken)
    work = 1000 * asked.worked / len(asked.taken)
    rate = len(asked.taken) / asked.seconds
    _print(name, f"{middle:.1f}", f"{high:.1f}", f"{rate:.0f}", f"{times:.1f}", f"{work:.1f}")


def _print(name: str, *figures: str) -> None:
    print(f"{name:24}" + "".join(f"{figure:>10}" for figure in figures), flush=True)


def _timed(run: Any) -> float:
    begun = time.perf_counter()
    run()
    return (time.perf_counter() - begun) * 1000


def _asked(served: Served, request: Request, options: argparse.Namespace) -> Asked:
    """Asks for one address with all clients for some seconds."""
    taken: list[float] = []
    begun = worked = 0.0
    warm = threading.Barrier(options.clients)

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", served.port)
        nonlocal begun, worked
        for turn in range(_WARM):
            request.ask(connection, turn)
        warm.wait()
        if not begun:
            begun, worked = time.perf_counter(), served.worked()
        turn = number
        while time.perf_counter() < begun + options.seconds:
            taken.append(_timed(lambda: request.ask(connection, turn)))  # noqa: B023
            turn += options.clients

    threads = [threading.Thread(target=client, args=(number,)) for number in range(options.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Asked(taken, time.perf_counter() - begun, served.worked() - worked)


@contextmanager
def _server(where: str | None, workers: int) -> Iterator[Served]:
    """A service over a store, or hello."""
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
            yield Served(port, psutil.Process(process.pid))
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
