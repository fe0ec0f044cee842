"""Edits of where a module keeps layers in a plain list or dict: torch's containers register them.

The values tell what such a thing holds, where the text does not: what a function returned, what was
appended later, what an argument chose.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from diagnose.fixes.codemods.expressions import around, replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import class_around
from diagnose.fixes.codemods.statements import after_statement
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import fields, namespace
from diagnose.placement import Source
from diagnose.placement.semantics import assigned, calls, dotted, nodes
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, proposed
from diagnose.tracing.stacks import is_own

_CAUSE, _OF_REPLICAS = "unregistered-submodule", "dataparallel-replica-state"
#: What torch says of a failure in a replica: they share what plain lists hold, registered or not.
_REPLICA = "in replica "


_Changing = Callable[[Source, ast.Assign, "_Kept"], list[Change]]


class _Kept(NamedTuple):
    """An attribute of a module, and the layers that its plain list or dict holds."""

    owner: nn.Module
    name: str
    held: Any


def containing(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, those of the innermost running module first."""
    seen, shared = set[int](), failure.says(_REPLICA)
    cause = _OF_REPLICAS if shared else _CAUSE
    for running in failure.running:
        for root in list(running.frame.f_locals.values()):
            if isinstance(root, nn.Module) and id(root) not in seen:
                modules = list(root.modules())
                seen.update(map(id, modules))
                for kept in (one for module in modules for one in _plain(module)):
                    if shared or (_is_unregistered(kept) and _is_elsewhere(kept)):
                        yield from _edits(failure, kept, cause, _by_texts, _changes)
                for kept in (one for module in modules for one in _nested(module)):
                    if _is_unregistered(kept) and _is_elsewhere(kept):
                        yield from _edits(failure, kept, _CAUSE, _in_lists)


def _plain(module: nn.Module) -> Iterator[_Kept]:
    for name, held in fields(module):
        if not name.startswith("_") and _layers(held):
            yield _Kept(module, name, held)


def _nested(module: nn.Module) -> Iterator[_Kept]:
    """Lists of lists of layers."""
    for name, held in fields(module):
        rows = held if not name.startswith("_") and type(held) is list and held else []
        if rows and all(isinstance(one, list | tuple) and _layers(one) for one in rows):
            yield _Kept(module, name, [layer for one in rows for layer in one])


def _is_unregistered(kept: _Kept) -> bool:
    known = {id(one) for one in (*kept.owner.modules(), *kept.owner.parameters())}
    return any(id(one) not in known for one in _layers(kept.held))


def _layers(held: Any) -> list[Any]:
    """What a plain list or dict holds, if that is layers only, or parameters only."""
    if not isinstance(held, list | tuple | dict):
        return []
    found = list(held.values() if isinstance(held, dict) else held)
    alike = any(all(isinstance(one, kind) for one in found) for kind in (nn.Module, nn.Parameter))
    return found if alike else []


def _is_elsewhere(kept: _Kept) -> bool:
    """Whether the layers are not where the rest of the module is: it was moved without them."""
    rest = {one.device for one in (*kept.owner.parameters(), *kept.owner.buffers())}
    apart = {device for one in _layers(kept.held) for device in _devices(one)}
    return not rest or bool(apart - rest)


def _devices(layer: Any) -> set[torch.device]:
    tensors = layer.parameters() if isinstance(layer, nn.Module) else [layer]
    return {one.device for one in tensors}


def _edits(
    failure: LiveFailure, kept: _Kept, cause: str, *codemods: _Changing
) -> Iterator[Proposal]:
    """The edits that codemods make of where classes of the user's set an attribute."""
    for changes in codemods:
        for kind in type(kept.owner).__mro__:
            code = getattr(namespace(kind).get("__init__"), "__code__", None)
            if code is None or not is_own(code):
                continue
            source = failure.texts.of(code.co_filename)
            for node in nodes(source.tree, ast.ClassDef) if source is not None else ():
                for made in assigned(node, f"self.{kept.name}"):
                    if source is not None and node.name == kind.__name__ and len(made.targets) == 1:
                        rest = (changes, made, kept)
                        yield from proposed("register-module", source, *rest, cause=cause)


def _changes(source: Source, statement: ast.Assign, kept: _Kept) -> list[Change]:
    """The list is torch's; a dict is, where its keys can be names, and else its layers stand beside."""
    what = "Module" if isinstance(_layers(kept.held)[0], nn.Module) else "Parameter"
    mapping = isinstance(kept.held, dict)
    if mapping and not _are_names(kept.held):
        name, needed = spelled(source, f"torch.nn.{what}List", statement)
        beside = f"{kept.name}_registered"
        if hasattr(kept.owner, beside):
            raise Refused("the name is taken")
        code = f"self.{beside} = {name}(self.{kept.name}.values())"
        return [after_statement(source, _last_filling(source, statement, kept), code), *needed]
    name, needed = spelled(source, f"torch.nn.{what}{'Dict' if mapping else 'List'}", statement)
    return [around(source, statement.value, f"{name}(", ")"), *needed]


def _last_filling(source: Source, statement: ast.Assign, kept: _Kept) -> ast.stmt:
    """The last statement of the function that fills a dict which begins empty; else where it is set."""
    function = source.function_at(statement.lineno)
    body = (
        function.body
        if function is not None and not ast.unparse(statement.value).strip("{}")
        else []
    )
    filling = [one for one in body if any(_entries(one, kept.name, ast.Store))]
    return filling[-1] if filling else statement


def _entries(scope: ast.AST, name: str, *kinds: type[ast.expr_context]) -> Iterator[ast.Subscript]:
    """The entries of an attribute of the object, as they are set or asked for."""
    for node in nodes(scope, ast.Subscript):
        if dotted(node.value) == f"self.{name}" and isinstance(node.ctx, kinds):
            yield node


def _by_texts(source: Source, statement: ast.Assign, kept: _Kept) -> list[Change]:
    """A dict that begins empty, and of which only entries are set and asked for, is torch's: by the texts
    of its keys."""
    made, held = class_around(source, statement), kept.held
    whole = isinstance(held, dict) and all(isinstance(key, int) for key in held)
    if made is None or not whole or not isinstance(_layers(held)[0], nn.Module):
        raise Refused("its keys are no numbers")
    entries = list(_entries(made, kept.name, ast.Load, ast.Store))
    uses = [one for one in nodes(source.tree, ast.Attribute) if one.attr == kept.name]
    if ast.unparse(statement.value) not in ("{}", "dict()") or len(uses) != len(entries) + 1:
        raise Refused("it is used otherwise")
    name, needed = spelled(source, "torch.nn.ModuleDict", statement)
    keys = [around(source, one.slice, "str(", ")") for one in entries]
    return [replaced(source, statement.value, f"{name}()"), *keys, *needed]


def _in_lists(source: Source, statement: ast.Assign, kept: _Kept) -> list[Change]:
    """The list and those in it are torch's: where they are written, and where they are appended."""
    if not isinstance(_layers(kept.held)[0], nn.Module):
        raise Refused("a list of layers registers no lists of parameters")
    name, needed = spelled(source, "torch.nn.ModuleList", statement)
    changes = []
    match statement.value:
        case ast.List(elts=[]):
            changes.append(replaced(source, statement.value, f"{name}()"))
        case ast.ListComp(elt=row) | ast.List(elts=[row]):
            changes += [around(source, statement.value, f"{name}(", ")")]
            changes += [around(source, row, f"{name}(", ")")]
        case _:
            raise Refused("the list is not written there")
    for row in _appended(class_around(source, statement) or source.tree, kept.name):
        changes.append(around(source, row, f"{name}(", ")"))
    return [*changes, *needed]


def _appended(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """What is appended to an attribute of the object."""
    for node in calls(scope, "append"):
        if dotted(node.func) == f"self.{name}.append" and len(node.args) == 1:
            yield node.args[0]


def _are_names(held: dict[Any, Any]) -> bool:
    """Whether torch's dicts take the keys: texts without dots that are no attributes of theirs."""
    empty = nn.ModuleDict()
    return all(
        isinstance(key, str) and key and "." not in key and not hasattr(empty, key) for key in held
    )
