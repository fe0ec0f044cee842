"""What a program does within a context that brings a module to the accelerator, and once without it."""

from __future__ import annotations

import ast
from functools import lru_cache

from diagnose.placement.bringing import forgotten
from diagnose.placement.model import Spot
from diagnose.placement.values import Frame
from diagnose.placement.walking import walk


def used_outside(context: Spot, at: Spot | None, used: Frame) -> tuple[Spot, Frame] | None:
    """The call on the way to a failure that elsewhere stands in the body of such a context.

    Args:
        context: the place that brought the module back to the host: that of the context as a ``with``
            states it; anything else gives nothing.
        at: the call of the module.
        used: the variables there.
    """
    calls = _within(context)
    call, around = at, used
    while call is not None:
        func = call.node.func if isinstance(call.node, ast.Call) else None
        if func is not None and ast.unparse(func) in calls:
            inside = any(one is call.node for one in calls.values())
            return None if inside else (call, around)
        if around.caller is None:
            break
        call, around = around.call, around.caller
    return None


def unbrought(at: Spot | None, used: Frame | None) -> tuple[Spot, Frame] | None:
    """The call on the way to a failure of a part that the program brings to an accelerator for its calls,
    and not for this one.

    Args:
        at: the call of the module.
        used: the variables there.
    """
    call, around = at, used
    while call is not None and around is not None:
        found = forgotten(call.source, call.line)
        if found is not None and found.call is call.node:
            return call, around
        call, around = around.call, around.caller
    return None


def _within(context: Spot) -> dict[str, ast.Call]:
    """The calls of the body of the ``with`` that a context stands in, by what they call."""
    node = _contexts(context.source.tree).get(id(context.node))
    inner = (one for statement in node.body for one in walk(statement)) if node else ()
    return {ast.unparse(one.func): one for one in inner if isinstance(one, ast.Call)}


@lru_cache(maxsize=8)
def _contexts(tree: ast.Module) -> dict[int, ast.With]:
    """The ``with`` statements of a file, by their contexts."""
    withs = (node for node in walk(tree) if isinstance(node, ast.With))
    return {id(item.context_expr): node for node in withs for item in node.items}
