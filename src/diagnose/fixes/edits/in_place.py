"""``model = model.to(device)`` becomes ``model = model``: what was placed by its loader stays."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.line_gate import Change, Refused, Site, replaced
from diagnose.placement.semantics import dotted


def changes(site: Site) -> Sequence[Change]:
    """The move is taken out; a statement that was nothing else becomes ``pass``."""
    for node in site.met.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name = dotted(node.func.value)
        if node.func.attr not in {"to", "cuda"} or name is None or name in {"self", "torch"}:
            continue
        if not site.line.whole(node):
            raise Refused("the move is cut off")
        for statement in site.line.nodes:
            if isinstance(statement, ast.Expr) and statement.value is node:
                if site.text(node) != site.line.text:
                    raise Refused("the statement is more than the move")
                text = f"pass  # {name} stays where it was loaded"
                return (Change(0, len(site.line.text), text, statement, ast.Pass()),)
        return (replaced(site, node, site.text(node.func.value)),)
    raise Refused("the line moves nothing that has a name")


KINDS = {"no-to-on-quantized": changes}
