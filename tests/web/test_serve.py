"""`diagnose serve` and the documented gunicorn command as real processes, beset by slow clients."""

from __future__ import annotations

import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from web.conftest import running_server

pytest.importorskip("gunicorn")

#: The head of an upload whose body begins and does not go on; half a head.
SLOW_BODY = (
    b"POST /api/v1/diagnoses HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 100000\r\n\r\n0123456789"
)
HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\nAcc"

Connect = Callable[[str, bytes], socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Opens a connection, sends what is given, and keeps it open until the test ends."""
    with ExitStack() as stack:

        def make(address: str, data: bytes) -> socket.socket:
            host, port = address.removeprefix("http://").split(":")
            client = stack.enter_context(socket.create_connection((host, int(port))))
            client.sendall(data)
            return client

        yield make


def status_of(address: str) -> int:
    with urllib.request.urlopen(f"{address}/healthz") as response:
        return int(response.status)


@pytest.mark.parametrize("data", [SLOW_BODY, HALF_HEAD], ids=["bodies", "heads"])
def test_two_hundred_slow_clients_do_not_stop_the_service(
    server: str, connect: Connect, data: bytes
) -> None:
    for _ in range(200):
        connect(server, data)
    time.sleep(1)  # all are accepted, each holds what it can hold
    assert [status_of(server) for _ in range(5)] == [200] * 5


@pytest.fixture
def impatient(casebase_path: Path) -> Iterator[str]:
    """The documented gunicorn command, but a request must have arrived within two seconds."""
    command = [sys.executable, "-m", "gunicorn", "--config", "python:diagnose.web.deployment"]
    options = ["--timeout", "2", "--log-level", "warning"]
    application = f"diagnose.web:create_app({str(casebase_path)!r})"
    yield from running_server(
        lambda port: [*command, *options, "--bind", f"127.0.0.1:{port}", application]
    )


def test_a_request_that_does_not_arrive_is_ended(impatient: str, connect: Connect) -> None:
    body, head = connect(impatient, SLOW_BODY), connect(impatient, HALF_HEAD)
    answer = b"".join(iter(lambda: body.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert not head.recv(65536).startswith(b"HTTP/1.1 200")
    # Bytes that trickle do not begin the time anew.
    drip = connect(impatient, HALF_HEAD)
    with pytest.raises(OSError):
        for _ in range(300):
            drip.sendall(b"x")
            time.sleep(0.1)
    assert status_of(impatient) == 200


def test_an_upload_in_pieces_is_answered(impatient: str, connect: Connect) -> None:
    text = b"RuntimeError: Expected all tensors to be on the same device, cuda:0 and cpu!\n"
    head = (
        b"POST /api/v1/diagnoses HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n"
    )
    client = connect(impatient, head % len(text))
    for at in range(0, len(text), 20):
        client.sendall(text[at : at + 20])
        time.sleep(0.1)
    answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 ") and b"device-placement" in answer
