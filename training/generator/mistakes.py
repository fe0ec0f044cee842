"""Makes one mistake in a program: edits a line, takes it out, moves it or adds one.

All other lines stay as they are. Where a whole line is taken away, the line to edit is the one that now
stands there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .model import Mistake
from .notes import Note, anchor, bare, noted
from .operators import EDITS


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
    if operator == "below":
        there = anchor(text, argument)
        if there is None:
            return None
        rest = lines[:at] + lines[at + 1 :]
        target = there - (there - 1 > at)
        new, line = [*rest[:target], row, *rest[target:]], target + 1
        after = row
    elif operator == "insert":
        after = f"{indent}{argument}"
        new, line = [*lines[: at + 1], after, *lines[at + 1 :]], note.line + 1
    else:
        edited = "" if operator == "delete" else EDITS[operator](row.strip(), argument)
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
