"""``z.to("cuda")`` becomes ``z.to(x.device)``: no device is written down beside one that is known."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.edits import factory
from diagnose.fixes.line_gate import Change, Refused, Site, replaced
from diagnose.scene import calls


def changes(site: Site) -> Sequence[Change]:
    """A written device gives way to that of what it meets; else what the line makes is made there."""
    for node in site.met.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        fixed = any(calls.names_device(n, site.torch) for n in (node, *node.args, *node.keywords))
        if node.func.attr not in {"to", "cuda"} or not fixed or not site.line.whole(node):
            continue
        device = factory.company(site, node)
        if device is not None:
            return (replaced(site, node, f"{site.text(node.func.value)}.to({device})"),)
    if not (made := factory.followed(site)):
        raise Refused("the line writes no device down, and makes no tensor")
    return made


KINDS = {"use-like-device-of-other": changes}
