"""Whether the moves that an edit adds fit what the program does beside them: who has moved that already,
who is told the device, what may not be there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.placement.semantics import (
    argument,
    arguments,
    around,
    calls,
    last_name,
    names,
    nodes,
)
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, Transfer, callee, goes_to_cpu, move_of, moves
from diagnose.repair.validation.optional import bound_under, may_miss

#: What tells where a tensor is.
_WHERE = frozenset({"device", "is_cuda", "is_cpu", "get_device"})
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


def for_its_device(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """Nothing is moved for a question where it is: that answers itself."""
    asked = next(around(patch.new, one.call, ast.Attribute), None)
    if asked is not None and asked.value is one.call and asked.attr in _WHERE:
        yield said("asked", line=one.line, name=one.name)


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


def at_once(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """Nothing is made on a device that is named right there, and taken to the cpu at once."""
    inner: ast.expr = one.moved
    while isinstance(inner, ast.Call) and goes_to_cpu(one.call):
        made = argument(inner, "device")
        if made is not None and "cpu" not in ast.unparse(made):
            yield said("at-once", line=one.line, device=ast.unparse(made))
        inner = inner.func.value if isinstance(inner.func, ast.Attribute) else inner.func


def inline(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """No model that is kept is fetched in the midst of its own call: nobody puts it back."""
    if is_inline(one):
        yield said("inline", line=one.line, name=one.name)


def is_inline(one: Transfer) -> bool:
    """Whether what has a name is moved and called at once."""
    return isinstance(one.moved, ast.Name | ast.Attribute) and any(
        node.func is one.call for node in calls(one.scope)
    )


def missing(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What is there only under a condition is moved under it."""
    if may_miss(one.moved, one.call, one.scope, patch.new) or bound_under(
        one.moved, one.call, one.scope
    ):
        yield said("absent", line=one.line, name=one.name)


def sent_elsewhere(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """No part of a model that a method sends to a device that it is given is sent elsewhere."""
    name, given = one.name, one.given - {"self"}
    if not isinstance(one.scope, ast.FunctionDef) or not name.startswith("self."):
        return
    if given & set(names(one.call)):
        return
    for node in nodes(patch.old, ast.FunctionDef):
        if node.name == one.scope.name:
            for call in moves(node):
                to = call.args[0] if len(call.args) == 1 else None
                told = isinstance(to, ast.Name) and to.id in given
                if told and ast.unparse(callee(call)) == name:
                    yield said("sent", line=one.line, gone=ast.unparse(call.args[0]))
