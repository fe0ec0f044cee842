"""What stands around the application where many use it: proxies, and a log of requests."""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, request
from werkzeug.middleware.proxy_fix import ProxyFix

from diagnose.installation import needs
from diagnose.web.access import TRUSTED, who

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class TrustedProxies:
    """A WSGI application behind proxies: what they say of a visitor (`X-Forwarded-For`, `-Proto`, `-Host`)
    counts, and what anybody else says of himself does not.

    Args:
        app: the application.
        networks: the addresses that the last proxy may have.
        hops: how many proxies stand behind each other, exactly.

    Raises:
        ValueError: these are no addresses.
    """

    def __init__(self, app: WSGIApplication, networks: Sequence[str], hops: int) -> None:
        self._plain = app
        self._networks = [ipaddress.ip_network(network, strict=False) for network in networks]
        self._behind = ProxyFix(app, x_for=hops, x_proto=hops, x_host=hops)

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answers a request."""
        if not self._trusts(environ.get("REMOTE_ADDR", "")):
            return self._plain(environ, start)
        environ[TRUSTED] = True
        return self._behind(environ, start)

    def _trusts(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:  # a socket file has no address
            return False
        return any(address in network for network in self._networks)


def log(app: Flask) -> None:
    """Logs each request and each message as a line of JSON, without anything of what was sent: neither an
    address, which may be the key to a report, nor a query.

    Raises:
        ImportError: structlog is not installed.
    """
    try:
        import structlog
    except ImportError as error:
        raise ImportError(needs("structlog", "server"), name="structlog") from error
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    formatter = structlog.stdlib.ProcessorFormatter
    handler = logging.StreamHandler()
    handler.setFormatter(
        formatter(
            processors=[
                formatter.remove_processors_meta,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
            foreign_pre_chain=shared,
        )
    )
    app.logger.handlers[:] = [handler]
    app.logger.setLevel(logging.INFO)
    app.logger.propagate = False
    lines = structlog.wrap_logger(app.logger, [*shared, formatter.wrap_for_formatter])
    app.before_request(_begin)
    app.after_request(_ended(lines))


def _begin() -> None:
    g.begun = time.monotonic()


def _ended(lines: Any) -> Callable[[Response], Response]:
    def ended(response: Response) -> Response:
        lines.info(
            "request",
            method=request.method,
            endpoint=request.endpoint,
            status=response.status_code,
            bytes=response.content_length,
            ms=round((time.monotonic() - g.get("begun", time.monotonic())) * 1000, 1),
            who=who(),
        )
        return response

    return ended
