"""What stands around a service that many use: proxies, limits, log, messages, eviction."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import request
from flask.testing import FlaskClient
from web.samples import TRACES
from web.test_remembering import SECRET, group_of, paste, store_of

from diagnose.memory.lookup import StoreError
from diagnose.memory.store import Store
from diagnose.web import create_app
from diagnose.web.command import serve_command
from diagnose.web.notices import Background

ONE, TWO = (path.read_text(encoding="utf-8") for path in TRACES[:2])
PROXY = {"REMOTE_ADDR": "10.0.0.7"}
Made = Callable[..., FlaskClient]


@pytest.fixture
def made(casebase_path: Path, tmp_path: Path) -> Made:
    """A client of an app with a store and some settings."""
    where = str(tmp_path / "memory.sqlite")
    return lambda **settings: create_app(casebase_path, store=where, **settings).test_client()


# --- proxies ----------------------------------------------------------------------------------------


@pytest.fixture
def signed(made: Made) -> FlaskClient:
    return made(access="closed", proxies=["10.0.0.0/28"], user_header="X-Forwarded-User")


@pytest.mark.parametrize(
    ("peer", "name", "status"),
    [
        ("10.0.0.7", "ana", 200),
        ("10.0.0.7", "", 401),
        ("10.0.0.7", "eve,ana", 401),  # of two headers
        ("10.0.0.99", "ana", 401),
        ("127.0.0.1", "ana", 401),
        ("", "ana", 401),
    ],
)
def test_only_the_proxy_says_who_somebody_is(
    signed: FlaskClient, peer: str, name: str, status: int
) -> None:
    headers = {"X-Forwarded-User": name, "X-Forwarded-For": "10.0.0.7"}
    shown = signed.get("/failures", headers=headers, environ_base={"REMOTE_ADDR": peer})
    assert shown.status_code == status


def test_who_is_signed_in_writes_under_his_name_and_deletes_nothing(signed: FlaskClient) -> None:
    def ask(path: str, **form: str) -> Any:
        headers = {"X-Forwarded-User": "ana", "Sec-Fetch-Site": "same-origin"}
        return signed.post(path, data=form, headers=headers, environ_base=PROXY)

    address = ask("/", text=ONE).location
    assert ask(f"{address}/fix", text="it", by="bo").status_code == 303
    page = signed.get(address, headers={"X-Forwarded-User": "cy"}, environ_base=PROXY)
    assert "fixed by ana" in page.text
    assert ask(f"{address}/delete").status_code == 403


def test_a_proxy_without_a_header_signs_nobody_in(made: Made) -> None:
    client = made(access="closed", proxies=["10.0.0.7"])
    headers = {"X-Forwarded-User": "ana"}
    assert client.get("/failures", headers=headers, environ_base=PROXY).status_code == 401


@pytest.mark.parametrize(("hops", "address"), [(1, "10.0.0.6"), (2, "192.0.2.1")])
def test_as_many_proxies_count_as_there_are(made: Made, hops: int, address: str) -> None:
    client = made(proxies=["10.0.0.7"], hops=hops)
    found = []
    client.application.before_request(lambda: found.append(request.remote_addr))
    headers = {"X-Forwarded-For": "198.51.100.9, 192.0.2.1, 10.0.0.6"}  # the first is invented
    client.get("/healthz", headers=headers, environ_base=PROXY)
    client.get("/healthz", headers=headers, environ_base={"REMOTE_ADDR": "203.0.113.5"})
    assert found == [address, "203.0.113.5"]


# --- limits and log ---------------------------------------------------------------------------------


def test_one_address_may_ask_so_often(made: Made) -> None:
    pytest.importorskip("flask_limiter")
    client = made(rate="2 per hour", access="closed")
    for _ in range(2):
        assert client.get("/failures").status_code == 401  # guessing tokens counts
    refused = client.get("/api/v1/failures")
    assert (refused.status_code, refused.mimetype) == (429, "application/problem+json")
    assert int(refused.headers["Retry-After"]) > 0
    assert "Too many requests" in client.get("/failures").text
    assert client.get("/healthz").status_code == 200
    other = client.get("/failures", environ_base={"REMOTE_ADDR": "192.0.2.9"})
    assert other.status_code == 401


def test_workers_count_together_and_for_themselves_while_the_store_is_gone(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (made(rate="2 per hour") for _ in range(2))
    assert [client.get("/causes").status_code for client in (one, two, one)] == [200, 200, 429]

    def gone(*_: object) -> None:
        raise StoreError("the server has gone")

    monkeypatch.setattr(Store, "hit", gone)
    assert [two.get("/causes").status_code for _ in range(3)] == [200, 200, 429]


def test_the_log_is_json_without_what_was_sent(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("structlog")
    client = made(log=True, access="read")
    token = store_of(client).issue("ana", ["remember", "report"], "root")
    address = paste(client, f"{SECRET}\n{ONE}")
    client.post(f"{address}/fix", data={"text": "move it"}, auth=("x", token))
    client.get("/failures?q=secret_words")
    client.application.logger.error("a message of %s", "ours")
    shown = capsys.readouterr().err
    lines = [json.loads(line) for line in shown.splitlines()]
    assert [(one.get("endpoint"), one.get("status"), one.get("who")) for one in lines] == [
        ("pages.answer", 303, None),
        ("memory.fix", 303, "ana"),
        ("memory.failures", 200, None),
        (None, None, None),
    ]
    assert lines[-1]["event"] == "a message of ours"
    assert all(one["timestamp"] and one["level"] for one in lines)
    for word in (SECRET, "Expected all tensors", address.rpartition("/")[2], "secret_words", token):
        assert word not in shown


# --- messages and eviction --------------------------------------------------------------------------


def settled(client: FlaskClient) -> None:
    background: Background = client.application.extensions["diagnose-background"]
    background.wait()


def test_news_are_sent_once_and_no_request_waits(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, answered = [], threading.Event()

    def urlopen(request: Any, timeout: int) -> io.BytesIO:
        answered.wait()  # a request that waited would wait for ever
        sent.append((request.full_url, json.loads(request.data)))
        return io.BytesIO()

    monkeypatch.setattr("diagnose.web.notices.urlopen", urlopen)
    client = made(webhook="https://chat.example/T0/secret")
    hostile = ONE.replace("cuda:0!", f"cuda:0! <!channel> & {SECRET}")
    for rank in range(3):
        body = {"text": hostile, "job": "4711", "ranks": [rank]}
        assert client.post("/api/v1/reports", json=body).status_code in (200, 201)
    failure = group_of(client, ONE)
    client.post(f"{failure}/status", data={"status": "fixed"})
    group_of(client, ONE)
    group_of(client, ONE)
    answered.set()
    settled(client)
    assert [url for url, _ in sent] == ["https://chat.example/T0/secret"] * 2
    first, second = (said["text"] for _, said in sent)
    assert first.startswith("New failure: RuntimeError: Expected all tensors")
    assert f"http://localhost{failure}>" in first
    assert "<!channel>" not in first
    assert SECRET not in first
    assert second.startswith("Back in a version that was to fix it: RuntimeError")


def test_a_chat_that_fails_costs_a_line_without_its_address(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(request: Any, timeout: int) -> None:
        raise OSError(f"{request.full_url} has gone")

    monkeypatch.setattr("diagnose.web.notices.urlopen", gone)
    client = made(webhook="https://chat.example/T0/secret")
    for text in (ONE, TWO):
        assert client.post("/api/v1/reports", json={"text": text}).status_code == 201
    settled(client)
    assert caplog.text.count("a job in the background failed: OSError") == 2
    assert "T0/secret" not in caplog.text


def test_what_is_too_many_is_evicted_beside_the_requests(made: Made) -> None:
    client = made(most=2)
    for text in (ONE, TWO, TWO, TWO, TWO):
        assert client.post("/api/v1/reports", json={"text": text}).status_code == 201
    settled(client)
    store = store_of(client)
    groups = store.groups()
    assert sorted(group.count for group in groups) == [1, 4]
    assert [len(store.page(group.id).reports) for group in groups] == [1, 1]


def test_a_background_that_is_full_leaves_out(caplog: pytest.LogCaptureFixture, made: Made) -> None:
    background, free = Background(made().application.logger), threading.Event()
    done: list[int] = []
    for _ in range(150):
        background.do(lambda: (free.wait(), done.append(1)))
    free.set()
    background.wait()
    assert 100 <= len(done) <= 101
    assert "left out" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--webhook", "file:///etc/passwd"], "webhook"),
        (["--proxy", "nonsense"], "nonsense"),
        (["--rate", "often"], "rate"),
    ],
)
def test_a_setting_that_is_none_is_bad_usage(
    tmp_path: Path, options: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diagnose.web.serve._gunicorn", lambda *_: True)
    where = str(tmp_path / "memory.sqlite")
    done = CliRunner().invoke(serve_command, ["--store", where, *options])
    assert (done.exit_code, said in done.output) == (2, True), done.output
