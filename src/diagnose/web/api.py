"""The HTTP API: the JSON contract of the command line, over POST; described in openapi.json."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, cast, get_args

from flask import Blueprint, Response, abort, current_app, request, url_for

from diagnose.casebase.store import Casebase
from diagnose.model import Cause, Incident, Lang
from diagnose.placeholders import in_general
from diagnose.rendering.json import as_dict
from diagnose.web.engine import engine
from diagnose.web.errors import complete
from diagnose.web.inputs import from_api
from diagnose.web.refusals import InputError

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")


@blueprint.post("/diagnoses")
def diagnoses() -> dict[str, Any]:
    """One input in, one answer out."""
    submission = from_api(request, current_app.config["DIAGNOSE_MAX_BYTES"])
    return as_dict(complete(engine().answer(submission)))


@blueprint.get("/causes")
def causes() -> dict[str, Any]:
    """The root causes in short."""
    return {"causes": [_short(cause) for cause in _casebase().causes.values()]}


@blueprint.get("/causes/<id>")
def cause(id: str) -> dict[str, Any]:
    """One root cause in full."""
    casebase = _casebase()
    found = casebase.causes.get(id) or abort(404)
    return {
        **_short(found),
        "why": found.why,
        "tell": found.tell,
        "fixes": [
            fix._asdict()
            | {
                "command": fix.command and in_general(fix.command),
                "examples": [one._asdict() for one in fix.examples],
            }
            for fix in found.fixes
        ],
        "example": found.example,
        "rather": dict(found.rather),
        "incidents": [
            _link(incident) for incident in casebase.incidents.values() if incident.cause == id
        ],
    }


@blueprint.get("/incidents")
def incidents() -> dict[str, Any]:
    """The documented incidents in short, a page at a time; with ``?cause=`` those of one."""
    cause, after = request.args.get("cause"), request.args.get("after", "")
    every = sorted(_casebase().incidents.values(), key=lambda one: one.id)
    wanted = [one for one in every if one.id > after and cause in (None, one.cause)]
    page = wanted[:_PAGE]
    return {
        "incidents": [{**_link(one), "cause": one.cause} for one in page],
        "next": page[-1].id if len(wanted) > _PAGE else None,
    }


@blueprint.get("/incidents/<id>")
def incident(id: str) -> dict[str, Any]:
    """One documented incident: what people saw, what it was, what fixed it, and where that is said."""
    found = _casebase().incidents.get(id) or abort(404)
    return {
        **_link(found),
        "cause": found.cause,
        "symptom": found.saw,
        "explanation": found.was,
        "fix": found.mended,
        "libraries": found.libraries,
        "message": found.message,
        "devices": found.devices,
        "fixes": found.fixes,
        "gpus": found.gpus,
        "sources": [one.url for one in found.sources],
    }


_PAGE = 100


def _link(incident: Incident) -> dict[str, str]:
    return {"id": incident.id, "title": incident.title, "url": incident.url}


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """The description of this API (OpenAPI 3.1): of the addresses that this service has."""
    text = resources.files("diagnose.web").joinpath("openapi.json").read_text(encoding="utf-8")
    described = json.loads(text)
    here = {
        rule.rule.replace("<", "{").replace(">", "}") for rule in current_app.url_map.iter_rules()
    }
    described["paths"] = {path: item for path, item in described["paths"].items() if path in here}
    return Response(json.dumps(described, indent=2), mimetype="application/json")


def _short(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "title": cause.title,
        "gpus": cause.gpus,
        "url": url_for("pages.cause", id=cause.id),
    }


def _casebase() -> Casebase:
    lang = request.args.get("lang", "en")
    if lang not in get_args(Lang):
        raise InputError(400, "error-lang", known=", ".join(get_args(Lang)))
    return engine().casebase(cast(Lang, lang))
