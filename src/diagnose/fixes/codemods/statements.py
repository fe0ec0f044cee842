"""The changes that write, take away and move whole statements, with the lines that they stand on."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.codemods.positions import block_of, line_end, span
from diagnose.fixes.file_gate import Change, Splice, offset_of_line
from diagnose.fixes.line_gate import Refused
from diagnose.placement.model import Source
from diagnose.placement.semantics import bound, scope_of


def before_statement(source: Source, statement: ast.stmt, code: str) -> Change:
    """The change that writes statements on lines of their own before one."""
    first = _first_line(statement)
    start = offset_of_line(source, first)
    indent = indentation(source, statement)
    new = statements(code)
    text = _indented(code, indent, line_end(source, start))
    return Change((Splice(start, start, text),), statement, (*new, statement))


def after_statement(source: Source, statement: ast.stmt, code: str) -> Change:
    """The change that writes statements on lines of their own after one."""
    indent = indentation(source, statement)
    last = statement.end_lineno or statement.lineno
    _ends_its_line(source, statement)
    at = offset_of_line(source, last + 1)
    ending = line_end(source, span(source, statement)[0])
    text = _indented(code, indent, ending)
    if last == len(source.lines):  # the file's last line lacks its line feed
        at, text = at - 1, f"{ending}{text.removesuffix(ending)}"
    return Change((Splice(at, at, text),), statement, (statement, *statements(code)))


def beside_statement(source: Source, statement: ast.stmt, name: str, code: str) -> Change:
    """The change that writes a statement about ``name`` next to one that does the same for something else:
    before it, which is the line that people name; after it where that binds the name.

    Raises:
        Refused: the name is bound further below.
    """
    scope = scope_of(source.tree, statement)
    lines = [one.target.lineno for one in bound(scope, name)]
    last = statement.end_lineno or statement.lineno
    if lines and min(lines) > last:
        raise Refused(f"{name} gets its value below that line")
    here = any(statement.lineno <= line for line in lines if line <= last)
    return (after_statement if here else before_statement)(source, statement, code)


def first_in_body(source: Source, body: Sequence[ast.stmt], header: int, code: str) -> Change:
    """The change that writes statements before the first one of a body, whose header ends in line
    ``header``, and before its comments."""
    first = body[0]
    line = _first_line(first)
    while line - 1 > header and source.lines[line - 2].strip()[:1] in ("", "#"):
        line -= 1
    start = offset_of_line(source, line)
    text = _indented(code, indentation(source, first), line_end(source, start))
    return Change((Splice(start, start, text),), first, (*statements(code), first))


def without_statement(source: Source, statement: ast.stmt) -> Change:
    """The change that takes a statement away; where it is alone in its block ``pass`` stays."""
    indent = indentation(source, statement)
    _ends_its_line(source, statement)
    start = offset_of_line(source, _first_line(statement))
    end = offset_of_line(source, (statement.end_lineno or statement.lineno) + 1)
    alone = len(block_of(source, statement)) == 1
    text = f"{indent}pass{line_end(source, start)}" if alone else ""
    end = min(end, len(source.text))
    becomes = (ast.Pass(),) if alone else ()
    return Change((Splice(start, end, text),), statement, becomes)


def moved_statement(
    source: Source, statement: ast.stmt, anchor: ast.stmt, *, after: bool
) -> list[Change]:
    """The changes that take a statement to another place of its block, with its comment."""
    if block_of(source, statement) is not block_of(source, anchor):
        raise Refused(
            "the move stands in another block than what it would have to follow or precede"
        )
    indentation(source, anchor)
    taken = without_statement(source, statement)
    (cut,) = taken.splices
    text = source.text[cut.start : cut.end]
    if not text.endswith("\n"):
        raise Refused("the file's last line lacks its line feed")
    if after:
        _ends_its_line(source, anchor)
        at = offset_of_line(source, (anchor.end_lineno or anchor.lineno) + 1)
        if at > len(source.text):
            at, ending = at - 1, line_end(source, cut.start)
            text = f"{ending}{text.removesuffix(ending)}"
        becomes: tuple[ast.AST, ...] = (anchor, statement)
    else:
        at, becomes = offset_of_line(source, _first_line(anchor)), (statement, anchor)
    return [taken, Change((Splice(at, at, text),), anchor, becomes)]


def statements(code: str) -> tuple[ast.stmt, ...]:
    """Parses statements. Raises `Refused` where the code is none."""
    try:
        return tuple(ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{code} is no Python") from error


def _indented(code: str, indent: str, ending: str) -> str:
    return "".join(f"{indent if line else ''}{line}{ending}" for line in code.split("\n"))


def _first_line(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators among it."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def indentation(source: Source, statement: ast.stmt) -> str:
    """The white space before a statement. Raises `Refused` where anything else stands before it."""
    start = span(source, statement)[0]
    before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
    if before.strip() or source.text[start:].startswith("elif"):
        raise Refused("the statement does not stand on a line of its own")
    return before


def _ends_its_line(source: Source, statement: ast.stmt) -> None:
    """Raises `Refused` where another statement follows on the same line."""
    end = span(source, statement)[1]
    rest = source.text[end:].partition("\n")[0].strip()
    if rest and not rest.startswith("#"):
        raise Refused("the statement does not stand on a line of its own")
