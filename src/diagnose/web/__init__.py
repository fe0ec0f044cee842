"""The web door: a page to paste a traceback into and an HTTP API, by Flask.

``diagnose.web:create_app()`` is what a WSGI server is pointed at. The factory is loaded when it is first
asked for, so that the command line can import this package without importing Flask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.web.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    if name != "create_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from diagnose.web.app import create_app

    return create_app
