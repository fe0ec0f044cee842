"""A patch without one of the places that it edits: what it does not need is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

from diagnose.patterns import lazy
from diagnose.repair.patch import Patch

#: So many pieces of lines are left out in turn, of each patch.
_MOST_PIECES = 8
_TOKEN = lazy(r"\w+|\s+|.")
_INNER = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
#: A type of numbers: a ``to`` that names one does more than to move.
_TYPE = r"\w*dtype|b?float(?:16|32|64)?|half|double|u?int(?:8|16|32|64)?|short|long|bool"
#: What a move before another one, or a device before a move, is not needed for; with what is.
_NEEDLESS = (
    (lazy(rf"\.to\((?!{_INNER}\b(?:{_TYPE})\b){_INNER}\)(?P<kept>\.to\({_INNER}\))"), r"\g<kept>"),
    (
        lazy(
            r"(?P<kept>\bdevice=)(?:[^(),]|\((?:[^()]|\([^()]*\))*\))*"
            rf"(?P<rest>(?:,{_INNER})?\))\.to\((?P<new>{_INNER})\)"
        ),
        r"\g<kept>\g<new>\g<rest>",
    ),
    (
        lazy(r"(?P<kept>\.detach\(\)(?:\.\w+(?:\([^()]*\))?)*)\.detach\(\)(?P<rest>\.cpu\(\))"),
        r"\g<kept>\g<rest>",
    ),
    (  # mappings that are copied, and moved then
        lazy(
            rf"\[\{{k: (?P<each>{_INNER}?) for k, v in one\.items\(\)\}} for one in "
            r"\[\{(?P<key>\w+): (?P<value>\w+) for (?P=key), (?P=value) in (?P<row>\w+)\.items\(\)\} "
            rf"for (?P=row) in (?P<all>{_INNER}?)\]\]"
        ),
        r"[{k: \g<each> for k, v in \g<row>.items()} for \g<row> in \g<all>]",
    ),
)


#: A move that only a GPU is right for, by a device that may be another.
_ONLY_GPUS = lazy(r"\.cuda\((?P<device>(?:\w+\.)*\w*device)\)")
#: A move in the midst of an expression of which a part is kept; the rest, and what ends it.
_MIDST = lazy(
    rf"(?P<move>\.to\({_INNER}\))(?P<rest>(?:\.\w+(?:\({_INNER}\))?|\[[^\[\]]*\])+)(?P<end>\s*)$"
)
#: What is a part of something: an attribute, or what a subscript takes.
_PART = lazy(r"\[|\.\w+(?![\w(])")


class Trimmed(NamedTuple):
    """Texts of the edited files with one place as it was; the file, and the lines that are gone."""

    texts: Mapping[str, str]
    file: str
    gone: str


def trimmed(patches: Mapping[str, Patch]) -> Iterator[Trimmed]:
    """The patch without one of its places, the last ones first, then without one piece of a place: a line
    that it adds, or one of its changes in a line. Lines that it only takes away stay away. A GPU that is
    made the current one is tried as that before the first of the other places, too.

    Args:
        patches: the edited files.
    """
    before = {file: one.before for file, one in patches.items()}
    after = {file: one.after for file, one in patches.items()}
    blocks = [(file, hunk.gone, hunk.made) for file, one in patches.items() for hunk in one.hunks]
    yield from _elsewhere(after, blocks, before)
    yield from _sooner(after, blocks, before)
    for file, gone, made in reversed(blocks) if len(blocks) > 1 else ():
        if made:
            yield _without(before, after, file, gone, made, ())
    pieces = (
        _without(before, after, file, gone, made, rest)
        for file, gone, made in reversed(blocks)
        for rest in _pieces(_rows(before[file], gone), _rows(after[file], made))
    )
    yield from islice(pieces, _MOST_PIECES)


def _elsewhere(
    after: Mapping[str, str], blocks: list[tuple[str, range, range]], before: Mapping[str, str]
) -> Iterator[Trimmed]:
    """The patch with the move of a whole of which a part is kept at the end, where only the part is moved;
    with a move that is right for any device; and without a question after which nothing is done."""
    for file, gone, made in blocks:
        old, rows = _rows(before[file], gone), _rows(after[file], made)
        all_rows, first = after[file].splitlines(keepends=True), made.start - 1
        if [row.strip() for row in rows] == ["pass"] and first >= 0:
            header, rest = all_rows[first], all_rows[made.stop :]
            alone = not (rest and re.match(r"\s*(?:else|elif)\b", rest[0]))
            if re.match(r"\s*if\b.*:\s*$", header) and alone:
                text = "".join([*all_rows[:first], *rest])
                yield Trimmed({**after, file: text}, file, header)
        for number, row in enumerate(rows):
            found = _ONLY_GPUS.search(row)
            if found and not any(found[0] in one for one in old):
                new = after[file].splitlines(keepends=True)
                new[made.start + number] = _ONLY_GPUS.sub(r".to(\g<device>)", row)
                yield Trimmed({**after, file: "".join(new)}, file, row)
            found = _MIDST.search(row)
            if (
                found
                and _PART.search(found["rest"])
                and not any(found["move"] in one for one in old)
            ):
                text = f"{row[: found.start()]}{found['rest']}{found['move']}{found['end']}"
                new = after[file].splitlines(keepends=True)
                new[made.start + number] = text
                yield Trimmed({**after, file: "".join(new)}, file, row)


def _sooner(
    after: Mapping[str, str], blocks: list[tuple[str, range, range]], before: Mapping[str, str]
) -> Iterator[Trimmed]:
    """The patch with the current GPU chosen where another place is edited, which is as it was then."""
    for at, (file, gone, made) in enumerate(blocks):
        rows = _rows(after[file], made)
        if gone or len(rows) != 1 or "set_device(" not in rows[0]:
            continue
        for other, was, now in blocks[:at]:
            old = _rows(before[file], was) if other == file else []
            if old and _indent(old[0]) == _indent(rows[0]):
                new = after[file].splitlines(keepends=True)
                del new[made.start : made.stop]
                new[now.start : now.stop] = [*rows, *old]
                yield Trimmed({**after, file: "".join(new)}, file, rows[0])


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _rows(text: str, lines: range) -> list[str]:
    return text.splitlines(keepends=True)[lines.start : lines.stop]


def _without(
    before: Mapping[str, str],
    after: Mapping[str, str],
    file: str,
    gone: range,
    made: range,
    rest: tuple[str, ...],
) -> Trimmed:
    """The patch with other rows in one of its places: those that stood there, or ``rest``."""
    new = after[file].splitlines(keepends=True)
    rows = rest or tuple(_rows(before[file], gone))
    text = "".join([*new[: made.start], *rows, *new[made.stop :]])
    texts = {**after, file: text}
    if text == before[file]:
        del texts[file]
    return Trimmed(texts, file, "".join(new[made.start : made.stop]))


def _pieces(old: list[str], new: list[str]) -> Iterator[tuple[str, ...]]:
    """The new rows without one of those that are added, without what an added move makes needless, or with
    one piece of a row as it was."""
    if any(row.lstrip().startswith("def ") for row in new):
        return  # a function is whole
    if not old and len(new) > 1:
        for number in reversed(range(len(new))):
            if not new[number].rstrip().endswith(":"):  # a condition is part of what it is about
                yield (*new[:number], *new[number + 1 :])
    if len(old) != len(new):
        return
    for number, (was, now) in enumerate(zip(old, new, strict=True)):
        if was != now and len(new) > 1:
            yield (*new[:number], was, *new[number + 1 :])
        for pattern, rest in _NEEDLESS:
            row = pattern.sub(rest, now)
            if row != now and not pattern.search(was):
                yield (*new[:number], row, *new[number + 1 :])
        first, second = _TOKEN.findall(was), _TOKEN.findall(now)
        matcher = SequenceMatcher(None, first, second, autojunk=False)
        steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
        for _, i, j, k, m in reversed(steps) if len(steps) > 1 else ():
            row = "".join([*second[:k], *first[i:j], *second[m:]])
            if _ONLY_GPUS.search(now) or not _ONLY_GPUS.search(
                row
            ):  # the shorter form is no better
                yield (*new[:number], row, *new[number + 1 :])
