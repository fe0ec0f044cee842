"""Whether a file is the one that a frame was printed from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from diagnose.model import Frame
from diagnose.patterns import bare
from diagnose.sources.reader import Lines

#: Characters of the largest file that is parsed for a frame whose line was not printed.
_LARGEST_PARSED = 500_000
#: What Python calls code without a name of its own.
_NAMELESS: dict[str, type[ast.AST]] = {
    "<lambda>": ast.Lambda,
    "<listcomp>": ast.ListComp,
    "<setcomp>": ast.SetComp,
    "<dictcomp>": ast.DictComp,
    "<genexpr>": ast.GeneratorExp,
}
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef)


def matches(frame: Frame, lines: Lines) -> bool:
    """Whether the frame's line stands in the file.

    Where no line was printed: whether the function of that name stands around the line of that number.
    """
    if frame.line is None or not 1 <= frame.line <= len(lines):
        return False
    here = bare(lines[frame.line - 1]).split()
    if frame.code:
        return here == bare(frame.code).split()
    if not here or not frame.function:
        return False
    return _stands_in(frame.function.rpartition(".")[2], frame.line, lines)


def standing(frame: Frame, lines: Lines) -> Frame | None:
    """A frame where it stands in a file: at its number, else where one line of a function of that name
    reads so; None where it stands nowhere."""
    if matches(frame, lines):
        return frame
    code = bare(frame.code or "").split()
    if not code or not frame.function or frame.line is None:
        return None
    function = frame.function.rpartition(".")[2]
    alike = [n for n, text in enumerate(lines, 1) if code[0] in text and bare(text).split() == code]
    found = [n for n in alike if _stands_in(function, n, lines)]
    if len(found) != 1:
        return None
    said = frame.statement
    if said is not None and said.line is not None:
        said = said._replace(line=said.line + found[0] - frame.line)
    return frame._replace(line=found[0], statement=said)


def _stands_in(function: str, line: int, lines: Lines) -> bool:
    tree = _parsed(lines)
    around = list(_around(tree, line)) if tree is not None else []
    kind = _NAMELESS.get(function)
    if kind is not None:
        return any(isinstance(node, kind) for node in around)
    # The header of a function is run by what stands around it.
    named = [n.name for n in around if isinstance(n, _DEFINES) and line >= n.body[0].lineno]
    return named[-1:] == [function] if function != "<module>" else bool(around) and not named


@lru_cache(maxsize=4)
def _parsed(lines: Lines) -> ast.Module | None:
    if sum(map(len, lines)) > _LARGEST_PARSED:
        return None
    try:
        return ast.parse("\n".join(lines), "<source>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _around(tree: ast.Module, line: int) -> Iterator[ast.AST]:
    """The nodes that a line stands in, outermost first."""
    level: list[ast.AST] = [tree]
    while level:
        inner = [child for node in level for child in ast.iter_child_nodes(node)]
        level = [node for node in inner if _spans(node, line)]
        yield from (node for node in level if hasattr(node, "lineno"))


def _spans(node: ast.AST, line: int) -> bool:
    """Whether a line stands in a node; nodes without a place may hold some that have one."""
    return getattr(node, "lineno", line) <= line <= (getattr(node, "end_lineno", None) or line)
