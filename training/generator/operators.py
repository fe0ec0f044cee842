"""Edits of one line that take its placement away: a move, a device, a registration, a copy to the host."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

#: What becomes of a line, with the operator's argument; None where it has no place for the edit.
Edit = Callable[[str, str], "str | None"]
_MOVES = ("to", "cuda")


def _cut(source: str, *spans: tuple[int, int]) -> str:
    for start, end in sorted(spans, reverse=True):
        source = source[:start] + source[end:]
    return source


def _parsed(row: str) -> ast.AST | None:
    """A line as a tree; the head of a block gets a body."""
    for text in (row, f"{row} pass"):
        try:
            return ast.parse(text).body[0]
        except SyntaxError:
            continue
    return None


def _unmove(row: str, name: str) -> str | None:
    """Takes a move out: of ``name``, else the last one; a line that then says nothing goes."""
    tree = _parsed(row)
    if tree is None:
        return None
    moves = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _MOVES
        and (not name or ast.unparse(node.func.value) == name)
    ]
    if not moves:
        return None
    move = max(moves, key=lambda node: node.end_col_offset or 0)
    kept = move.func.value  # type: ignore[attr-defined]
    new = _cut(row, (kept.end_col_offset, move.end_col_offset or len(row)))
    left = ast.parse(new).body[0] if not new.endswith(":") else None
    if isinstance(left, ast.Expr) and isinstance(left.value, ast.Name | ast.Attribute):
        return ""
    if isinstance(left, ast.Assign) and ast.unparse(left.targets[0]) == ast.unparse(left.value):
        return ""
    return new


def _without(*names: str) -> Edit:
    """An operator that takes a keyword out of the calls of a line."""

    def edit(row: str, argument: str) -> str | None:
        tree = _parsed(row)
        spans = []
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Call):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                for keyword in node.keywords:
                    if keyword.arg in names:
                        before = [one for one in given if one.end_col_offset <= keyword.col_offset]
                        start = max((one.end_col_offset for one in before), default=None)
                        end = keyword.end_col_offset or 0
                        if start is None:
                            start, end = keyword.col_offset, _past_comma(row, end)
                        spans.append((start, end))
        return _cut(row, *spans) if spans else None

    return edit


def _past_comma(row: str, at: int) -> int:
    found = re.match(r",\s*", row[at:])
    return at + (found.end() if found else 0)


def _attribute(row: str, argument: str) -> str | None:
    """``self.register_buffer("x", value)`` becomes ``self.x = value``."""
    tree = _parsed(row)
    call = getattr(tree, "value", None)
    if not isinstance(call, ast.Call) or len(call.args) < 2:
        return None
    owner = ast.unparse(call.func).rpartition(".")[0]
    value = ast.get_source_segment(row, call.args[1])
    return f"{owner}.{ast.literal_eval(call.args[0])} = {value}"


def _plain(row: str, argument: str) -> str | None:
    """``nn.ModuleList(layers)`` becomes ``layers``, and a generator a list."""
    tree = _parsed(row)
    for node in ast.walk(tree) if tree else ():
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] in ("ModuleList", "ModuleDict")
            and len(node.args) == 1
        ):
            inner = ast.get_source_segment(row, node.args[0]) or ""
            if isinstance(node.args[0], ast.GeneratorExp):
                inner = f"[{inner[1:-1]}]"
            return row[: node.col_offset] + inner + row[node.end_col_offset :]
    return None


def _nocpu(row: str, argument: str) -> str | None:
    """Takes ``.cpu()`` out."""
    return row.replace(".cpu()", "", 1) if ".cpu()" in row else None


def _sub(row: str, argument: str) -> str | None:
    """Puts one text in place of another: ``sub:old=>new``."""
    old, _, new = argument.partition("=>")
    return row.replace(old, new, 1) if old in row else None


EDITS: dict[str, Edit] = {
    "unmove": _unmove,
    "nodevice": _without("device"),
    "nomap": _without("map_location"),
    "attribute": _attribute,
    "plain": _plain,
    "nocpu": _nocpu,
    "sub": _sub,
}
