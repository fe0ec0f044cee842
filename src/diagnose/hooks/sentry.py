"""Sentry: an event of a device-placement failure with its diagnosis, redacted, and one issue a failure."""

from __future__ import annotations

TYPE_CHECKING = False  # as in `diagnose.hooks`: a program that never fails imports nothing
if TYPE_CHECKING:
    from typing import Any

    from diagnose.model import Diagnosis

#: Of the processor, for one event.
_SECONDS = 10.0
_COLUMNS = 100


def sentry_event(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    """An event processor, or ``before_send``, of `sentry_sdk`. Never raises.

    Args:
        event: as Sentry is about to send it.
        hint: whose ``exc_info`` is what failed.

    Returns:
        The event. Of a device-placement failure its context ``diagnose`` has the cause, how sure that is,
        the line to edit and the answer as text, and its fingerprint is the failure's key.
    """
    from diagnose.hooks.answers import found
    from diagnose.hooks.installation import language

    try:
        error = (hint.get("exc_info") or (None, None))[1]
        for diagnosis in found(error, language(), _SECONDS) if error is not None else ():
            context, key = _context(diagnosis)
            event.setdefault("contexts", {})["diagnose"] = context
            event["fingerprint"] = ["diagnose", key]
    except Exception as fault:  # Sentry would lose the event
        from diagnose.bulkhead import debug

        debug("no diagnosis for this event", fault)
    return event


def _context(diagnosis: Diagnosis) -> tuple[dict[str, Any], str]:
    """What Sentry shows, and the key."""
    from diagnose.casebase.store import load
    from diagnose.memory.key import key
    from diagnose.memory.redaction import redactor
    from diagnose.rendering.text import render

    redact = redactor(load().redaction().rules)
    at = diagnosis.culprit or diagnosis.site
    shown: dict[str, Any] = {"answer": redact(render(diagnosis, columns=_COLUMNS)).text}
    if at is not None:
        shown["place"] = redact(f"{at.file}:{at.line}").text
    for cause in diagnosis.causes[:1]:
        shown |= {"cause": cause.id, "title": cause.title, "confidence": cause.confidence}
    return shown, key(diagnosis.report).digest
