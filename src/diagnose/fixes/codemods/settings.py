"""What a setting turns on is turned off where that is set: a literal, an option, an argument."""

from __future__ import annotations

import ast
from typing import TypeGuard

from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.placement.model import Source
from diagnose.placement.semantics import argument, called


def is_switch(node: ast.expr) -> bool:
    """Whether an expression is what a switch is set to."""
    boolean = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    return boolean or isinstance(node, ast.Compare) or called(node) == "add_argument"


def turned_off(source: Source, node: ast.expr) -> Change:
    """The change of a switch to what it is not: the other truth value, or the other of two choices.

    Raises:
        Refused: the file does not show what else it can be.
    """
    if isinstance(node, ast.Call):
        default = argument(node, "default")
        if default is None and said_of(node, "action") == "store_false":
            return with_argument(source, node, "default", "False")
        if default is None:
            raise Refused("the option is chosen when the program is called")
        return _other(source, default, argument(node, "choices"))
    if isinstance(node, ast.Compare):
        return replaced(source, node, "False")
    return _other(source, node, None)


def said_of(call: ast.Call, name: str) -> object:
    """The literal that a keyword of a call is; None for others."""
    return getattr(argument(call, name), "value", None)


def is_setting(node: ast.AST) -> TypeGuard[ast.Constant | ast.Call]:
    """Whether a node is a literal, or an option of a command line."""
    return isinstance(node, ast.Constant) or called(node) == "add_argument"


def on_the_gpu(source: Source, said: ast.Constant | ast.Call) -> Change:
    """The change of a setting that keeps on the cpu what a kernel of the GPU's is given."""
    value = argument(said, "default") if isinstance(said, ast.Call) else said
    if isinstance(value, ast.Constant) and value.value == "cpu":
        return replaced(source, value, '"cuda"')
    return turned_off(source, said)


def _other(source: Source, value: ast.expr, choices: ast.expr | None) -> Change:
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        return replaced(source, value, str(not value.value))
    if isinstance(choices, ast.List | ast.Tuple) and len(choices.elts) == 2:
        others = [one for one in choices.elts if ast.unparse(one) != ast.unparse(value)]
        if len(others) == 1 and isinstance(others[0], ast.Constant):
            return replaced(source, value, text_of(source, others[0]))
    raise Refused("it is not known what else it can be")
