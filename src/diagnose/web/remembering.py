"""The pages over a store: an answer's own address, what fixed it, the failures and each of them."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple, cast, get_args

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

from diagnose.memory.key import Key
from diagnose.memory.lookup import StoreError
from diagnose.memory.records import FailureError, Input, Kept, Place, Stored
from diagnose.memory.store import Store
from diagnose.model import Diagnosis, Outcome, Status
from diagnose.rendering.json import seen_as_dict
from diagnose.web import access, language, notices
from diagnose.web.engine import engine
from diagnose.web.errors import complete, page
from diagnose.web.inputs import Submission, report_from_api
from diagnose.web.notices import Background
from diagnose.web.pages import page_of
from diagnose.web.refusals import InputError

blueprint = Blueprint("memory", __name__)
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_PAGE = 50
_LONGEST = 4000
_MOST_MARKED = 20
#: Of the chart: columns at most, and their sizes.
_COLUMNS, _WIDE, _HIGH = 60, 10, 60


def store() -> Store | None:
    """The store of the app that serves the current request, if it has one."""
    return cast("Store | None", current_app.extensions.get("diagnose-store"))


def kept(submission: Submission) -> str | None:
    """The id under which a submission is there for an hour; None where there is no store, or none that can
    be written: the answer does not depend on it."""
    held = store()
    if held is None:
        return None
    try:
        return held.add(_input(submission))
    except StoreError as error:
        current_app.logger.error("a paste was not stored: %s", error)
        return None


def _input(submission: Submission) -> Input:
    files = {name: _text(file) for name, file in submission.files.items()}
    return Input(submission.text, submission.source, submission.lang, files, submission.answers)


def _text(file: str | bytes) -> str:
    return file if isinstance(file, str) else file.decode("utf-8", "replace")


@blueprint.before_request
def _own_pages_only() -> None:
    """Another site must not be able to make a visitor's browser write to a store that only he can reach."""
    if request.method in _READS:
        return
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin", "null")
    if site is not None and site not in ("same-origin", "none"):
        abort(403)
    if site is None and origin != "null" and origin != request.host_url.rstrip("/"):
        abort(403)


@blueprint.errorhandler(FailureError)
def _no_failure(_: FailureError) -> Response:
    return page(404, language.say("error-404", language.current()))


# --- one report -----------------------------------------------------------------------------------


@blueprint.get("/r/<id>")
def report(id: str) -> str:
    """The answer to what was pasted, at an address of its own."""
    stored, submission, diagnosis = _answered(id)
    return page_of(submission, diagnosis, stored)


def _answered(id: str) -> tuple[Stored, Submission, Diagnosis]:
    stored = _store().report(id) or abort(404)
    given = stored.input
    lang = language.chosen() or language.current()
    submission = g.submission = Submission(
        given.text, given.source, lang=lang, files=given.files, answers=given.answers
    )
    return stored, submission, complete(engine().answer(submission))


@blueprint.post("/r/<id>/keep")
def keep(id: str) -> Response:
    """Saves a report for good."""
    _, _, diagnosis = _answered(id)
    return _back("memory.report", id=_keep(id, diagnosis).id)


@blueprint.post("/r/<id>/fix")
def fix(id: str) -> Response:
    """Writes down what fixed it, and saves the report."""
    text = request.form.get("text", "")[:_LONGEST].strip()
    outcome = request.form.get("outcome", "worked")
    cause = request.form.get("cause", "")
    link = request.form.get("link", "").strip()
    if not text or outcome not in get_args(Outcome):
        raise InputError(400, "error-fix")
    if link and not link.startswith(("https://", "http://")):
        raise InputError(400, "error-link")
    _, submission, diagnosis = _answered(id)
    saved = _keep(id, diagnosis)
    _store().remember(
        saved.group,
        text,
        _who(),
        outcome=cast(Outcome, outcome),
        commit=request.form.get("commit", "").strip() or None,
        link=link or None,
        cause=cause if cause in engine().casebase(submission.lang).causes else None,
    )
    return _back("memory.report", id=saved.id)


@blueprint.post("/r/<id>/delete")
def delete(id: str) -> Response:
    """Deletes a report for good."""
    return _back("pages.paste") if _store().forget(id, _who()) else abort(404)


def _keep(id: str, diagnosis: Diagnosis) -> Kept:
    kept = _store().keep(id, diagnosis) or abort(404)
    _follow(kept)
    return kept


def _follow(kept: Kept) -> None:
    """What a kept report entails, after its answer: a message where it is news, and the dullest go."""
    held, app = _store(), current_app
    background = cast(Background, app.extensions["diagnose-background"])
    webhook, most = app.config["DIAGNOSE_WEBHOOK"], app.config["DIAGNOSE_MOST"]
    if webhook is not None and kept.news is not None and (group := held.group(kept.group)):
        sentence = language.say(f"notice-{kept.news}", "en")
        link = url_for("memory.failure", id=group.id, _external=True)
        background.do(lambda: notices.post(webhook, sentence, group, link))
    # To count is work: once while a twentieth comes in is enough.
    if most is not None and kept.new and secrets.randbelow(most // 20 + 1) == 0:
        background.do(lambda: held.evict(most, "diagnose serve"))


# --- the API ---------------------------------------------------------------------------------------


@blueprint.post("/api/v1/reports")
def send() -> Any:
    """Keeps a report; 201 for a new one, 200 for one more rank of a job that has been reported."""
    held = _store()
    submission, sender = report_from_api(request, current_app.config["DIAGNOSE_MAX_BYTES"])
    diagnosis = complete(engine().answer(submission))
    if diagnosis.report.error is None:
        raise InputError(422, "error-no-error")
    kept = held.record(_input(submission)._replace(**sender), diagnosis)
    _follow(kept)
    stored = held.report(kept.id)
    assert stored is not None
    return {
        "id": kept.id,
        "url": url_for("memory.report", id=kept.id),
        "failure": kept.group,
        "removed": dict(stored.removed),
        "seen": seen_as_dict(diagnosis.seen) if diagnosis.seen is not None else None,
    }, 201 if kept.new else 200


@blueprint.get("/api/v1/reports/<id>")
def stored_report(id: str) -> dict[str, Any]:
    """A report: what was sent, redacted."""
    found = _store().report(id) or abort(404)
    return {
        **found._replace(removed=dict(found.removed))._asdict(),
        "input": {**found.input._asdict(), "files": dict(found.input.files)},
    }


@blueprint.get("/api/v1/failures")
def list_failures() -> dict[str, Any]:
    """Failures, the latest first, a page at a time."""
    query = request.args.get("q", "")
    wanted = request.args.get("status", "")
    if wanted and wanted not in get_args(Status):
        raise InputError(400, "error-status", known=", ".join(get_args(Status)))
    groups = _store().groups(query[:_LONGEST], wanted, _before(), _PAGE)
    return {
        "failures": [group._asdict() for group in groups],
        "next": _next([(group.last, group.id) for group in groups]),
    }


@blueprint.get("/api/v1/failures/<id>")
def one_failure(id: str) -> dict[str, Any]:
    """One failure: what is remembered of it, and its reports, a page at a time."""
    held = _store()
    group = held.group(id) or abort(404)
    found = held.remembered(group.id)
    assert found is not None
    details = held.page(group.id, _before(), _PAGE)
    return {
        **group._asdict(),
        "seen": seen_as_dict(found),
        "ranks": list(details.ranks),
        "versions": dict(details.versions),
        "reports": [
            {"id": report, "received": at, "host": host} for report, at, host in details.reports
        ],
        "next": _next([(at, report) for report, at, _ in details.reports]),
    }


def _before() -> Place | None:
    """``?before=``: where the list goes on."""
    at, _, id = request.args.get("before", "").partition("-")
    # The larger numbers are no times, and no integers of a database.
    return (int(at), id) if at.isascii() and at.isdecimal() and len(at) < 11 else None


def _next(places: list[Place]) -> str | None:
    """What ``?before=`` has to be for the next page; None where there is none, unless the list ends with a
    page."""
    return "{}-{}".format(*places[-1]) if len(places) == _PAGE else None


@blueprint.get("/readyz")
def readyz() -> dict[str, Any]:
    """Whether the service can answer and store: the case base and the store are readable."""
    engine().casebase("en")
    _store().ready()
    return {"status": "ok", "store": _store().shown.partition("://")[0] or "sqlite"}


#: Total of the store -> its label, and what it counts.
_METRICS = {
    "reports": ("kept", "Reports in the store, kept and for an hour."),
    "failures": ("status", "Failures by status."),
    "outcomes": ("outcome", "What came of fixes that were tried."),
}


@blueprint.get("/metrics")
def metrics() -> Response:
    """What the store holds, in the text format of Prometheus."""
    lines = []
    for name, counts in _store().totals().items():
        label, said = _METRICS[name]
        lines += [f"# HELP diagnose_{name} {said}", f"# TYPE diagnose_{name} gauge"]
        lines += [
            f'diagnose_{name}{{{label}="{value}"}} {count}' for value, count in counts.items()
        ]
    return Response("\n".join(lines) + "\n", mimetype="text/plain; version=0.0.4")


# --- failures -------------------------------------------------------------------------------------


@blueprint.get("/failures")
def failures() -> str:
    """The failures that were reported, the latest first, or those that hold the words of ``?q=``."""
    query = request.args.get("q", "")[:_LONGEST].strip()
    status = request.args.get("status", "")
    known = status if status in get_args(Status) else ""
    groups = _store().groups(query, known, _before(), _PAGE)
    return render_template(
        "failures.html",
        groups=groups,
        query=query,
        status=status,
        statuses=get_args(Status),
        next=_next([(group.last, group.id) for group in groups]),
    )


@blueprint.get("/failures/<id>")
def failure(id: str) -> Any:
    """One failure: how often, when, where, on which versions, and what fixed it."""
    held = _store()
    group = held.group(id) or abort(404)
    if group.id != id:  # it was merged into another
        return _back("memory.failure", id=group.id)
    details = held.page(id)
    return render_template(
        "failure.html",
        group=group,
        seen=held.remembered(id),
        details=details,
        chart=chart(details.days),
        others=held.groups(limit=_PAGE),
        statuses=get_args(Status),
        facts=Key._fields,
        cause=engine().casebase(language.current()).causes.get(group.cause or ""),
    )


@blueprint.post("/failures/<id>/status")
def status(id: str) -> Response:
    """Marks a failure as open, known or fixed in a version."""
    wanted = request.form.get("status", "")
    if wanted not in get_args(Status):
        raise InputError(400, "error-400")
    _store().mark(id, cast(Status, wanted), _who(), request.form.get("fixed_in"))
    return _back("memory.failure", id=id)


@blueprint.post("/failures/<id>/merge")
def merge(id: str) -> Response:
    """Makes one failure of this one and those that were chosen."""
    others = [one for one in request.form.getlist("other")[:_MOST_MARKED] if one != id]
    if not others:
        raise InputError(400, "error-merge")
    for other in others:
        if _store().group(other) is None:
            abort(404)
        _store().merge(id, other, _who())
    return _back("memory.failure", id=id)


@blueprint.post("/failures/<id>/split")
def split(id: str) -> Response:
    """Makes a failure of its own of some of this one's reports."""
    try:
        return _back(
            "memory.failure", id=_store().split(id, request.form.get("variant", ""), _who())
        )
    except FailureError:
        raise InputError(400, "error-split") from None


@blueprint.get("/changes")
def changes() -> str:
    """Who changed what, the latest first: for admins."""
    found = _store().changes(_before(), _PAGE)
    return render_template(
        "changes.html", changes=found, next=_next([(one.at, one.id) for one in found])
    )


def _who() -> str:
    named = access.who() or request.form.get("by", "").strip()
    return named or language.say("somebody", language.current())


class Bar(NamedTuple):
    """A column of a chart: where it stands, how high it is, and what it shows."""

    x: int
    y: float
    high: float
    day: int
    count: int  # type: ignore[assignment]  # nobody asks this for tuple.count


class Chart(NamedTuple):
    """Reports by day: the columns, the size of all of it, and its first day."""

    bars: tuple[Bar, ...]
    wide: int
    high: int
    first: int


def chart(days: Any) -> Chart | None:
    """The latest days with the reports of each; None where there are none.

    Args:
        days: pairs of a day since 1970 and how many reports it has, in order.
    """
    if not days:
        return None
    last = days[-1][0]
    shown = [(day, count) for day, count in days if day > last - _COLUMNS]
    first = min(shown[0][0], last - 13)
    most = max(count for _, count in shown)
    bars = tuple(
        Bar(
            (day - first) * _WIDE,
            round(_HIGH - _HIGH * count / most, 1),
            round(_HIGH * count / most, 1),
            day * 86400,
            count,
        )
        for day, count in shown
    )
    return Chart(bars, (last - first + 1) * _WIDE, _HIGH, first * 86400)


def _store() -> Store:
    return store() or abort(404)


def _back(endpoint: str, **values: Any) -> Response:
    """After a POST the browser gets a page, so that Back and reloading repeat nothing."""
    return cast(Response, redirect(url_for(endpoint, **values), 303))
