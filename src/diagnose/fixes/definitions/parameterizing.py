"""What is computed of a Parameter is none: the computation goes into the Parameter."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.places import called, text_of, walk_calls
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Source

#: What binds closer than any operation.
_ATOMS = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant)


def of_computed(source: Source, value: ast.expr) -> Change | None:
    """The change of ``nn.Parameter(x) * 2`` to ``nn.Parameter(x * 2)``; None for what is no such operation.

    Raises:
        Refused: it is computed of more than one Parameter, or of one in another way.
    """
    made = [one for one in walk_calls(value) if called(one) == "Parameter"]
    match value:
        case ast.BinOp(left=left, right=right) if made:
            pass
        case _:
            return None
    call = made[0]
    if len(made) > 1 or call not in (left, right) or len(call.args) != 1:
        raise Refused("it is not known which of it is to be trained")
    if "#" in text_of(source, value):
        raise Refused("a comment stands in what is to change")
    first, second = (_within(source, one, call) for one in (left, right))
    sign = ast.unparse(ast.BinOp(ast.Name("a"), value.op, ast.Name("b")))[1:-1].strip()
    more = "".join(f", {text_of(source, one)}" for one in call.keywords)
    written = f"{text_of(source, call.func)}({first} {sign} {second}{more})"
    return replaced(source, value, written)


def _within(source: Source, operand: ast.expr, call: ast.Call) -> str:
    """An operand as it is written in the Parameter: of that one itself, what it is made of."""
    inner = call.args[0] if operand is call else operand
    text = text_of(source, inner)
    return text if isinstance(inner, _ATOMS) else f"({text})"
