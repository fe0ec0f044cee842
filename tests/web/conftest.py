"""An app with a small limit, a real server process, a real browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from diagnose.casebase.store import load
from diagnose.model import Diagnosis
from diagnose.web import create_app
from diagnose.web.engine import Engine

LIMIT = 200_000
TIMEOUT = 15_000  # milliseconds that a page may take
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def app(casebase_path: Path) -> Flask:
    return create_app(casebase_path, max_bytes=LIMIT)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def client_for(casebase_path: Path) -> Callable[[Diagnosis], FlaskClient]:
    """A client of an app that gives one answer to everything."""

    def make(diagnosis: Diagnosis) -> FlaskClient:
        engine = Engine(lambda lang: load(casebase_path, lang), lambda submission, base: diagnosis)
        return create_app(engine=engine).test_client()

    return make


def running_server(command: Callable[[int], list[str]]) -> Iterator[str]:
    """The address of a server in its own process; ``command`` makes its command line of a port."""
    with server_process(command) as (address, _):
        yield address


@contextmanager
def server_process(
    command: Callable[[int], list[str]],
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The same with the process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(command(port), stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, process)
        yield address, process
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="session")
def server(casebase_path: Path) -> Iterator[str]:
    """The address of `diagnose serve` in its own process."""
    options = ["--max-bytes", str(LIMIT), "--workers", "1", "--casebase", str(casebase_path)]
    yield from running_server(
        lambda port: [sys.executable, "-m", "diagnose", "serve", "--port", str(port), *options]
    )


def _wait(address: str, process: subprocess.Popen[str]) -> None:
    while True:  # a busy machine starts it late: pytest's own timeout ends what hangs
        if process.poll() is not None:
            pytest.fail(f"the server ended: {process.communicate()[1]}")
        try:
            urllib.request.urlopen(f"{address}/healthz", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium; without one the tests are skipped, unless they are required.

    It ends with its module: Playwright's event loop runs in this thread for as long as it lives, and no
    test of another module could start its own.
    """
    required = os.environ.get("DIAGNOSE_REQUIRE_BROWSER") == "1"
    # The shell has the engine without what a desktop needs, and takes a third of its processor time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    executable = next(filter(None, map(shutil.which, names)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        executable = None
    if executable is None:
        reason = "needs Chromium (apt-get install chromium-headless-shell) and Playwright (pip install playwright)"
        pytest.fail(reason) if required else pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(CHROMIUM_ARGUMENTS)
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def remembering_server(
    casebase_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The same with a store."""
    store = tmp_path_factory.mktemp("store") / "memory.sqlite"
    options = ["--store", str(store), "--workers", "2", "--casebase", str(casebase_path)]
    yield from running_server(
        lambda port: [sys.executable, "-m", "diagnose", "serve", "--port", str(port), *options]
    )


def has(locator: Any, count: int) -> None:
    """Waits until a locator finds so many elements; ``locator.count()`` asks a page that may still load."""
    from playwright.sync_api import expect

    expect(locator).to_have_count(count, timeout=TIMEOUT)


class Visitor:
    """A page and everything that a page must never do while it is looked at."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.trouble: list[str] = []
        page.on("dialog", lambda dialog: (self.trouble.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on(
            "console",
            # A policy violation and a missing file are console errors too.
            lambda message: message.type == "error" and self.trouble.append(message.text),
        )

    def go(self, path: str = "/") -> None:
        self.page.goto(self.address + path)

    def ask(self, text: str) -> None:
        """Pastes and submits."""
        self.go()
        self.page.locator("textarea").fill(text)
        self.page.locator("button.primary").click()
        self.page.locator(".summary").wait_for()


@pytest.fixture
def visit(chromium: Any, server: str) -> Iterator[Callable[..., Visitor]]:
    """Opens a fresh browser context; what it must not do is checked at the end of the test."""
    visitors = []

    def make(**options: Any) -> Visitor:
        context = chromium.new_context(**{"locale": "en-US", **options})
        context.set_default_timeout(TIMEOUT)
        visitors.append(Visitor(context.new_page(), server))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.page.context.close()
        assert visitor.trouble == []
