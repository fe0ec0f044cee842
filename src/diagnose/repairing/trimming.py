"""A patch without one of the places that it edits: what it does not need is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from diagnose.repairing.comparing import changed


class Trimmed(NamedTuple):
    """Texts of the edited files with one place as it was; the file, and the lines that are gone."""

    texts: Mapping[str, str]
    file: str
    gone: str


def trimmed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Trimmed]:
    """The patch without one of its places, the last ones first; nothing where it has but one. Lines that it
    only takes away stay away.

    Args:
        before: the edited files as they were.
        after: the same, edited.
    """
    blocks = [(file, *both) for file, text in after.items() for both in changed(before[file], text)]
    for file, gone, made in reversed(blocks) if len(blocks) > 1 else ():
        old, new = (text[file].splitlines(keepends=True) for text in (before, after))
        if made:
            text = "".join([*new[: made.start], *old[gone.start : gone.stop], *new[made.stop :]])
            rows = "".join(new[made.start : made.stop])
            rest = {**after, file: text}
            if text == before[file]:
                del rest[file]
            yield Trimmed(rest, file, rows)
