"""Errors as a page for people, and as application/problem+json (RFC 9457) for the API."""

from __future__ import annotations

import json
import secrets
from typing import cast

from flask import Flask, Response, current_app, g, render_template, request
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from diagnose.bulkhead import debug, missing
from diagnose.casebase.store import CasebaseError
from diagnose.memory.lookup import StoreError
from diagnose.model import Diagnosis, Missing
from diagnose.web.inputs import Submission
from diagnose.web.language import current, say
from diagnose.web.refusals import InputError, too_large


def register(app: Flask) -> None:
    """Installs the handlers; an exception that nobody expected becomes a 500 with no more than an id."""
    app.register_error_handler(InputError, _input)
    app.register_error_handler(CasebaseError, _casebase)
    app.register_error_handler(StoreError, _store)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(NoAnswer, _no_answer)
    app.register_error_handler(Exception, _unexpected)


class NoAnswer(Exception):
    """An answer with the verdict ``failed``, in place of which its asker gets a 500."""

    def __init__(self, incomplete: tuple[Missing, ...]) -> None:
        super().__init__("an internal error left an input without an answer")
        self.incomplete = incomplete


def complete(diagnosis: Diagnosis) -> Diagnosis:
    """The answer, when what it lacks through faults of ours is in the log.

    Raises:
        NoAnswer: its verdict is ``failed``.
    """
    if diagnosis.verdict == "failed":
        raise NoAnswer(diagnosis.incomplete)
    for piece in diagnosis.incomplete:
        current_app.logger.error("an answer lacks %s: %s", piece.what, piece.fault)
    return diagnosis


def _input(error: InputError) -> Response:
    return _refusal(error.status, error.reason, **error.values)


def _casebase(error: CasebaseError) -> Response:
    current_app.logger.error("the case base cannot be used: %s", error)
    return _refusal(503, "error-503")


def _store(error: StoreError) -> Response:
    current_app.logger.error("%s", error)
    return _refusal(503, "error-store")


def _unexpected(error: Exception) -> Response:
    return _fault((missing("answering", error),))


def _no_answer(error: NoAnswer) -> Response:
    return _fault(error.incomplete)


def _fault(pieces: tuple[Missing, ...]) -> Response:
    """A 500 with an id that stands in the log too. Of what was sent nothing gets there: neither an address
    nor an exception's message, which may quote it."""
    id = secrets.token_hex(4)
    for piece in pieces:
        current_app.logger.error(
            "fault %s in %s: %s: %s", id, request.endpoint, piece.what, piece.fault
        )
    if _api():
        return problem(500, say("error-500-api", "en", id=id), id=id)
    return page(500, say("error-500", current(), id=id))


def refused(status: int) -> Response:
    """A refusal as a page or, to a program, as a problem."""
    return _refusal(status, f"error-{status}")


def _refusal(status: int, key: str, /, **values: object) -> Response:
    if _api():
        return problem(status, say(key, "en", **values))
    return page(status, say(key, current(), **values))


def _http(error: HTTPException) -> Response:
    status = error.code or 500
    if status == 413:
        return _input(too_large(current_app.config["DIAGNOSE_MAX_BYTES"]))
    key = f"error-{status}" if status in (400, 403, 404, 405, 429) else "error-other"
    response = _refusal(status, key)
    if status == 405 and error.get_response().headers.get("Allow"):
        response.headers["Allow"] = error.get_response().headers["Allow"]
    return response


def _api() -> bool:
    return request.path.startswith("/api/")


def problem(status: int, detail: str, **more: str) -> Response:
    """An error of the API; ``type`` is left out, which means about:blank."""
    title = HTTP_STATUS_CODES.get(status, "Error")
    body = json.dumps({"title": title, "status": status, "detail": detail, **more})
    return Response(body + "\n", status, mimetype="application/problem+json")


def _pasted() -> Submission:
    """What was sent, as far as it had been read when something failed; nothing that is too large to send
    again."""
    if "submission" in g:
        return cast(Submission, g.submission)
    try:
        text = request.form.get("text", "")
    except HTTPException:  # the body is too large to be read
        text = ""
    return Submission(text if len(text) <= current_app.config["DIAGNOSE_MAX_BYTES"] else "")


def page(status: int, sentence: str) -> Response:
    """An error of the pages; one of the input, or of ours, is shown above a form to try again, which holds
    what was pasted."""
    again = status in (400, 413, 500)
    pasted = _pasted() if again else Submission("")
    try:
        text = render_template("error.html", sentence=sentence, again=again, submission=pasted)
    except Exception as error:  # the page itself may be what is broken
        if status < 500:
            raise
        debug("the page of an error failed", error)
        return Response(sentence, status, mimetype="text/plain")
    return Response(text, status)
