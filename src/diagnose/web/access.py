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
from diagnose.memory.transactions import NAME
from diagnose.web.errors import refused

#: What people and probes may always read.
PUBLIC = frozenset({"static", "pages.healthz", "memory.readyz"})
#: Endpoint -> what a token has to allow. All that write have a line here, and what not everybody reads.
SCOPES: Mapping[str, Scope] = {
    "memory.keep": "report",
    "memory.send": "report",
    "memory.fix": "remember",
    "memory.status": "triage",
    "memory.merge": "triage",
    "memory.split": "triage",
    "memory.delete": "admin",
    "memory.changes": "admin",
}


class Access(enum.Enum):
    """What needs a token: nothing, writing, or reading too."""

    OPEN = "open"
    READ = "read"
    CLOSED = "closed"


#: What somebody may do whom a proxy has let in: all but what admins may.
_SIGNED_IN: frozenset[Scope] = frozenset({"report", "remember", "triage"})
#: Says that a request came through a trusted proxy.
TRUSTED = "diagnose.trusted"


def register(app: Flask, access: Access, store: Store, header: str | None = None) -> None:
    """Asks for a token where one is needed.

    Args:
        app: the application.
        access: what needs one.
        store: holds the tokens.
        header: in which a trusted proxy names whom it has let in, who needs none.
    """

    def checked() -> Response | None:
        scope = SCOPES.get(request.endpoint or "")
        if request.endpoint in PUBLIC:
            return None
        if access is Access.OPEN:
            g.token = _signed_in(header)
            return None
        if access is Access.READ and scope is None:
            return None
        token = g.token = _token(store) or _signed_in(header)
        if token is None:
            return _asking()
        if scope is not None and scope not in token.scopes:
            return refused(403)
        return None

    app.before_request(checked)


def who() -> str | None:
    """The name of the token that came with the request, or whom a proxy has let in."""
    token: Token | None = g.get("token")
    return token.name if token is not None else None


def _token(store: Store) -> Token | None:
    given = request.authorization
    secret = given.token or given.password if given is not None else None
    return store.token(secret) if secret else None


def _signed_in(header: str | None) -> Token | None:
    """Whom a trusted proxy has let in, as if he had a token. A name with a comma is of two headers, one of
    which the visitor has sent himself."""
    user = request.headers.get(header, "").strip() if header is not None else ""
    if not user or "," in user or not request.environ.get(TRUSTED):
        return None
    return Token("", user[:NAME], _SIGNED_IN, 0, None)


def _asking() -> Response:
    """401, on which a browser asks for the token as a password."""
    response = refused(401)
    response.headers["WWW-Authenticate"] = 'Basic realm="diagnose", charset="UTF-8"'
    current_app.logger.info("a request had no valid token")
    return response
