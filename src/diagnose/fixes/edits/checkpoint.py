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
        name = dotted(node.func) or ""
        owner, _, function = name.rpartition(".")
        anybodys = function == "load" and owner not in site.torch.torch
        if function not in site.torch.checkpoint_loaders or anybodys:
            continue
        settled = any(k.arg in (None, "map_location") for k in node.keywords)
        if settled or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            raise Refused(f"{name} says already where to load to, or takes more than a path")
        text = site.text(node)
        if not site.line.whole(node) or not text.endswith(")"):
            raise Refused(f"{name}(...) is cut off")
        given = text[:-1].rstrip().rstrip(",")
        return (replaced(site, node, f'{given}, map_location="cpu")'),)
    raise Refused("the line loads no checkpoint")


KINDS = {"map-location": changes}
