"""Runs the web application: under gunicorn where it is installed, else under Werkzeug's own server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from flask import Flask

from diagnose.casebase.connection import displayed
from diagnose.casebase.store import load
from diagnose.web.app import DEFAULT_MAX_BYTES, create_app


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    workers: int | None = None,
    casebase_path: Path | None = None,
    store: str | None = None,
    **settings: Any,
) -> None:
    """Serves until it is interrupted.

    Args:
        host: address to listen on.
        port: port to listen on.
        max_bytes: the largest text that is diagnosed.
        workers: gunicorn processes; as many as cores, at most four, if None.
        casebase_path: the compiled case base; the built-in one if None.
        store: where reports are stored; nothing is if None.
        settings: the others of `create_app`.

    Raises:
        CasebaseError: the case base cannot be read; said before anything listens.
        StoreError: nor can the store be opened.
        ValueError: a setting is none.
        ImportError: a package of the extra ``server`` is missing.
    """
    load(casebase_path)  # fails here rather than at the first visitor; workers inherit it by fork
    app = create_app(casebase_path, max_bytes=max_bytes, store=store, **settings)
    said = f"reports are stored in {displayed(store)}" if store else "nothing is stored"
    click.echo(f"diagnose: {said}", err=True)
    click.echo(f"diagnose listens on http://{host}:{port}/ (Ctrl+C ends it)", err=True)
    if not _gunicorn(app, host, port, workers or min(4, os.cpu_count() or 1)):
        _werkzeug(app, host, port)


def _gunicorn(app: Flask, host: str, port: int, workers: int) -> bool:
    """Serves by gunicorn; False where it cannot be imported (not installed, or Windows)."""
    try:
        from gunicorn.app.base import BaseApplication

        from diagnose.web import deployment
    except ImportError:
        return False

    class Server(BaseApplication):  # type: ignore[misc]
        """gunicorn without its command line and its configuration files."""

        def load_config(self) -> None:
            settings: dict[str, Any] = {
                **vars(deployment),
                "bind": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
                "workers": workers,
                "loglevel": "warning",
            }
            for key, value in settings.items():
                if key in self.cfg.settings:
                    self.cfg.set(key, value)

        def load(self) -> Flask:
            return app

    Server().run()
    return True


def _werkzeug(app: Flask, host: str, port: int) -> None:
    from werkzeug.serving import run_simple

    click.echo(
        "gunicorn is not installed: this is the development server, for one machine and few people"
        " (pip install 'torch-diagnose[server]')",
        err=True,
    )
    run_simple(host, port, app, threaded=True)
