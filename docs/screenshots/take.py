"""Takes the pictures of docs/web.md: the paste page and an answer, light and dark, wide and narrow; an
answer that is not sure, an error, a cause, the incidents.

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
#: A report that leaves several causes, and a question that decides.
UNSURE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:0 and cpu!"
)
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
def opened(browser: Browser, scheme: str, size: dict[str, int], lang: str) -> Iterator[Page]:
    """A fresh page."""
    context = browser.new_context(color_scheme=scheme, viewport=size, locale=lang)
    try:
        yield context.new_page()
    finally:
        context.close()


def take(browser: Browser, address: str, into: Path) -> None:
    """Every picture."""
    trace = TRACE.read_text(encoding="utf-8")
    for name, scheme, size, lang in (
        ("light", "light", WIDE, "en"),
        ("dark", "dark", WIDE, "en"),
        ("phone", "light", NARROW, "en"),
        ("zh", "light", WIDE, "zh-CN"),
    ):
        with opened(browser, scheme, size, lang) as page:
            page.goto(address)
            if name in ("light", "dark"):
                page.screenshot(path=into / f"paste-{name}.png")
            answered(page, trace)
            page.screenshot(path=into / f"answer-{name}.png")
    with opened(browser, "light", WIDE, "en") as page:
        page.goto(f"{address}/causes/cross-shard-op")
        page.screenshot(path=into / "cause.png")
        page.goto(f"{address}/incidents?q=attention+mask+on+the+cpu")
        page.screenshot(path=into / "incidents.png")
        page.goto(address)
        answered(page, UNSURE)
        page.screenshot(path=into / "unknown.png")
        page.goto(address)
        page.locator("textarea").fill(trace)
        page.locator("input[name=files]").set_input_files(
            {"name": "net.zip", "mimeType": "application/zip", "buffer": b"PK no zip"}
        )
        page.locator("button.primary").click()
        page.locator(".notice").wait_for()
        page.screenshot(path=into / "error.png")


def answered(page: Page, text: str) -> None:
    """Pastes a text and waits for its answer."""
    page.locator("textarea").fill(text)
    page.locator("button.primary").click()
    page.locator(".summary").wait_for()


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
