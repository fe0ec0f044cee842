"""Reports a failure to `diagnose serve`: what failed, printed anew and redacted, never the whole log."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

from diagnose.casebase.store import load
from diagnose.errors import DiagnoseError
from diagnose.memory.redaction import redactor
from diagnose.model import Diagnosis, KnownFix, Outcome, Report, Seen, Status

_TIMEOUT = 5
#: The variable that holds the token, where the service wants one.
_TOKEN = "DIAGNOSE_TOKEN"
#: Frames of each end, and lines of the log: a recursion error has a thousand.
_FRAMES, _CONTEXT = 100, 40
#: What launchers call a job: torchrun, Slurm, LSF, PBS, Ray.
_JOBS = ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID", "RAY_JOB_ID")
#: What torchrun calls a job that was given no name.
_NO_JOB = "none"
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")


class SendingError(DiagnoseError):
    """A report that could not be sent; the message is a sentence."""


class Sent(NamedTuple):
    """What a service says of a report: its address, whether it is the first of its job, and what was
    remembered before it."""

    url: str
    new: bool
    seen: Seen | None = None


def send(server: str, diagnosis: Diagnosis) -> Sent:
    """Reports a failure, redacted.

    Args:
        server: the address of the service.
        diagnosis: an answer to a failure.

    Raises:
        SendingError: the address is none, nobody answers there, or the report is refused.
        CasebaseError: the rules of redaction cannot be read.
    """
    if urlsplit(server).scheme not in ("http", "https"):
        raise SendingError(f"{server} is no address of a service: http://... or https://...")
    redact = redactor(load().redaction().rules)
    report = diagnosis.report
    body = {
        "text": redact(printed(report)).text,
        "source": redact(report.source).text,
        "lang": diagnosis.lang,
        "host": socket.gethostname(),
        "job": job(),
        "ranks": [*(report.ranks or rank())],
    }
    request = Request(
        urljoin(server.rstrip("/") + "/", "api/v1/reports"),
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **({"Authorization": f"Bearer {token}"} if (token := os.environ.get(_TOKEN)) else {}),
        },
    )
    try:
        with urlopen(request, timeout=_TIMEOUT) as answer:
            said: dict[str, Any] = json.load(answer)
            seen = _seen(said["seen"]) if said.get("seen") else None
            return Sent(urljoin(server, said["url"]), answer.status == 201, seen)
    except HTTPError as error:
        raise SendingError(f"{server} refused the report: {_detail(error)}") from error
    except (URLError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = getattr(error, "reason", None) or error
        raise SendingError(f"the report could not be sent to {server}: {reason}") from error


def _seen(said: Mapping[str, Any]) -> Seen:
    """What `diagnose.rendering.json.seen_as_dict` wrote, whoever says so."""
    return Seen(
        str(said["group"]),
        *(int(said[name]) for name in ("count", "first", "last")),
        tuple(map(str, said["hosts"])),
        tuple(map(_fix, said["fixes"])),
        said["status"] if said["status"] in get_args(Status) else "open",
        _text(said["fixed_in"]),
    )


def _fix(said: Mapping[str, Any]) -> KnownFix:
    return KnownFix(
        str(said["text"]),
        str(said["by"]),
        int(said["at"]),
        *(_text(said[name]) for name in ("commit", "link", "cause")),
        *(int(said[name]) for name in get_args(Outcome)),
    )


def _text(said: object) -> str | None:
    return None if said is None else str(said)


def job() -> str | None:
    """What the launcher calls the job of this process."""
    named = (os.environ.get(name) for name in _JOBS)
    return next((name for name in named if name and name != _NO_JOB), None)


def rank() -> Iterator[int]:
    """The rank of this process, if it has one."""
    for name in _RANKS:
        if (value := os.environ.get(name, "")).isdecimal():
            yield int(value)
            return


def printed(report: Report) -> str:
    """A report as CPython prints an exception, below what the log says about placement; a description as it
    was written."""
    return report.description.text if report.description is not None else "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    error = report.error
    yield from (line.text for line in report.context[:_CONTEXT])
    if report.frames:
        yield "Traceback (most recent call last):"
    for number, frame in enumerate(report.frames):
        if _FRAMES <= number < len(report.frames) - _FRAMES:
            continue
        place = f", line {frame.line}" if frame.line is not None else ""
        yield f'  File "{frame.file}"{place}, in {frame.function or "<module>"}'
        if frame.code:
            yield f"    {frame.code}"
    if error is not None:
        yield f"{error.type}: {error.message}" if error.message else error.type


def _detail(error: HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])[:500]
    except (ValueError, KeyError, TypeError, OSError):
        return f"{error.code} {error.reason}"
