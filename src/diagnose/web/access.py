"""Who may read and write a service with a store: everybody, or who has a token.

A token comes as ``Authorization: Bearer`` from programs, and as the password of HTTP Basic from a browser,
which needs neither cookies nor scripts.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from flask import Flask, Response, current_app, g, request

from diagnose.memory.records import Scope, Token
from diagnose.memory.store import Store
from diagnose.web.errors import refused

#: What people and probes may always read.
_PUBLIC = frozenset({"static", "pages.healthz", "memory.readyz"})
#: Endpoint -> what a token has to allow. An endpoint that writes has a line here.
SCOPES: Mapping[str, Scope] = {
    "memory.keep": "report",
    "memory.send": "report",
    "memory.fix": "remember",
    "memory.status": "triage",
    "memory.merge": "triage",
    "memory.split": "triage",
    "memory.delete": "admin",
}


class Access(enum.Enum):
    """What needs a token: nothing, writing, or reading too."""

    OPEN = "open"
    READ = "read"
    CLOSED = "closed"


def register(app: Flask, access: Access, store: Store) -> None:
    """Asks for a token where one is needed."""

    def checked() -> Response | None:
        scope = SCOPES.get(request.endpoint or "")
        if request.endpoint in _PUBLIC or access is Access.OPEN:
            return None
        if access is Access.READ and scope is None:
            return None
        token = g.token = _token(store)
        if token is None:
            return _asking()
        if scope is not None and scope not in token.scopes:
            return refused(403)
        return None

    app.before_request(checked)


def who() -> str | None:
    """The name of the token that came with the request."""
    token: Token | None = g.get("token")
    return token.name if token is not None else None


def _token(store: Store) -> Token | None:
    given = request.authorization
    secret = given.token or given.password if given is not None else None
    return store.token(secret) if secret else None


def _asking() -> Response:
    """401, on which a browser asks for the token as a password."""
    response = refused(401)
    response.headers["WWW-Authenticate"] = 'Basic realm="diagnose", charset="UTF-8"'
    current_app.logger.info("a request had no valid token")
    return response
