"""Long lines that a container runtime wrote in pieces: the CRI's P and F, docker's records without a line
feed; also where one collector's pieces stand in the records of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.parsing.lines import LONGEST, Peeled
from diagnose.parsing.transports import records
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_PIECE = lazy(
    r"^\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))? "
    r"(?P<stream>std(?:err|out)) (?P<flag>[FP]) ?"
)
_CARRIED = lazy(r'"\d{4}-\d\d-\d\dT[^ "]{8,32} std(?:err|out) [FP] ')
_DOCKER = '{"log":'


def join(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Lines with the pieces of long ones put together."""
    held: dict[str, Peeled] = {}
    for line in _joined_records(lines):
        if _CARRIED.search(line.text, 0, 200) and (carried := records.read(line.text)):
            said, channel = carried
            if len(said) == 1:
                line = line._replace(text=said[0].rstrip("\r"), channel=channel or line.channel)
        match = _PIECE.match(line.text) if " std" in line.text[:60] else None
        if match is None:
            yield line
            continue
        if before := held.pop(match["stream"], None):
            line = before._replace(text=before.text + line.text[match.end() :])
        if match["flag"] == "P" and len(line.text) < LONGEST:
            held[match["stream"]] = line
        else:
            yield line
    yield from held.values()


def _joined_records(lines: Iterable[Peeled]) -> Iterator[Peeled]:
    """Records whose text ends without a line feed, put together with the next one's."""
    held: Peeled | None = None
    for line in lines:
        text = line.text
        if not text.startswith(_DOCKER):
            if held is not None:
                yield held
                held = None
            yield line
            continue
        if held is not None:
            line = held._replace(text=_together(held.text, text))
            held = None
        if '\\n"' in text or '"stream"' not in text or len(line.text) > LONGEST:
            yield line
        else:
            held = line
    if held is not None:
        yield held


def _together(first: str, second: str) -> str:
    """Two of docker's records as one."""
    import json

    try:
        one, other = json.loads(first), json.loads(second)
        one["log"] += other["log"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return first + "\n" + second
    return json.dumps(one)


LAYERS = (Layer("partial", join, "input", 70, "pieces of one record, before the record is read"),)
