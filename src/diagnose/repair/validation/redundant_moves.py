"""Whether the moves that an edit adds fit what the program does beside them: who has moved that already,
who is told the device, what may not be there."""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.model import Lang
from diagnose.placement.semantics import (
    argument,
    arguments,
    called,
    calls,
    functions_by_line,
    last_name,
    names,
    nodes,
)
from diagnose.repair.comparison import changed, edited_lines
from diagnose.repair.model import Guard
from diagnose.repair.syntax import tree_of
from diagnose.repair.validation.absent_values import bound_under, may_miss
from diagnose.repair.words import say

_MOVES = frozenset({"to", "cuda", "cpu"})
#: What tells where a tensor is.
_WHERE = frozenset({"device", "is_cuda", "is_cpu", "get_device"})
#: What gives an option its default.
_OPTION = re.compile(r"\bdefault=|^\s*(?:async\s+)?def\s|^\s*\w+\s*:\s*bool\s*=")


class Added(NamedTuple):
    """A move that an edit adds: the call, what it moves, the function or the file that it stands in, and
    all edited lines."""

    call: ast.Call
    moved: ast.expr
    scope: ast.AST
    edited: set[int]


def fitting(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """What each of the moves tells against an edit, one at most of a kind."""
    tree = tree_of(after)
    seen = set[str]()
    for one in added(before, tree, after):
        for found in (
            *_twice(one, lang),
            *_for_its_device(one, lang),
            *_deaf(one, tree, lang),
            *_at_once(one, lang),
            *_inline(one, lang),
            *_missing(one, tree, lang),
            *_unasked(one, before, lang),
        ):
            if found.sentence not in seen:
                seen.add(found.sentence)
                yield found


def flipped(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit only turns an option around: who chooses the other value meets the same failure."""
    old, new = before.splitlines(), after.splitlines()
    for gone, made in changed(before, after):
        was, now = (" ".join(text[i] for i in rows) for text, rows in ((old, gone), (new, made)))
        for one, other in (("True", "False"), ("False", "True")):
            turned = re.sub(rf"(=\s*){one}\b", rf"\g<1>{other}", was)
            if was != now == turned and _OPTION.search(was):
                yield Guard("gives-up", False, say(lang, "flipped", line=made.start + 1))
                return


def move_of(node: ast.AST) -> ast.Call | None:
    """A node, if it is a call that moves something."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _MOVES:
            return node
    return None


def moves(scope: ast.AST) -> list[ast.Call]:
    """The calls in a node that move something, outermost first."""
    return [one for one in calls(scope) if move_of(one)]


def callee(call: ast.Call) -> ast.expr:
    """What a method is called of."""
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def unmoved(call: ast.Call) -> str:
    """A call, without the moves of what it is made of: where a part of it is moved, it is the same one."""
    made = copy.deepcopy(call)
    if isinstance(made.func, ast.Attribute):
        made.func.value = _Unmoved().visit(made.func.value)
    made.args = [_Unmoved().visit(one) for one in made.args]
    return ast.unparse(made)


class _Unmoved(ast.NodeTransformer):
    """Leaves out the moves of an expression."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return callee(node) if move_of(node) is not None else node


def goes_to_cpu(call: ast.Call) -> bool:
    """Whether a move is one to the cpu, as its text says."""
    named = any("cpu" in ast.unparse(one) for one in arguments(call))
    return named or (isinstance(call.func, ast.Attribute) and called(call) == "cpu")


def added(before: str, tree: ast.Module, after: str) -> Iterator[Added]:
    """The moves in edited lines that the program did not have; ``tree`` is that of the text ``after``."""
    edited = edited_lines(before, after)
    known = Counter(map(ast.unparse, moves(tree_of(before))))
    known -= Counter(ast.unparse(call) for call in moves(tree) if call.lineno not in edited)
    scopes = functions_by_line(tree)
    for call in moves(tree):
        if call.lineno not in edited:
            continue
        if known[said := ast.unparse(call)] > 0:
            known[said] -= 1
            continue
        yield Added(call, callee(call), scopes.get(call.lineno, tree), edited)


def _twice(one: Added, lang: Lang) -> Iterator[Guard]:
    """What the line before that speaks of it has moved to a GPU is not moved again: that line is wrong."""
    inner = move_of(one.moved)
    before = inner if inner is not None and not goes_to_cpu(inner) else None
    if not goes_to_cpu(one.call) and (found := before or earlier(one)) is not None:
        name = ast.unparse(callee(before) if before else one.moved)
        sentence = say(lang, "twice", line=one.call.lineno, other=found.lineno, name=name)
        yield Guard("twice", False, sentence)


def _for_its_device(one: Added, lang: Lang) -> Iterator[Guard]:
    """Nothing is moved for a question where it is: that answers itself."""
    for node in nodes(one.scope, ast.Attribute):
        if node.value is one.call and node.attr in _WHERE:
            name = ast.unparse(one.moved)
            yield Guard("asked", False, say(lang, "asked", line=one.call.lineno, name=name))


def earlier(one: Added) -> ast.Call | None:
    """The move to a GPU of the same thing, in the line before that speaks of it, if no edit made that."""
    if not isinstance(one.moved, ast.Name | ast.Attribute) or goes_to_cpu(one.call):
        return None
    name, last = ast.unparse(one.moved), None
    for node in nodes(one.scope, ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.For):
        inner = node.iter if isinstance(node, ast.For) else node
        ends = inner.end_lineno or inner.lineno
        if ends < one.call.lineno and _speaks(inner, name):
            last = node if last is None or node.lineno > last.lineno else last
    call = _moving(last, name) if last is not None and last.lineno not in one.edited else None
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


def _deaf(one: Added, tree: ast.Module, lang: Lang) -> Iterator[Guard]:
    """What a function of the program gives that is told a device is there: else it is mended itself."""
    if (function := told(one, tree)) is not None:
        name = function.name
        yield Guard("deaf", False, say(lang, "deaf", line=one.call.lineno, name=name))


def told(one: Added, tree: ast.Module) -> ast.FunctionDef | None:
    """The program's own function that gives what is moved, and is told a device."""
    if not isinstance(one.moved, ast.Call) or not one.call.args:
        return None
    func = one.moved.func
    if not any(last_name(arg) == "device" for arg in arguments(one.moved)):
        return None
    for node in nodes(tree, ast.FunctionDef):
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


def _at_once(one: Added, lang: Lang) -> Iterator[Guard]:
    """Nothing is made on a device that is named right there, and taken to the cpu at once."""
    inner: ast.expr = one.moved
    while isinstance(inner, ast.Call) and goes_to_cpu(one.call):
        made = argument(inner, "device")
        if made is not None and "cpu" not in ast.unparse(made):
            sentence = say(lang, "at-once", line=one.call.lineno, device=ast.unparse(made))
            yield Guard("back", False, sentence)
            return
        inner = inner.func.value if isinstance(inner.func, ast.Attribute) else inner.func


def _inline(one: Added, lang: Lang) -> Iterator[Guard]:
    """No model that is kept is fetched in the midst of its own call: nobody puts it back."""
    if is_inline(one):
        sentence = say(lang, "inline", line=one.call.lineno, name=ast.unparse(one.moved))
        yield Guard("put-away", False, sentence)


def is_inline(one: Added) -> bool:
    """Whether what has a name is moved and called at once."""
    return isinstance(one.moved, ast.Name | ast.Attribute) and any(
        node.func is one.call for node in calls(one.scope)
    )


def _missing(one: Added, tree: ast.Module, lang: Lang) -> Iterator[Guard]:
    """What is there only under a condition is moved under it."""
    if may_miss(one.moved, one.call, one.scope, tree) or bound_under(
        one.moved, one.call, one.scope
    ):
        name = ast.unparse(one.moved)
        yield Guard("absent", False, say(lang, "absent", line=one.call.lineno, name=name))


def _unasked(one: Added, before: str, lang: Lang) -> Iterator[Guard]:
    """No part of a model that a method sends to a device that it is given is sent elsewhere."""
    name = ast.unparse(one.moved)
    if not isinstance(one.scope, ast.FunctionDef) or not name.startswith("self."):
        return
    given = {arg.arg for arg in one.scope.args.args} - {"self"}
    if given & set(names(one.call)):
        return
    for node in nodes(tree_of(before), ast.FunctionDef):
        if node.name == one.scope.name:
            for call in moves(node):
                to = call.args[0] if len(call.args) == 1 else None
                told = isinstance(to, ast.Name) and to.id in given
                if told and ast.unparse(callee(call)) == name:
                    gone = ast.unparse(call.args[0])
                    sentence = say(lang, "sent", line=one.call.lineno, gone=gone)
                    yield Guard("gives-up", False, sentence)
                    return
