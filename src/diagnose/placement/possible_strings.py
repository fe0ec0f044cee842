"""What an expression for a text may stand for."""

from __future__ import annotations

import ast
import re


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
