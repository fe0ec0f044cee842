"""Makes one mistake in a program: each operator edits a statement's tree or its place.

Every operator leaves all other lines as they are. Where it takes a whole line away, the line to edit is the
one that now stands there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from .model import Mistake
from .notes import Note, anchor, bare, noted

Edit = Callable[[str], "str | None"]
_MOVES = ("to", "cuda")


def mistakes(text: str) -> Iterator[Mistake]:
    """All mistakes that a noted program has room for."""
    healthy = bare(text)
    for note in noted(text):
        made = _made(text, healthy.split("\n"), note)
        if made is not None:
            yield made


def _made(text: str, lines: list[str], note: Note) -> Mistake | None:
    operator, _, argument = note.edit.partition(":")
    at = note.line - 1
    row = lines[at]
    indent = row[: len(row) - len(row.lstrip())]
    if operator in ("below", "above"):
        there = anchor(text, argument)
        if there is None:
            return None
        rest = lines[:at] + lines[at + 1 :]
        target = there - 1 - (there - 1 > at) + (operator == "below")
        new, line = [*rest[:target], row, *rest[target:]], target + 1
        after = row
    elif operator == "insert":
        after = f"{indent}{argument}"
        new, line = [*lines[: at + 1], after, *lines[at + 1 :]], note.line + 1
    else:
        edited = "" if operator == "delete" else _EDITS[operator](row.strip(), argument)
        if edited is None or edited == row.strip():
            return None
        if edited:
            after = indent + edited
            new, line = [*lines[:at], after, *lines[at + 1 :]], note.line
        elif _alone(lines, at):
            after = f"{indent}pass"
            new, line = [*lines[:at], after, *lines[at + 1 :]], note.line
        else:
            after = ""
            new, line = [*lines[:at], *lines[at + 1 :]], note.line
    broken = "\n".join(new)
    try:
        tree = ast.parse(broken)
    except SyntaxError:
        return None
    others = tuple(sorted(lines_of(tree, note, line) - {line}))
    return Mistake(
        note.cause,
        operator,
        note.operand,
        broken,
        line,
        others,
        note.also,
        row.strip(),
        after.strip(),
    )


def _alone(lines: list[str], at: int) -> bool:
    """Whether a line is all that its block holds."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    below = next((one for one in lines[at + 1 :] if one.strip()), "")
    above = next((one for one in reversed(lines[:at]) if one.strip()), "")
    return above.rstrip().endswith(":") and len(below) - len(below.lstrip()) < indent


def lines_of(tree: ast.Module, note: Note, line: int) -> set[int]:
    """Lines in which the mistake may as well be mended.

    They bind or read the operand, or what the line binds, in its function, of ``self.`` in its class.
    Of what is on the meta device those that name that device, too.
    """
    scopes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    nodes = [node for scope in scopes or [tree] for node in ast.walk(scope)]
    names = {note.operand} | {
        ast.unparse(target)
        for node in nodes
        if isinstance(node, ast.Assign) and node.lineno == line
        for target in node.targets
    }
    functions = [one for one in scopes if isinstance(one, ast.FunctionDef)] or [tree]
    inner = set(ast.walk(functions[-1]))
    return {
        node.lineno
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        and ast.unparse(node) in names
        and (node in inner or ast.unparse(node).startswith("self."))
    } | {
        node.lineno
        for node in nodes
        if note.cause == "meta-tensor" and isinstance(node, ast.Constant) and node.value == "meta"
    }


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


def _without(*names: str) -> Callable[[str, str], str | None]:
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


_EDITS: dict[str, Callable[[str, str], str | None]] = {
    "unmove": _unmove,
    "nodevice": _without("device"),
    "nomap": _without("map_location"),
    "nogenerator": _without("generator"),
    "attribute": _attribute,
    "plain": _plain,
    "nocpu": _nocpu,
    "sub": _sub,
}
