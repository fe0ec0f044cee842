"""Whole documents of JSON: notebooks, Sentry events, torch elastic's error files, test reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports import prefixes, structured
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_LARGEST = 32_000_000
_LARGEST_SPLICED = 2_000_000
_MOST_ATTEMPTS = 32
_MEMBER = lazy(r'\s*(?:"[^"]*"\s*[:,]|[{\[])')


def read(text: str) -> list[Peeled] | None:
    """The tracebacks of a document as lines that know where they stand in it; None where it is none."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]") or len(text) > _LARGEST:
        return None
    import json  # where it is needed: most inputs are none

    try:
        document = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict | list) or _is_records(document, stripped):
        return None
    lines = structured.tracebacks(document)
    if not lines:
        return None
    return _located(lines, text)


def splice(lines: Sequence[Peeled]) -> list[Peeled]:
    """Lines in which the documents that stand among them, over several lines each, are replaced by their
    tracebacks."""
    spliced: list[Peeled] = []
    done = 0
    openings = [index for index, line in enumerate(lines) if line.text[-1:] in ("{", "[")]
    bare = cache(lambda: [prefixes.peel_known(line.text)[0] for line in lines])
    for index in openings[:_MOST_ATTEMPTS]:
        if index >= done and (found := _document(lines, index, bare)) is not None:
            said, after = found
            spliced += [*lines[done:index], *said]
            done = after
    return [*spliced, *lines[done:]]


def _document(
    lines: Sequence[Peeled], index: int, bare: Callable[[], list[str]]
) -> tuple[list[Peeled], int] | None:
    """The tracebacks of the document that the end of a line opens, and the index after it. ``bare``: the
    lines without the prefixes that a launcher or collector wrote, which count where the first has one."""
    opening = lines[index].text
    if index + 1 >= len(lines):
        return None
    alone = opening.strip() in ("{", "[")
    first = lines[index + 1].text if alone else prefixes.peel_known(lines[index + 1].text)[0]
    if _MEMBER.match(first) is None:
        return None
    import json

    rest = [line.text for line in lines[index + 1 :]] if alone else bare()[index + 1 :]
    body = "\n".join([opening[-1], *rest])
    try:
        document, end = json.JSONDecoder().raw_decode(body[:_LARGEST_SPLICED])
    except (ValueError, RecursionError):
        return None
    if not (said := structured.tracebacks(document)):
        return None
    number = lines[index].number
    numbered = _located(said, body[:end])
    return (
        [line._replace(number=line.number + number - 1) for line in numbered],
        index + 1 + body.count("\n", 0, end),
    )


def _is_records(document: object, text: str) -> bool:
    """A list of log records that stand one on a line is read record by record."""
    return (
        isinstance(document, list)
        and text.count("\n") <= len(document) + 1
        and all(isinstance(item, dict) and ("data" in item or "log" in item) for item in document)
    )


def _located(lines: list[str], text: str) -> list[Peeled]:
    """The lines with the numbers of the input's lines that hold them (the latest known, where none)."""
    import json

    found: list[Peeled] = []
    position, number = 0, 1
    for line in lines:
        needle = json.dumps(line.strip())[1:-1][:60]
        at = text.find(needle, position) if needle else -1
        if at >= 0:
            number += text.count("\n", position, at)
            position = at
        found.append(Peeled(number, line))
    return found


LAYERS = (
    Layer(
        "documents",
        splice,
        "input",
        30,
        "a document over several lines, before its strings are taken for literals",
    ),
    Layer(
        "documents",
        splice,
        "printed",
        10,
        "a document each line of which had a prefix or was a record's",
    ),
    Layer(
        "documents",
        splice,
        "process",
        20,
        "a document whose lines another process's stood between, or in a fence",
    ),
)
