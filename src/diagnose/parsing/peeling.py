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
from diagnose.parsing.transports.layer import Layer, LineLayer, Scope

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
#: Those that peel layers off one line.
_DECLARING_OF_A_LINE = (
    characters,
    escaped,
    markup,
    prefixes,
    records,
)
LAYERS: tuple[Layer, ...] = tuple(layer for module in _DECLARING for layer in module.LAYERS)
LINE_LAYERS: tuple[LineLayer, ...] = tuple(
    sorted(
        (layer for module in _DECLARING_OF_A_LINE for layer in module.LINE_LAYERS),
        key=lambda one: one.order,
    )
)


def _of(scope: Scope) -> tuple[Layer, ...]:
    return tuple(sorted((one for one in LAYERS if one.scope == scope), key=lambda one: one.order))


_OF_INPUT, _AS_PRINTED, _OF_PROCESS = _of("input"), _of("printed"), _of("process")


def peel(lines: Sequence[Peeled], watch: Watch | None = None) -> list[Peeled]:
    """Lines as the program printed them; ``watch`` notes what is taken off."""
    lines = _without(_OF_INPUT, lines, watch)
    of_a_line = [one for one in LINE_LAYERS if one.where is None or one.where(lines)]
    peeled = [part for line in lines for part in _peel(line, of_a_line, 0, watch)]
    peeled = _without(_AS_PRINTED, peeled, watch)
    # What is learned of the input: where a suffix closes a quote, the prefix opened it.
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


def _peel(
    line: Peeled, layers: Sequence[LineLayer], depth: int, watch: Watch | None
) -> Iterator[Peeled]:
    """The lines that one line of the input carries."""
    number, text, channel = line
    if not text or text.isspace():
        yield line
        return
    for layer in layers:
        if layer.opens and depth >= _DEEPEST:
            continue
        carried = layer.peel(text)
        if carried is None:
            continue
        if watch is not None:
            watch.line(layer.name, number, text, carried.texts)
        if layer.opens:
            if layer.where is not None:
                layers = [one for one in layers if one is not layer]
            for piece in carried.texts:
                inner = Peeled(number, piece, carried.channel or channel)
                yield from _peel(inner, layers, depth + 1, watch)
            return
        [text] = carried.texts
        channel = carried.channel or channel
    yield Peeled(number, text[:LONGEST], channel)
