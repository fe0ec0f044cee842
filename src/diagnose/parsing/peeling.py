"""The transports, one after another: from the pasted text to lines as the program printed them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

_DEEPEST = 4


def peel(lines: Sequence[Peeled]) -> list[Peeled]:
    """Lines as the program printed them."""
    lines = documents.splice(list(journal.messages(indentation.single_spaced(lines))))
    lines = list(literals.join(lines))
    lines = wrapping.rejoin(wrapping.unquoted_printable(lines))
    html = any(markup.is_html(line.text) for line in lines)
    peeled: Sequence[Peeled] = [
        part for line in partial.join(lines) for part in _peel(line, html, 0)
    ]
    peeled, quoted = suffixes.peel_learned(documents.splice(peeled))
    peeled = list(prefixes.peel_learned(peeled, quoted=quoted))
    channels: dict[str | None, list[Peeled]] = {}
    for line in peeled:
        channels.setdefault(line.channel, []).append(line)
    if len(channels) < 2:
        return _unformed(peeled)
    # What spans several lines is undone process by process: others print in between.
    each = [line for channel in channels.values() for line in _unformed(channel)]
    return sorted(each, key=lambda line: line.number)


def _unformed(lines: Sequence[Peeled]) -> list[Peeled]:
    """One process's lines without what was drawn around them or folded."""
    lines = list(markup.unfence(lines))
    lines = list(literals.join(documents.splice(lines)))
    lines = list(groups.ungroup(lines))
    lines = list(indentation.dedent(lines))
    lines = list(boxes.unbox(lines))
    return list(wrapping.unwrap(lines))


def _peel(line: Peeled, html: bool, depth: int) -> Iterator[Peeled]:
    """The lines that one line of the input carries, without the prefixes known by their shape."""
    if not line.text or line.text.isspace():
        yield line
        return
    text = characters.plain(line.text)
    # HTML may be escaped within JSON's strings.
    record = records.read(text) if html and text.startswith("{") else None
    if html and record is None:
        shown = markup.unhtml(text)
        if len(shown) > 1 or shown[0] != text:
            for piece in shown:
                yield from _peel(line._replace(text=piece), False, depth + 1)
            return
    text, channel = prefixes.peel_known(text)
    channel = channel or line.channel
    if depth < _DEEPEST:
        carried = record or records.read(text)
        if carried is None:
            inner, source = escaped.unescape(text), None
        else:
            inner, source = carried
        if inner is not None:
            for piece in inner:
                yield from _peel(Peeled(line.number, piece, source or channel), html, depth + 1)
            return
    yield Peeled(line.number, text[:LONGEST], channel)
