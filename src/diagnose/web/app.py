"""The application factory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

from flask import Flask

from diagnose import __version__
from diagnose.casebase.store import load
from diagnose.paths import of_frame
from diagnose.placeholders import in_general
from diagnose.rendering.answer import bug_line, day, seen_line
from diagnose.rendering.words import changed, clean
from diagnose.web import api, errors, headers, highlight, language, pages
from diagnose.web.engine import Engine, default_engine
from diagnose.web.excerpt import visible
from diagnose.web.inputs import InMemoryRequest
from diagnose.web.notices import Background, checked
from diagnose.web.uploads import MOST

DEFAULT_MAX_BYTES = 5 * 1024 * 1024


class DiagnoseFlask(Flask):
    """Flask with requests that never spill to disk."""

    request_class = InMemoryRequest


def create_app(
    casebase_path: Path | str | None = None,
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    engine: Engine | None = None,
    store: str | None = None,
    access: Literal["open", "read", "closed"] = "open",
    proxies: Sequence[str] = (),
    hops: int = 1,
    user_header: str | None = None,
    rate: str | None = None,
    log: bool = False,
    most: int | None = None,
    webhook: str | None = None,
) -> Flask:
    """The web application: pages, API, static files. A process keeps no state.

    Args:
        casebase_path: the compiled case base; the one that came with the package if None.
        max_bytes: the largest text that is diagnosed, in bytes of UTF-8.
        engine: what answers, in place of the pipeline over ``casebase_path``.
        store: where reports are stored, a path or a database URL; nothing is if None.
        access: with a store, what needs a token: nothing, writing, or reading too.
        proxies: addresses or networks of the last proxy, whose `X-Forwarded-` headers count.
        hops: how many proxies stand behind each other, exactly.
        user_header: the header in which that proxy names whom it has let in, who needs no token.
        rate: how many requests one address may make (``120 per minute``); any number if None.
        log: whether each request is a line of JSON in the log.
        most: how many reports are kept; the dullest beyond go.
        webhook: where a message is sent about a new failure or a regression.

    Raises:
        ValueError: a setting is none.
        StoreError: the store cannot be opened.
        ImportError: a package of the extra ``server`` is missing.
    """
    if max_bytes < 1:
        raise ValueError(f"max_bytes must be positive, not {max_bytes}")
    app = DiagnoseFlask("diagnose.web")
    # A body may be larger than its text: CR LF for line feeds in a form, escapes in JSON.
    body = 2 * max_bytes + 64 * 1024
    app.config.update(
        DIAGNOSE_MAX_BYTES=max_bytes,
        MAX_CONTENT_LENGTH=body,
        MAX_FORM_MEMORY_SIZE=body,
        MAX_FORM_PARTS=MOST + 20,
        SEND_FILE_MAX_AGE_DEFAULT=timedelta(days=1),
    )
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.json.sort_keys = False  # type: ignore[attr-defined]
    path = Path(casebase_path) if casebase_path is not None else None
    app.extensions["diagnose"] = replace(engine or default_engine(path), store=store)

    _prepare_templates(app)
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(api.blueprint)
    if rate is not None or log or proxies:
        _guard(app, proxies, hops, rate, log)
    if store is not None:
        _remember(app, store, path, access, user_header)
        app.config.update(DIAGNOSE_MOST=most, DIAGNOSE_WEBHOOK=webhook and checked(webhook))
    app.after_request(headers.secure)
    errors.register(app)
    return app


def _prepare_templates(app: Flask) -> None:
    """What templates may use."""
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(
        changed=changed,
        clean=clean,
        python=highlight.python,
        patch=highlight.patch,
        percent=pages.percent,
        bug_line=bug_line,
        day=lambda at: day(at, language.current()),
        clock=lambda at: time.strftime("%H:%M", time.gmtime(at)),
        seen_line=lambda seen: seen_line(seen, language.current()),
        https=pages.https,
        in_general=in_general,
        place=of_frame,
        visible=visible,
    )
    app.jinja_env.tests["before_after"] = highlight.before_after
    app.context_processor(
        lambda: {
            "lang": language.current(),
            "say": lambda key, /, **values: language.say(key, language.current(), **values),
            "version": __version__,
            "stores": "diagnose-store" in app.extensions,
        }
    )


def _guard(app: Flask, proxies: Sequence[str], hops: int, rate: str | None, log: bool) -> None:
    """Puts around the app what its settings ask for."""
    from diagnose.web import guarding

    if log:
        guarding.log(app)
    if rate is not None:
        from diagnose.web.limiting import limit

        limit(app, rate)
    if proxies:
        app.wsgi_app = guarding.TrustedProxies(app.wsgi_app, proxies, hops)  # type: ignore[assignment, method-assign]


def _remember(
    app: Flask, where: str, casebase: Path | None, access: str, header: str | None
) -> None:
    """Gives the app a store, and its pages."""
    from diagnose.memory.redaction import redactor
    from diagnose.memory.store import Store
    from diagnose.web import remembering
    from diagnose.web.access import Access, register

    store = Store(where, redactor(load(casebase).redaction().rules))
    store.close()  # each worker opens connections of its own
    app.extensions["diagnose-store"] = store
    app.extensions["diagnose-keep"] = remembering.kept
    app.extensions["diagnose-background"] = Background(app.logger)
    app.register_blueprint(remembering.blueprint)
    register(app, Access(access), store, header)
