"""Whether the moves that an edit adds fit what the program does beside them: who has moved that already,
who is told the device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.placement.semantics import (
    arguments,
    calls,
    holds,
    last_name,
    nodes,
)
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, Transfer, callee, goes_to_cpu, move_of, unmoved

#: What gives an option its default.
_OPTION = re.compile(r"\bdefault=|^\s*(?:async\s+)?def\s|^\s*\w+\s*:\s*bool\s*=")


def flipped(patch: Patch) -> Iterator[Sentence]:
    """No edit only turns an option around: who chooses the other value meets the same failure."""
    for hunk in patch.hunks:
        was, now = hunk.was, hunk.now
        for one, other in (("True", "False"), ("False", "True")):
            turned = re.sub(rf"(=\s*){one}\b", rf"\g<1>{other}", was)
            if was != now == turned and _OPTION.search(was):
                yield said("flipped", line=hunk.made.start + 1)


def twice(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What the line before that speaks of it has moved to a GPU is not moved again: that line is wrong."""
    inner = move_of(one.moved)
    before = inner if inner is not None and not goes_to_cpu(inner) else None
    if not goes_to_cpu(one.call) and (found := before or earlier(one, patch)) is not None:
        name = ast.unparse(callee(before) if before else one.moved)
        yield said("twice", line=one.line, other=found.lineno, name=name)


def earlier(one: Transfer, patch: Patch) -> ast.Call | None:
    """The move to a GPU of the same thing, in the line before that speaks of it, if no edit made that."""
    if not isinstance(one.moved, ast.Name | ast.Attribute) or goes_to_cpu(one.call):
        return None
    name, last = one.name, None
    for node in nodes(one.scope, ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.For):
        inner = node.iter if isinstance(node, ast.For) else node
        ends = inner.end_lineno or inner.lineno
        if ends < one.line and _speaks(inner, name):
            last = node if last is None or node.lineno > last.lineno else last
    call = _moving(last, name) if last is not None and last.lineno not in patch.edited else None
    return call if call is not None and not goes_to_cpu(call) else None


def _speaks(node: ast.AST, name: str) -> bool:
    return any(ast.unparse(one) == name for one in nodes(node, ast.Name, ast.Attribute))


def _moving(statement: ast.stmt, name: str) -> ast.Call | None:
    """The move to which a statement puts what has a name: ``net.cuda()``, ``net = build().to(device)``."""
    match statement:
        case ast.Expr(value=ast.Call() as call) if (
            move_of(call) and ast.unparse(callee(call)) == name
        ):
            return call
        case ast.Assign(targets=[target], value=ast.Call() as call) if ast.unparse(target) == name:
            return move_of(call)
    return None


def deaf(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What a function of the program gives that is told a device is there: else it is mended itself."""
    if (function := told(one, patch)) is not None:
        yield said("deaf", line=one.line, name=function.name)


def told(one: Transfer, patch: Patch) -> ast.FunctionDef | None:
    """The program's own function that gives what is moved, and is told a device."""
    if not isinstance(one.moved, ast.Call) or not one.call.args:
        return None
    func = one.moved.func
    if not any(last_name(arg) == "device" for arg in arguments(one.moved)):
        return None
    for node in nodes(patch.new, ast.FunctionDef):
        if node.name == last_name(func) or (isinstance(func, ast.Attribute) and _is_callable(node)):
            return node
    return None


def _is_callable(node: ast.AST) -> bool:
    """Whether a class's objects are called, with a device among what they are given."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name == "__call__"
        and any(one.arg == "device" for one in node.args.args)
    )


def inline(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """No model that is kept is fetched in the midst of its own call: nobody puts it back."""
    if is_inline(one):
        yield said("inline", line=one.line, name=one.name)


def is_inline(one: Transfer) -> bool:
    """Whether what has a name is moved and called at once."""
    return isinstance(one.moved, ast.Name | ast.Attribute) and any(
        node.func is one.call for node in calls(one.scope)
    )


def hops(patch: Patch) -> Iterator[Sentence]:
    """What is brought somewhere is not made a part of what is brought elsewhere by the same edit."""
    every = list(patch.transfers)
    known = set(map(unmoved, calls(patch.old)))  # of a move that was there a part moves before
    for outer in every:
        for inner in every if unmoved(outer.call) not in known else ():
            inside = inner.call is not outer.call and holds(outer.moved, inner.call)
            apart = [ast.unparse(one) for one in (*inner.call.args, *outer.call.args)]
            if inside and len(apart) == 2 and apart[0] != apart[1]:
                yield said("hops", line=outer.line)
