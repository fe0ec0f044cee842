"""The transports, one after another: from the pasted text to lines as the program printed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from diagnose.parsing.lines import LONGEST, Peeled
from diagnose.parsing.transports import (
    boxes,
    characters,
    documents,
    escaped,
    groups,
    indentation,
    journal,
    literals,
    markup,
    partial,
    prefixes,
    records,
    suffixes,
    wrapping,
)
from diagnose.parsing.transports.layer import Layer, Scope

if TYPE_CHECKING:  # an answer does not look on
    from diagnose.parsing.watching import Watch

_DEEPEST = 4


#: The modules that peel layers off many lines at once, each with what it declares.
_DECLARING = (
    boxes,
    documents,
    groups,
    indentation,
    journal,
    literals,
    markup,
    partial,
    wrapping,
)
LAYERS: tuple[Layer, ...] = tuple(layer for module in _DECLARING for layer in module.LAYERS)


def _of(scope: Scope) -> tuple[Layer, ...]:
    return tuple(sorted((one for one in LAYERS if one.scope == scope), key=lambda one: one.order))


_OF_INPUT, _AS_PRINTED, _OF_PROCESS = _of("input"), _of("printed"), _of("process")


def peel(lines: Sequence[Peeled], watch: Watch | None = None) -> list[Peeled]:
    """Lines as the program printed them; ``watch`` notes what is taken off."""
    lines = _without(_OF_INPUT, lines, watch)
    html = any(markup.is_html(line.text) for line in lines)
    peeled = [part for line in lines for part in _peel(line, html, 0, watch)]
    peeled = _without(_AS_PRINTED, peeled, watch)
    shorter, quoted = suffixes.peel_learned(peeled)
    if watch is not None:
        watch.all("suffixes", peeled, shorter)
    peeled = list(prefixes.peel_learned(shorter, quoted=quoted))
    if watch is not None:
        watch.all("prefixes", shorter, peeled)
    channels: dict[str | None, list[Peeled]] = {}
    for line in peeled:
        channels.setdefault(line.channel, []).append(line)
    if len(channels) < 2:
        return _without(_OF_PROCESS, peeled, watch)
    # What spans several lines is undone process by process: others print in between.
    each = [line for channel in channels.values() for line in _without(_OF_PROCESS, channel, watch)]
    return sorted(each, key=lambda line: line.number)


def _without(layers: Iterable[Layer], lines: Sequence[Peeled], watch: Watch | None) -> list[Peeled]:
    for layer in layers:
        peeled = list(layer.peel(lines))
        if watch is not None:
            watch.all(layer.name, lines, peeled)
        lines = peeled
    return list(lines)


def _peel(line: Peeled, html: bool, depth: int, watch: Watch | None) -> Iterator[Peeled]:
    """The lines that one line of the input carries, without the prefixes known by their shape."""
    if not line.text or line.text.isspace():
        yield line
        return
    text = characters.plain(line.text)
    if watch is not None:
        watch.line("characters", line.number, line.text, [text])
    # HTML may be escaped within JSON's strings.
    record = records.read(text) if html and text.startswith("{") else None
    if html and record is None:
        shown = markup.unhtml(text)
        if len(shown) > 1 or shown[0] != text:
            if watch is not None:
                watch.line("markup", line.number, text, shown)
            for piece in shown:
                yield from _peel(line._replace(text=piece), False, depth + 1, watch)
            return
    rest, channel = prefixes.peel_known(text)
    if watch is not None:
        watch.line("prefixes", line.number, text, [rest])
    text = rest
    channel = channel or line.channel
    if depth < _DEEPEST:
        carried = record or records.read(text)
        if carried is None:
            inner, source = escaped.unescape(text), None
        else:
            inner, source = carried
        if inner is not None:
            if watch is not None:
                watch.line("escaped" if carried is None else "records", line.number, text, inner)
            for piece in inner:
                part = Peeled(line.number, piece, source or channel)
                yield from _peel(part, html, depth + 1, watch)
            return
    yield Peeled(line.number, text[:LONGEST], channel)
