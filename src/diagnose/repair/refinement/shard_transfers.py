"""Another form of a patch that moves what a split model is given from one GPU to another, in its
``forward``: the program sends it to the GPU of the first layer at once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from diagnose.fixes.codemods.expressions import replaced, without_method
from diagnose.fixes.codemods.positions import class_around
from diagnose.fixes.file_gate import rewritten
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.semantics import calls, dotted, nodes, stored
from diagnose.repair.patch import Patch, Transfer, goes_to_cpu, moves

#: So many forms are tried.
_MOST = 6
#: The device of a layer, as an edit in ``forward`` tells it.
_LAYER = re.compile(
    r"(?:next\(self\.(?P<one>[\w.]+)\.parameters\(\)\)|self\.(?P<other>[\w.]+)\.weight)\.device"
)


def sending(patch: Patch, across: set[int]) -> Iterator[str]:
    """The edited text with what a ``forward`` moves sent to the right GPU by the program.

    Args:
        patch: a file, before and after.
        across: its edited lines that copy from one GPU to another.
    """
    source = Source("", patch.after.split("\n"), patch.new)
    for one in patch.transfers:
        if one.line in across and (layer := _layer(one)) is not None:
            yield from islice(_sent(source, one, layer), _MOST)


def _layer(one: Transfer) -> str | None:
    """The layer that an argument of ``forward`` is moved to."""
    given = one.call.args
    found = _LAYER.fullmatch(ast.unparse(given[0])) if len(given) == 1 else None
    if found is None or not isinstance(one.scope, ast.FunctionDef) or one.scope.name != "forward":
        return None
    root: ast.expr = one.moved
    while isinstance(root, ast.Call | ast.Attribute):  # what is seen of it: ``x.transpose(1, 2)``
        root = root.func if isinstance(root, ast.Call) else root.value
    own = isinstance(root, ast.Name) and root.id in one.given - {"self"}
    return (found["one"] or found["other"]) if own else None


def _sent(source: Source, one: Transfer, layer: str) -> Iterator[str]:
    kind = class_around(source, one.scope)
    known = _property(kind, layer) if kind is not None else ""
    for function in nodes(source.tree, ast.FunctionDef):
        if function.name == "forward":
            continue
        models = dict.fromkeys(_called(function))
        for model in list(models)[:2]:
            for call in moves(function):
                if len(call.args) == 1 and not goes_to_cpu(call):
                    device = (
                        f"{model}.{known}"
                        if known
                        else f"next({model}.{layer}.parameters()).device"
                    )
                    back = without_method(source, one.call)
                    with suppress(Refused):
                        yield rewritten(source, [back, replaced(source, call.args[0], device)])


def _property(kind: ast.ClassDef, layer: str) -> str:
    """The property by which a model tells where that layer is."""
    for node in kind.body:
        match node:
            case ast.FunctionDef(
                name=name,
                decorator_list=[ast.Name(id="property")],
                body=[*_, ast.Return(value=told)],
            ) if told is not None and ast.unparse(told).startswith(f"self.{layer}."):
                return name
    return ""


def _called(function: ast.FunctionDef) -> Iterator[str]:
    """What a function calls by a name in lower case that it is given, has bound or keeps: models."""
    known = {arg.arg for arg in function.args.args}
    known |= {one.id for one in stored(function)}
    for call in calls(function):
        name = dotted(call.func) or ""
        if name in known or re.fullmatch(r"self\.\w*(?:model|net)\w*", name):
            yield name
