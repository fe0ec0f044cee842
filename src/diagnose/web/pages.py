"""The pages: paste, answer, causes, incidents. They work without JavaScript and without cookies."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    g,
    redirect,
    render_template,
    request,
    url_for,
)

from diagnose.bulkhead import collecting, guarded
from diagnose.casebase.search import Hit, search
from diagnose.casebase.store import Casebase
from diagnose.memory.redaction import said
from diagnose.model import DEVICE_FAMILY, Diagnosis, Incident
from diagnose.placeholders import in_general, script
from diagnose.rendering import words
from diagnose.rendering.answer import Answer
from diagnose.rendering.answer import answer as shown
from diagnose.rendering.brief import brief
from diagnose.rendering.markdown import render
from diagnose.web import language
from diagnose.web.engine import engine
from diagnose.web.errors import complete
from diagnose.web.excerpt import excerpt
from diagnose.web.inputs import Submission, from_form
from diagnose.web.refusals import InputError, size
from diagnose.web.uploads import kept

blueprint = Blueprint("pages", __name__)
#: Stores a submission for an hour; None where that failed.
Keep = Callable[[Submission], str | None]
_LONGEST_QUERY = 2000
_MOST_HITS = 20


@blueprint.url_defaults
def _keep_language(endpoint: str, values: dict[str, Any]) -> None:
    """Links keep the language that was asked for; without one the browser's preference goes on."""
    if language.chosen() and endpoint.startswith(("pages.", "memory.")):
        values.setdefault("lang", language.chosen())


@blueprint.app_context_processor
def _limits() -> dict[str, Any]:
    limit = current_app.config["DIAGNOSE_MAX_BYTES"]
    return {"max_bytes": limit, "max_size": size(limit)}


@blueprint.get("/")
def paste() -> str:
    """The page to paste into."""
    return render_template("paste.html")


@blueprint.get("/example")
def example() -> str:
    """The same page with a traceback to try."""
    text = resources.files("diagnose.web").joinpath("example.txt").read_text(encoding="utf-8")
    return render_template("paste.html", text=text)


@blueprint.post("/")
def answer() -> Any:
    """The answer to what was pasted or uploaded, at an address of its own where there is a store."""
    submission = g.submission = _submitted()
    keep: Keep | None = current_app.extensions.get("diagnose-keep")
    if keep is not None and (id := keep(submission)) is not None:
        return redirect(url_for("memory.report", id=id), 303)
    return page_of(submission, complete(engine().answer(submission)))


def page_of(submission: Submission, diagnosis: Diagnosis, stored: Any = None) -> str:
    """The page of an answer.

    Args:
        submission: what was asked.
        diagnosis: the answer.
        stored: the report, where it is stored.
    """
    casebase = engine().casebase(submission.lang)
    with collecting() as pieces:
        rows = guarded("excerpt", lambda: excerpt(submission.text, diagnosis), ())
    diagnosis = complete(diagnosis._replace(incomplete=(*diagnosis.incomplete, *pieces)))
    return render_template(
        "answer.html",
        stored=stored,
        removed=said(stored.removed, casebase.redaction().kinds) if stored is not None else "",
        replies=_replies(submission, casebase),
        causes=tuple(casebase.causes.values()),
        submission=submission,
        diagnosis=diagnosis,
        rows=rows,
        script=script(diagnosis.report),
        other=_other_family(diagnosis),
        shown=guarded("answer", lambda: shown(diagnosis, submission.source), Answer()),
        kept=guarded("sources", lambda: kept(submission.files, diagnosis), ""),
        first=guarded("brief", lambda: brief(diagnosis), None),
        markdown=guarded("markdown", lambda: render(diagnosis), ""),
        known=set(casebase.incidents),
    )


def _replies(submission: Submission, casebase: Casebase) -> list[tuple[str, str]]:
    """The questions that were replied to, with the replies."""
    rules = {rule.id: rule for rule in casebase.questions()} if submission.answers else {}
    return [
        (rules[id].general or in_general(rules[id].ask), rules[id].answers[number])
        for id, number in submission.answers.items()
        if id in rules and 0 <= number < len(rules[id].answers)
    ]


@blueprint.post("/verification")
def verification() -> Response:
    """The verification snippet of one cause as a file.

    The text comes along and is diagnosed again: nothing is kept between two requests, and a program is
    only ever handed out when our own pipeline wrote it.
    """
    # Another site must not be able to make a visitor download a program in our name.
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        abort(403)
    submission = g.submission = _submitted()
    wanted = request.form.get("cause")
    for cause in complete(engine().answer(submission)).causes:
        if cause.id == wanted and cause.verification:
            return _program(cause.verification, "verify.py")
    raise InputError(400, "error-no-such-cause")


@blueprint.get("/causes")
def causes() -> str:
    """Every root cause, with what it looks like."""
    casebase = _casebase()
    return render_template(
        "causes.html",
        causes=tuple(casebase.causes.values()),
        counts={id: len(_incidents_of(casebase, id)) for id in casebase.causes},
    )


@blueprint.get("/causes/<id>")
def cause(id: str) -> str:
    """One root cause explained."""
    casebase = _casebase()
    found = casebase.causes.get(id) or abort(404)
    return render_template(
        "cause.html",
        cause=found,
        incidents=_incidents_of(casebase, id),
        rivals=[(casebase.causes[k], v) for k, v in found.rather.items() if k in casebase.causes],
    )


@blueprint.get("/incidents")
def incidents() -> str:
    """Every documented incident by its cause, or those that speak of the words of ``?q=``."""
    casebase, query = _casebase(), request.args.get("q", "")[:_LONGEST_QUERY].strip()
    groups = ((cause, _incidents_of(casebase, cause.id)) for cause in casebase.causes.values())
    return render_template(
        "incidents.html",
        query=query,
        hits=_hits(query, casebase) if query else (),
        groups=[(cause, found) for cause, found in groups if found],
        count=len(casebase.incidents),
    )


def _hits(query: str, casebase: Casebase) -> tuple[Hit, ...]:
    others = (engine().casebase(lang) for lang in language.LANGS if lang != casebase.lang)
    words = query.encode("utf-8", "replace").decode()
    return search(words, [casebase, *others], top=_MOST_HITS)


@blueprint.get("/incidents/<id>")
def incident(id: str) -> str:
    """One documented incident."""
    casebase = _casebase()
    found = casebase.incidents.get(id) or abort(404)
    return render_template(
        "incident.html",
        incident=found,
        cause=casebase.causes.get(found.cause),
        fixes=[(kind, casebase.fixes.get(kind, kind)) for kind in found.fixes],
    )


@blueprint.get("/incidents/<id>/reproduce.py")
def reproduce(id: str) -> Response:
    """The incident's reproduction as a file."""
    found = _casebase().incidents.get(id) or abort(404)
    return _program(found.reproduce or abort(404), "reproduce.py")


@blueprint.get("/api")
def api() -> str:
    """How to ask for the same answer as JSON, with commands to copy."""
    post = url_for("api.diagnoses", _external=True)
    commands = {
        "text": f"curl -H 'Content-Type: text/plain' --data-binary @train.log {post}",
        "file": f"curl -F file=@train.log.gz {post}",
        "json": "curl -H 'Content-Type: application/json' "
        f"""-d '{{"text": "RuntimeError: ...", "files": {{"train.py": "..."}}}}' {post}""",
        "causes": f"curl {url_for('api.causes', _external=True)}",
    }
    return render_template("api.html", commands=commands)


@blueprint.get("/healthz")
def healthz() -> dict[str, Any]:
    """Whether the service can answer: the case base is readable."""
    casebase = engine().casebase("en")
    return {
        "status": "ok",
        "causes": len(casebase.causes),
        "incidents": len(casebase.incidents),
        "casebase": casebase.digest,
    }


def _submitted() -> Submission:
    return from_form(request, language.current(), current_app.config["DIAGNOSE_MAX_BYTES"])


def _other_family(diagnosis: Diagnosis) -> str | None:
    """The sentence for a failure that is not about devices, None where it is or none was found."""
    error = diagnosis.report.error
    if error is None or error.family == DEVICE_FAMILY:
        return None
    if not error.told:
        return language.say("cut-off-text", diagnosis.lang)
    key = f"family-{error.family}"
    if error.family is None or key not in language.texts():
        return language.say("other-plain", diagnosis.lang)
    return language.say("other-text", diagnosis.lang, family=language.say(key, diagnosis.lang))


def _casebase() -> Casebase:
    return engine().casebase(language.current())


def _incidents_of(casebase: Casebase, cause: str) -> tuple[Incident, ...]:
    return tuple(found for found in casebase.incidents.values() if found.cause == cause)


def _program(source: str, filename: str) -> Response:
    response = Response(source, mimetype="text/x-python")
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def percent(confidence: float) -> str:
    """`diagnose.rendering.words.percent`, with a space that the page's fonts want."""
    return words.percent(confidence).replace("%", " %")


def https(url: str) -> str | None:
    """The address if it may stand in a link, else None."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme == "https" and parts.netloc else None
