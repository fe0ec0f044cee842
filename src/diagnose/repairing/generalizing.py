"""A GPU that an edit writes down, told by what is at hand instead: a device's name, a tensor's device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.repairing.comparing import edited_lines

_LITERAL = re.compile(r"""["']cuda(?::\d+)?["']""")
_BARE = re.compile(r"\.cuda\(\s*\)")
#: So many expressions are tried.
_MOST = 8

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class General(NamedTuple):
    """An edited text with another expression of the device, and the row that this changes."""

    text: str
    row: str
    told: str


def general(before: str, after: str) -> Iterator[General]:
    """The edited text with other expressions of the device, likeliest first.

    Args:
        before: a file's text.
        after: the same, edited; where not just one line writes down a GPU, nothing comes.
    """
    known, rows = before.splitlines(), after.splitlines(keepends=True)
    added = [
        line
        for line in edited_lines(before, after)
        if (_LITERAL.search(rows[line - 1]) or _BARE.search(rows[line - 1]))
        and rows[line - 1].rstrip("\r\n") not in known
    ]
    if len(added) != 1:
        return
    at, row = added[0] - 1, rows[added[0] - 1]
    for device in list(_devices(ast.parse(after), added[0]))[:_MOST]:
        told = _LITERAL.sub(lambda _, device=device: device, row)  # type: ignore[misc]
        told = _BARE.sub(lambda _, device=device: f".to({device})", told)  # type: ignore[misc]
        yield General("".join([*rows[:at], told, *rows[at + 1 :]]), row, told)


def _devices(tree: ast.Module, line: int) -> Iterator[str]:
    """Expressions that may tell the device in a line: names first, then what has one."""
    around = [node for node in ast.walk(tree) if _spans(node, line)]
    functions = [node for node in around if isinstance(node, _Function)]
    scopes = [*reversed(functions), *(n for n in around if isinstance(n, ast.ClassDef)), tree]
    seen: dict[str, None] = dict.fromkeys(_used(functions[-1] if functions else tree, line))
    for scope in scopes:
        seen |= dict.fromkeys(_named(scope, line))
    statement = next((n for n in reversed(around) if isinstance(n, ast.stmt)), None)
    holding = [*(_holders(statement) if statement is not None else ())]
    for function in reversed(functions):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        holding += [one.arg for one in arguments if one.arg not in ("self", "cls")]
    seen |= {f"{one}.device": None for one in holding}
    if any(isinstance(node, ast.ClassDef) for node in around):
        seen["next(self.parameters()).device"] = None
    yield from seen


def _used(scope: ast.AST, line: int) -> Iterator[str]:
    """The attributes that are called a device and asked for in a scope up to a line: ``args.device``."""
    for node in ast.walk(scope):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr, ctx=ast.Load()):
                asked = attr.lower().endswith("device") and owner != "torch"
                if asked and node.lineno <= line:
                    yield ast.unparse(node)


def _spans(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return first <= line <= (last or 0)


def _named(scope: ast.AST, line: int) -> Iterator[str]:
    """What is called a device and bound before a line in a scope, or in the object that it belongs to."""
    for node in ast.walk(scope):
        bound = isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)
        name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        name = node.arg if isinstance(node, ast.arg) else name
        if not bound or not name.rpartition(".")[2].lower().endswith("device"):
            continue
        own = isinstance(scope, _Function) and getattr(node, "lineno", line) < line
        kept = isinstance(scope, ast.ClassDef) and name.startswith("self.")
        if own or kept or (isinstance(scope, ast.Module) and node in _top(scope)):
            yield name


def _top(tree: ast.Module) -> list[ast.AST]:
    """What the statements of a module bind, not those of its functions."""
    return [target for one in tree.body if isinstance(one, ast.Assign) for target in one.targets]


def _holders(statement: ast.stmt) -> Iterator[str]:
    """Expressions of a statement that may be tensors."""
    called = {id(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call)}
    inner = {id(n.value) for n in ast.walk(statement) if isinstance(n, ast.Attribute)}
    for node in ast.walk(statement):
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            continue
        if isinstance(node.ctx, ast.Load) and id(node) not in called | inner:
            yield ast.unparse(node)
