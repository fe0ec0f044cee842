"""Whether a program spreads the parts of a model over devices by hand, as its text tells: some of the parts
may be of classes of which nothing is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from diagnose.placement.semantics import called, calls, names, nodes

#: What devices are called that a loop goes through.
_DEVICES = re.compile(r"device|gpu|card", re.IGNORECASE)


@lru_cache(maxsize=8)
def spreads_by_hand(tree: ast.AST) -> bool:
    """Whether a class makes parts of its own in ``__init__``, and sends them to devices of different names:
    ``Encoder(cfg).to(first)`` and ``Decoder(cfg).to(second)``; or one to each of several devices that it
    is given: ``Stage(layers, d) for d in devices``.

    Args:
        tree: of a file.
    """
    return any(
        len(set(_devices(node))) > 1 or _one_by_one(node)
        for kind in nodes(tree, ast.ClassDef)
        for node in kind.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )


def _one_by_one(function: ast.FunctionDef) -> bool:
    """Whether a loop over devices sends what it makes to each, or tells each the part that it makes."""
    for loop in nodes(function, ast.For, ast.ListComp, ast.GeneratorExp):
        match loop:
            case ast.For(target=target, iter=given):
                inside: list[ast.AST] = [*loop.body]
            case (ast.ListComp() | ast.GeneratorExp()) as listed if len(listed.generators) == 1:
                target, given = listed.generators[0].target, listed.generators[0].iter
                inside = [listed.elt]
            case _:
                continue
        if not _DEVICES.search(ast.unparse(given)):
            continue
        each = names(target)
        for call in (one for part in inside for one in calls(part)):
            name = called(call)
            told = [one for one in call.args if isinstance(one, ast.Name) and one.id in each]
            # What is told a device alone is made for each, like the others.
            alone = len(call.args) + len(call.keywords) == 1
            if told and (name == "to" or (name[:1].isupper() and not alone)):
                return True
    return False


def _devices(function: ast.FunctionDef) -> Iterator[str]:
    """The devices, other than the cpu, that what a function makes is sent to, as it writes them."""
    for node in calls(function, "to"):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made), args=[device]):
                kind = called(made)
                told = ast.unparse(device).removeprefix("self.")
                if kind[:1].isupper() and "cpu" not in told and "dtype" not in told:
                    yield told
