"""``table[ids]`` becomes ``table[ids.to(table.device)]``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.editing import Change, Refused, Site
from diagnose.fixes.edits import operand
from diagnose.fixes.operands import device_of, is_moved, is_tensor_like, moved


def changes(site: Site) -> Sequence[Change]:
    """All indices of the subscript that failed move to what they index."""
    for node in site.met.nodes:
        if isinstance(node, ast.Subscript):
            elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            indices = [e for e in elements if isinstance(e, (ast.Name, ast.Attribute, ast.Call))]
            device = device_of(site, node.value)
            if (
                not indices
                or device is None
                or not all(is_tensor_like(site, one) for one in indices)
            ):
                continue
            if any(is_moved(site, one) for one in indices):
                raise Refused("an index is placed already")
            return [moved(site, element, device) for element in indices]
    if not site.met.strays:
        raise Refused("the line shows no subscript whose device it tells, and no operand to move")
    return operand.changes(site)


KINDS = {"index-to-device": changes}
