"""Errors as a page for people, and as application/problem+json (RFC 9457) for the API."""

from __future__ import annotations

import json

from flask import Flask, Response, current_app, render_template, request
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from diagnose.casebase.store import CasebaseError
from diagnose.web.inputs import InputError, too_large
from diagnose.web.language import current, say


def register(app: Flask) -> None:
    """Installs the handlers; an exception that nobody expected becomes a 500 without details."""
    app.register_error_handler(InputError, _input)
    app.register_error_handler(CasebaseError, _casebase)
    app.register_error_handler(HTTPException, _http)


def _input(error: InputError) -> Response:
    if _api():
        return problem(error.status, say(error.reason, "en", **error.values))
    return page(error.status, say(error.reason, current(), **error.values))


def _casebase(error: CasebaseError) -> Response:
    current_app.logger.error("the case base cannot be used: %s", error)
    return (
        problem(503, say("error-503", "en")) if _api() else page(503, say("error-503", current()))
    )


def _http(error: HTTPException) -> Response:
    status = error.code or 500
    if status == 413:
        return _input(too_large(current_app.config["DIAGNOSE_MAX_BYTES"]))
    lang = "en" if _api() else current()
    key = f"error-{status}" if status in (400, 403, 404, 405, 500) else "error-other"
    response = (problem if _api() else page)(status, say(key, lang))
    if status == 405 and error.get_response().headers.get("Allow"):
        response.headers["Allow"] = error.get_response().headers["Allow"]
    return response


def _api() -> bool:
    return request.path.startswith("/api/")


def problem(status: int, detail: str) -> Response:
    """An error of the API; ``type`` is left out, which means about:blank."""
    title = HTTP_STATUS_CODES.get(status, "Error")
    body = json.dumps({"title": title, "status": status, "detail": detail})
    return Response(body + "\n", status, mimetype="application/problem+json")


def page(status: int, sentence: str) -> Response:
    """An error of the pages; one of the input is shown above a form to try again."""
    again = status in (400, 413)
    return Response(render_template("error.html", sentence=sentence, again=again), status)
