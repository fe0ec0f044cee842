"""``table[ids]`` becomes ``table[ids.to(table.device)]``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress

from diagnose.fixes.edits import operand
from diagnose.fixes.line_gate import Change, Refused, Site
from diagnose.fixes.operands import device_of, is_moved, is_tensor_like, moved
from diagnose.scene import calls


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
            return [*(moved(site, e, device) for e in indices), *_again(site, node, indices)]
    if not site.met.strays:
        raise Refused("the line shows no subscript whose device it tells, and no operand to move")
    return _of_call(site) or operand.changes(site)


def _again(site: Site, failed: ast.Subscript, indices: Sequence[ast.expr]) -> list[Change]:
    """The same index of the line's other tables, each moved to its own table: these fail next, or it is
    there already."""
    texts, found = {site.text(one) for one in indices}, list[Change]()
    for node in site.line.nodes:
        if (
            isinstance(node, ast.Subscript)
            and node is not failed
            and site.text(node.slice) in texts
        ):
            device = None if is_moved(site, node.value) else device_of(site, node.value)
            with suppress(Refused):
                found.append(moved(site, node.slice, device, known=True))
    return found


def _of_call(site: Site) -> Sequence[Change]:
    """The index that a function is given moves to what it indexes, which may be large; none where the line
    shows no such call."""
    for node in site.met.nodes:
        given = calls.parameters(node, site.torch) if isinstance(node, ast.Call) else {}
        table, index = given.get("input"), given.get("index") or given.get("mask")
        if table is not None and index is not None:
            return (moved(site, index, device_of(site, table)),)
    return ()


KINDS = {"index-to-device": changes}
