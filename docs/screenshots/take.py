"""Takes the pictures of README.md and docs/team.md: an answer on the page, light, dark and on a phone.

    python docs/screenshots/take.py [--chromium /usr/bin/chromium] [--into FOLDER]

It serves the application itself, from the case base that this installation would use.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from diagnose.web import create_app

HERE = Path(__file__).parent
TRACE = HERE.parents[1] / "tests" / "traces" / "easyedit-memit-delta.txt"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}


@contextmanager
def served() -> Iterator[str]:
    """The application on a free port."""
    server = make_server("127.0.0.1", 0, create_app(), threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def opened(browser: Browser, scheme: str, size: dict[str, int]) -> Iterator[Page]:
    """A fresh page."""
    context = browser.new_context(color_scheme=scheme, viewport=size, locale="en")
    try:
        yield context.new_page()
    finally:
        context.close()


def take(browser: Browser, address: str, into: Path) -> None:
    """Every picture."""
    trace = TRACE.read_text(encoding="utf-8")
    for name, scheme, size in (
        ("light", "light", WIDE),
        ("dark", "dark", WIDE),
        ("phone", "light", NARROW),
    ):
        with opened(browser, scheme, size) as page:
            page.goto(address)
            page.locator("textarea").fill(trace)
            page.locator("button.primary").click()
            page.locator(".summary").wait_for()
            page.screenshot(path=into / f"answer-{name}.png")


def main() -> None:
    """Reads the arguments and takes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--into", type=Path, default=HERE)
    arguments = parser.parse_args()
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=ARGUMENTS)
        take(browser, address, arguments.into)
        browser.close()


if __name__ == "__main__":
    main()
