"""Labelled failures of every kind that is learned from, as `Example`.

* reports: NAME.txt with its label NAME.json (docs/evaluating.md),
* written: a JSON object a line, of a failure that an engineer thought up: cause, type, message, frames,
* rows: a JSON object a line, of a public report: its address, labels, and what was read off it: facts and
  the rows of its words, no code and no prose,
* incidents: the recorded tracebacks of kb/cases.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from diagnose import facts
from diagnose.casebase.store import Casebase
from diagnose.evaluation.labels import NOT_DEVICE, Labelled
from diagnose.facts.words import words
from diagnose.model import DEVICE_FAMILY, Incident
from diagnose.naming.causes import ROWS
from diagnose.naming.table import row
from diagnose.parsing import parse
from diagnose.scene import Scene

#: What one failure of a kind counts, a report being 1; the incidents are spread evenly over the causes,
#: which failures are not. The one of what is written was chosen among 0.5 and 1 by leaving reports out.
COUNTS = {"report": 1.0, "written": 1.0, "incident": 0.3}


@dataclass(frozen=True)
class Example:
    """What was seen, and which causes it stands for, the strictest first; ``group`` is left out as a
    whole, ``words`` are rows of the table of words."""

    facts: frozenset[str]
    words: frozenset[int]
    causes: tuple[str, ...]
    group: str
    kind: str = "report"


def seen(text: bytes, casebase: Casebase) -> tuple[frozenset[str], frozenset[int]] | None:
    """The facts and the rows of the words of a device failure; None of any other."""
    report = parse(text, knowledge=casebase.knowledge)
    if report.error is None or report.error.family != DEVICE_FAMILY:
        return None
    scene = Scene(report, casebase.knowledge)
    return frozenset(facts.read(scene)), frozenset(row(word, ROWS) for word in words(scene))


def of_reports(reports: Sequence[Labelled], casebase: Casebase) -> Iterator[Example]:
    """The examples of labelled reports; other failures give none."""
    for report in reports:
        causes = report.label.accepted
        if causes and causes[0] != NOT_DEVICE:
            found = seen(report.log.read_bytes(), casebase)
            if found is not None:
                yield Example(*found, causes, repository(report))


def repository(report: Labelled) -> str:
    """What is left out together with a report: its repository, else itself."""
    label = json.loads(report.log.with_suffix(".json").read_bytes())
    return str(label.get("repo") or report.name).lower()


def of_incidents(casebase: Casebase, cases: Path) -> Iterator[Example]:
    """The examples of the incidents' recorded tracebacks, without the names that the incidents go by: their
    folders are called so, and tell the cause."""
    for incident in casebase.incidents.values():
        trace = cases / incident.id / "trace.txt"
        printed = trace.read_bytes() if trace.is_file() else b""
        found = seen(printed.replace(incident.id.encode(), b"project"), casebase)
        if found is not None:
            yield Example(*found, (incident.cause,), thread(incident), "incident")


def thread(incident: Incident) -> str:
    """The repository of the thread that documents an incident, as `repository` names a report's."""
    return "/".join(urlsplit(incident.url).path.strip("/").split("/")[:2]).lower()


def of_written(file: Path, casebase: Casebase) -> Iterator[Example]:
    """The examples of failures that were written down, a JSON object a line.

    Raises:
        ValueError: a cause that does not exist, or a line that is no such object.
    """
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        told = json.loads(line)
        causes = (told["cause"], *told.get("also", ()))
        if strange := [cause for cause in causes if cause not in casebase.causes]:
            raise ValueError(f"{file}:{number}: no such cause: {strange[0]}")
        found = seen(printed(told).encode(), casebase)
        if found is not None:
            yield Example(*found, causes, f"{file.stem}:{number}", "written")


def printed(told: dict[str, Any]) -> str:
    """A written failure as Python would print it."""
    lines = [*told.get("log", ()), "Traceback (most recent call last):"]
    for number, (file, function, code) in enumerate(told["frames"], 1):
        path = file.replace("LIB/", "/usr/lib/python3.11/site-packages/", 1)
        at = len(function) + 7 * number  # a line number says nothing, and has to be one
        if path.startswith("Cell In"):
            lines.append(f"{path}, line {at}, in {function}")
        else:
            lines.append(f'  File "{path}", line {at}, in {function}')
        lines += [f"    {code}"] if code else []
    return "\n".join([*lines, f"{told.get('type') or 'RuntimeError'}: {told['message']}"]) + "\n"


def of_rows(file: Path) -> Iterator[Example]:
    """The examples of a file of rows."""
    for line in file.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        yield Example(
            frozenset(told["facts"]), frozenset(told["words"]), tuple(told["causes"]), told["group"]
        )


def as_row(example: Example) -> str:
    """A line of a file of rows."""
    told = {
        "group": example.group,
        "causes": example.causes,
        "facts": sorted(example.facts),
        "words": sorted(example.words),
    }
    return json.dumps(told, separators=(",", ":"))
