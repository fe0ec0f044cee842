"""What is done beside the requests: a message to a team's chat about a new failure or a regression, and the
eviction of what is dull."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from logging import Logger
from queue import Full, Queue
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from diagnose.bulkhead import place
from diagnose.memory.records import Group

_TIMEOUT = 10
#: Jobs that wait; a chat that does not answer shall fill no memory.
_WAITING = 100
_LONGEST = 300


class Background:
    """Does one job after the other, none of which a request waits for. Each process has a thread of its
    own; a job that fails costs a line in the log."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._jobs: Queue[Callable[[], object]] = Queue(_WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def do(self, job: Callable[[], object]) -> None:
        """Does a job soon, or never where too many wait."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # not after a fork
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
        try:
            self._jobs.put_nowait(job)
        except Full:
            self._logger.warning("too many jobs wait: one was left out")

    def wait(self) -> None:
        """Returns when all jobs are done."""
        self._jobs.join()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except Exception as error:  # its message may hold the secret address of a chat
                self._logger.error("a job in the background failed: %s", place(error))
            finally:
                self._jobs.task_done()


def checked(webhook: str) -> str:
    """The address of a chat.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(webhook)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("the webhook is no address: https://... is wanted")
    return webhook


def post(webhook: str, sentence: str, group: Group, link: str) -> None:
    """Sends a message in the form that Slack and its kin take.

    Args:
        webhook: where to.
        sentence: what happened.
        group: the failure.
        link: the address of its page.

    Raises:
        OSError: nobody takes it.
    """
    said = f"{group.facts['error']}: {group.facts['message']}".split("\n")[0][:_LONGEST]
    text = f"{sentence} {_escaped(said)}\n<{_escaped(link)}>"
    body = json.dumps({"text": text}).encode()
    request = Request(webhook, body, {"Content-Type": "application/json"})
    urlopen(request, timeout=_TIMEOUT).close()


def _escaped(text: str) -> str:
    """A text without what Slack takes for a link or a name to call."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
