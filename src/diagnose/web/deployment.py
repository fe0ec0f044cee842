"""How gunicorn serves the application: many may wait, few compute, and nobody waits for ever.

    gunicorn --config python:diagnose.web.deployment 'diagnose.web:create_app()'

`diagnose serve` takes the same settings. While a request arrives, it holds a thread and nothing else, so
there are many threads; how many texts are diagnosed at once is bounded by `diagnose.web.engine`.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

worker_class = "diagnose.web.deployment.PatientWorker"
threads = 256
#: Seconds in which a request must have arrived; and in which a worker must show that it lives.
timeout = 60
preload_app = True
control_socket_disable = True  # gunicorn 25 and later: nothing in the home folder


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's threaded worker, with an end to its patience: a request that has not arrived within
    ``timeout`` is taken for ended, and one that is not answered after as long again is cut off."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.begun: dict[Any, float] = {}

    def handle(self, conn: Any) -> Any:
        """Reads and answers one request; runs in a thread of the pool."""
        self.begun[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            del self.begun[conn]

    def notify(self) -> None:
        """Called by the worker's own loop at least once a second."""
        super().notify()
        for conn, begun in self.begun.copy().items():
            waited = time.monotonic() - begun
            if waited > self.cfg.timeout > 0:
                late = waited > 2 * self.cfg.timeout
                with suppress(OSError):  # it has just ended by itself
                    conn.sock.shutdown(socket.SHUT_RDWR if late else socket.SHUT_RD)
