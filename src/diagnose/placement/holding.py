"""Forms that hold several values or take one of them: what stands within, what a name may stand for."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence


def within(value: ast.expr) -> Sequence[ast.expr] | None:
    """The values of which an expression gives one or holds all: of a display, of either side of a
    condition, of an entry of something; None for other expressions."""
    match value:
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return values
        case ast.List(elts=values) | ast.Tuple(elts=values):
            return values
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=given):
            return [one.value for one in given]
        case ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial"), args=[of]):
            return [of]
        case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[_, *others]):
            return [held, *others]
        case ast.Call(func=ast.Attribute(value=held, attr="values" | "items"), args=[]):
            return [held]
        case ast.Subscript(value=held):
            return [held]
    return None


def may_name(text: ast.expr, name: str) -> bool:
    """Whether an expression for a text may give a name, by what of it is written down."""
    return re.fullmatch(_pattern(text), name) is not None


def _pattern(text: ast.expr) -> str:
    match text:
        case ast.Constant(value=str(written)):
            return re.escape(written)
        case ast.JoinedStr(values=parts):
            return "".join(map(_pattern, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _pattern(left) + _pattern(right)
    return ".*"
