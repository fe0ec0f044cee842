"""A GPU that an edit writes down, told by what is at hand instead: a device's name, a tensor's device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.placement.semantics import (
    Function,
    bindings,
    bound_names,
    called,
    calls,
    dotted,
    nodes,
    parameters,
    stored,
    stored_attributes,
)
from diagnose.placement.semantics import functions as functions_in
from diagnose.repair.patch import Patch
from diagnose.repair.syntax import spans
from diagnose.repair.validation.patch_edits import LITERAL

_BARE = re.compile(r"\.cuda\(\s*\)")
#: What a program calls the number of its GPU.
_NUMBER = re.compile(
    r"(?i)^(?:(?:main|local)_)?(?:gpu(?:_?(?:id|index|no))?|device_?(?:id|index|no))$|^local_rank$"
)
#: So many expressions are tried.
_MOST = 8
#: What tells torch where tensors are made that no line says it of.
_SETS_DEFAULT = "torch.set_default_device"


class General(NamedTuple):
    """An edited text with another expression of the device, and the row that this changes."""

    text: str
    row: str
    told: str


def general(patch: Patch, *, told: bool = False) -> Iterator[General]:
    """The edited text with other expressions of the device, likeliest first.

    Args:
        patch: a file, before and after; where not just one line writes down a GPU, nothing comes.
        told: only expressions that the program calls a device, unless it writes down no GPU itself.
    """
    known, rows = patch.before.splitlines(), patch.after.splitlines(keepends=True)
    told = told and bool(LITERAL.search(patch.before) or _BARE.search(patch.before))
    added = [
        line
        for line, row in patch.added
        if (LITERAL.search(row) or _BARE.search(row)) and row not in known
    ]
    if len(added) != 1:
        return
    at, row = added[0] - 1, rows[added[0] - 1]
    found = dict.fromkeys(_devices(patch.new, added[0], told=told))
    for device in [one for one in found if one not in row][:_MOST]:
        other = LITERAL.sub(lambda _, device=device: device, row)  # type: ignore[misc]
        other = _BARE.sub(lambda _, device=device: f".to({device})", other)  # type: ignore[misc]
        yield General("".join([*rows[:at], other, *rows[at + 1 :]]), row, other)


def _devices(tree: ast.Module, line: int, *, told: bool) -> Iterator[str]:
    """Expressions that may tell the device in a line: those that the program calls one first, then, unless
    it has to be ``told``, what has one."""
    around = [node for node in nodes(tree, ast.stmt) if spans(node, line)]
    functions = [node for node in around if isinstance(node, Function)][::-1]
    classes = [node for node in around if isinstance(node, ast.ClassDef)]
    yield from (text for text, _, at in _asked(functions[0] if functions else tree) if at <= line)
    of_file = [one.id for row in tree.body if isinstance(row, ast.Assign) for one in stored(row)]
    bound = [name for one in functions for name in bound_names(one, line)]
    kept = [one for each in classes for one in bindings(each)]
    own = [name for one in kept if (name := dotted(one.target)) and name.startswith("self.")]
    yield from (one for one in (*bound, *own, *of_file) if _is_device(one))
    reached = {*bound, *of_file} - {"self"}
    yield from (text for one in classes for text, owner, _ in _asked(one) if owner == "self")
    asked = list(_asked(tree))
    yield from (text for text, owner, _ in asked if owner in reached)
    same = {f"self.{dotted(one.value)}" for one in kept if one.value} & set(own)
    yield from (f"self.{text}" for text, owner, _ in asked if f"self.{owner}" in same)
    yield from (f"{name}.device" for name in _instances(tree, line))
    if any(dotted(one.func) == _SETS_DEFAULT for one in calls(tree)):
        yield "torch.get_default_device()"
    yield from (f'f"cuda:{{{name}}}"' for name in sorted(reached) if _NUMBER.search(name))
    arguments = [one.arg for function in functions for one in parameters(function)]
    models = {dotted(one.func) for function in functions for one in calls(function)}
    yield from (f"next({one}.parameters()).device" for one in arguments if one in models)
    if not told:
        holding = [*(_holders(around[-1]) if around else ()), *arguments]
        yield from (f"{one}.device" for one in holding if one not in ("self", "cls"))
        yield from ("next(self.parameters()).device" for _ in classes[:1])


def _asked(scope: ast.AST) -> Iterator[tuple[str, str, int]]:
    """The attributes and items that are called a device and asked for in a scope (``self.args.device``,
    ``config["device"]``), the names that they begin with, and their lines."""
    for node in nodes(scope, ast.Attribute, ast.Subscript):
        match node:
            case (
                ast.Attribute(attr=name, ctx=ast.Load())
                | ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load())
            ) if _is_device(name):
                owner: ast.expr = node
                while isinstance(owner, ast.Attribute | ast.Subscript):
                    owner = owner.value
                if isinstance(owner, ast.Name) and owner.id != "torch":
                    yield ast.unparse(node).replace("'", '"'), owner.id, node.lineno


def _is_device(name: str) -> bool:
    return re.search(r"(?i)(device|\bdev)$", name) is not None


def _instances(tree: ast.Module, line: int) -> Iterator[str]:
    """The names that the file binds above a line to objects of its classes that have a device."""
    for target, value, _ in bindings(tree):
        kind = called(value) if value is not None and target.lineno < line else ""
        made = next((one for one in nodes(tree, ast.ClassDef) if one.name == kind), None)
        if made is not None and isinstance(target, ast.Name) and _has_device(made):
            yield target.id


def _has_device(kind: ast.ClassDef) -> bool:
    """Whether a class sets its objects' ``device``, or computes it."""
    defined = any(one.name == "device" for one in functions_in(kind))
    return defined or any(dotted(one) == "self.device" for one in stored_attributes(kind))


def _holders(statement: ast.stmt) -> Iterator[str]:
    """Expressions of a statement that may be tensors."""
    called = {id(node.func) for node in calls(statement)}
    inner = {id(n.value) for n in nodes(statement, ast.Attribute)}
    for node in nodes(statement, ast.Name, ast.Attribute, ast.Subscript):
        if isinstance(node.ctx, ast.Load) and id(node) not in called | inner:
            yield ast.unparse(node)
