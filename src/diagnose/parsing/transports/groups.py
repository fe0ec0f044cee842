"""The tree of "| " that CPython draws around the members of an exception group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports.layer import Layer
from diagnose.patterns import lazy

_ROOT = lazy(r"^(?P<indent>\s*)\+ Exception Group Traceback")
_BRANCH = lazy(r"^(?P<indent>\s*)(?:\| )*\+-\+-{8,}|^\s*(?:\| )*\+-{8,}")
_STEM = lazy(r"^\s*\|(?: |$)")


def ungroup(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    """Lines without the tree; the rules between members stay, the reader knows them."""
    if not any("Exception Group Traceback" in line.text for line in lines):
        yield from lines
        return
    inside = False
    for line in lines:
        text = line.text
        if root := _ROOT.match(text):
            inside = True
            text = text[root.end("indent") + 2 :]
        elif inside and not _BRANCH.match(text):
            if stem := _STEM.match(text):
                text = text[stem.end() :]
            else:
                inside = bool(text.startswith("    ") and not text.strip())
        yield line._replace(text=text)


LAYERS = (
    Layer(
        "groups",
        ungroup,
        "process",
        40,
        "the tree stands outside of the boxes and of the indentation within it",
    ),
)
