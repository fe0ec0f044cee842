"""A program on other GPUs than those that it names: an edit that wrote one of them down stays behind.

``device = "cuda:0"`` is meant to be changed. So all numbers of GPUs in the program are raised by one, first
those in the edits too, then not: what passes the first time only has a GPU of its own in an edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from diagnose.repair.patch import Patch
from diagnose.repair.workspace import FILES, Workspace

_NUMBERED = re.compile(r"\bcuda:(\d+)")
#: A number of a GPU that is computed, or stands by itself: in a text, in a call.
_COMPUTED = re.compile(
    r"""(?P<before>\bcuda:\{|\bdevice\(\s*["']cuda["']\s*,\s*|(?:\.cuda|\bset_device)\(\s*(?=\d|[\w.]*(?:gpu|rank)))"""
    r"""(?P<number>[\w.]+)(?=\s*[})])""",
    re.IGNORECASE,
)
_BARE = re.compile(r"""["']cuda["']|\.cuda\(\s*\)""")


class Shifted(NamedTuple):
    """Texts of files, and the GPU that is current when the program begins."""

    texts: Mapping[str, str]
    current: int


def raised(text: str, by: int = 1) -> str:
    """A text whose GPUs have higher numbers."""
    return _computed(_NUMBERED.sub(lambda found: f"cuda:{int(found[1]) + by}", text), by)


def _computed(text: str, by: int = 1) -> str:
    """A text in which numbers of GPUs that it computes are higher."""
    return _COMPUTED.sub(rf"\g<before>\g<number> + {by}", text)


def shifts(workspace: Workspace, texts: Mapping[str, str]) -> tuple[Shifted, Shifted] | None:
    """The patched program with all GPUs raised, and with all but those that the edits wrote down.

    Args:
        workspace: the files as they were.
        texts: the edited files.

    Returns:
        None where the edits write down no GPU, or the program has too many files.
    """
    written = {file: list(_written(one)) for file, one in workspace.patches(texts).items()}
    own = {device for found in written.values() for _, device in found}
    numbered, bare = own - {"cuda"}, "cuda" in own
    sources = dict(workspace.sources(FILES + 1)) if own else {}
    if not own or len(sources) > FILES:
        return None
    bare = bare and not any(map(_BARE.search, sources.values()))
    if not (numbered or bare):
        return None
    rest = {file: other for file, text in sources.items() if (other := raised(text)) != text}
    everywhere = rest | {file: raised(text) for file, text in texts.items()}
    apart = rest | {file: _raised_but(written[file], text) for file, text in texts.items()}
    return Shifted(everywhere, 1), Shifted(apart, 0 if bare else 1)


def _written(patch: Patch) -> Iterator[tuple[int, str]]:
    """The GPUs that edited lines name and the lines in whose place they stand do not, by line."""
    for hunk in patch.hunks:
        known = _named(hunk.was)
        for number in hunk.made:
            for device in sorted(_named(patch.rows[number]) - known):
                yield number, device


def _named(text: str) -> set[str]:
    found = {match[0] for match in _NUMBERED.finditer(text)}
    return found | ({"cuda"} if _BARE.search(text) else set())


def _raised_but(written: Iterable[tuple[int, str]], after: str) -> str:
    """A text with all GPUs raised but those that its edits wrote down."""
    kept: dict[int, set[str]] = {}
    for number, device in written:
        kept.setdefault(number, set()).add(device)
    rows = after.splitlines(keepends=True)
    return "".join(_row(row, kept.get(number, set())) for number, row in enumerate(rows))


def _row(row: str, kept: set[str]) -> str:
    def change(found: re.Match[str]) -> str:
        return found[0] if found[0] in kept else raised(found[0])

    return _computed(_NUMBERED.sub(change, row))
