"""Makes one mistake in a program: edits a line, takes it out, moves it or adds one.

All other lines stay as they are. Where a whole line is taken away, the line to edit is the next one that
uses the operand, and the one that now stands there may as well be edited.
"""

from __future__ import annotations

import ast
import re
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
    moved = set[int]()
    indent = row[: len(row) - len(row.lstrip())]
    if operator == "below":
        there = anchor(text, argument)
        if there is None:
            return None
        rest = lines[:at] + lines[at + 1 :]
        target = there - (there - 1 > at)
        new, line = [*rest[:target], row, *rest[target:]], target + 1
        after, moved = row, {there - (there - 1 > at)}
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
            after, moved = "", {note.line}
            new = [*lines[:at], *lines[at + 1 :]]
            line = _next_use(new, note)
    broken = "\n".join(new)
    try:
        tree = ast.parse(broken)
    except SyntaxError:
        return None
    others = tuple(sorted((lines_of(tree, note, line) | moved) - {line}))
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


def _next_use(lines: list[str], note: Note) -> int:
    """The first line from a note's on that has its operand, in the same block or below; else the note's."""
    indent = len(lines[note.line - 1]) - len(lines[note.line - 1].lstrip())
    for number, row in enumerate(lines[note.line - 1 :], note.line):
        if row.strip() and len(row) - len(row.lstrip()) < indent:
            break
        if re.search(rf"(?<![\w.]){re.escape(note.operand)}(?!\w)", row):
            return number
    return note.line


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
