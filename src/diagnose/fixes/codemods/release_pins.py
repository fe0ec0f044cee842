"""A script that pins a library to one release in its own metadata asks for others."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.codemods.positions import span
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Suspect


def upgrade(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A later release than the one that is pinned."""
    return [_other(suspect, ">")]


def downgrade(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """An earlier release than the one that is pinned."""
    return [_other(suspect, "<")]


def _other(suspect: Suspect, sign: str) -> Change:
    node = suspect.spot.node
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise Refused("no release is pinned")
    name, equals, release = node.value.partition("==")
    if not equals:
        raise Refused("no release is pinned")
    start, end = span(suspect.spot.source, node)
    text = f"{name.rstrip()}{sign}{release.lstrip()}"
    return Change((Splice(start, end, text),), node, (ast.Constant(text),))


KINDS = {"upgrade-library": upgrade, "downgrade-library": downgrade}
