"""``torch.load(path)`` becomes ``torch.load(path, map_location="cpu")``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.line_gate import Change, Refused, Site, replaced
from diagnose.placement.semantics import dotted


def changes(site: Site) -> Sequence[Change]:
    """The checkpoint is loaded to the host, whatever device it was saved from."""
    for node in site.line.nodes:
        if not isinstance(node, ast.Call):
            continue
        owner, _, function = (dotted(node.func) or "").rpartition(".")
        if owner not in site.torch.torch or function != "load":
            continue
        settled = any(k.arg in (None, "map_location") for k in node.keywords)
        if settled or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            raise Refused("torch.load says already where to load to, or takes more than a path")
        text = site.text(node)
        if not site.line.whole(node) or not text.endswith(")"):
            raise Refused("torch.load(...) is cut off")
        given = text[:-1].rstrip().rstrip(",")
        return (replaced(site, node, f'{given}, map_location="cpu")'),)
    raise Refused("the line has no torch.load")


KINDS = {"map-location": changes}
