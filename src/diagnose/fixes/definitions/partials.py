"""Layers that functions are given beforehand, as by ``functools.partial``, are registered beside those."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.imports import spelled
from diagnose.fixes.definitions.places import called, class_around, statement_of, text_of
from diagnose.fixes.definitions.statements import after_statement
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Source
from diagnose.placement.walking import walk
from diagnose.scene import sourceline


def registered_beside(
    source: Source, target: ast.Attribute, value: ast.expr
) -> list[Change] | None:
    """The change that registers the layers within the functions that an attribute holds; None where it
    holds no such functions.

    Args:
        source: the file.
        target: the attribute, of ``self.steps = [partial(run, nn.Linear(2, 2)), ...]``.
        value: what it is set to.

    Raises:
        Refused: the functions are given something else, or stand in a list beside other things.
    """
    partials = [one for one in walk(value) if called(one) == "partial"]
    if not partials:
        return None
    if not all(isinstance(one, ast.Call) and _is_given_layers(one) for one in partials):
        raise Refused("the functions are given more than layers that are built there")
    statement, kept = statement_of(source, value), f"{target.attr}_layers"
    owner = class_around(source, statement)
    if owner is not None and any(_is_named(one, kept) for one in walk(owner)):
        raise Refused(f"the class has an attribute {kept}")
    of = text_of(source, target)
    layers = (
        f"{of}.args" if value is partials[0] else f"part {_each(value, of)} for part in one.args"
    )
    name, needed = spelled(source, "torch.nn.ModuleList", statement)
    code = f"{text_of(source, target.value)}.{kept} = {name}({layers})"
    return [after_statement(source, statement, code), *needed]


def _is_given_layers(call: ast.Call) -> bool:
    """Whether ``partial`` is given layers alone that are built there."""
    built = [
        (sourceline.dotted(one.func) or "") for one in call.args[1:] if isinstance(one, ast.Call)
    ]
    alone = len(built) == len(call.args) - 1 > 0 and not call.keywords
    return alone and all(name.rpartition(".")[2][:1].isupper() for name in built)


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _each(value: ast.expr, of: str) -> str:
    """The clause that takes the functions out of a list or dict one by one."""
    match value:
        case ast.ListComp(elt=item):
            items = [item]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            pass
        case ast.DictComp(value=item):
            items, of = [item], f"{of}.values()"
        case ast.Dict(values=items):
            of = f"{of}.values()"
        case _:
            raise Refused("the file does not show what holds the functions")
    forms = {_form(item) for item in items}
    if len(forms) != 1 or None in forms:
        raise Refused("the functions stand beside other things")
    return f"for {forms.pop()} in {of}"


def _form(item: ast.expr) -> str | None:
    """What unpacks an item of which one part is a function; None where that is not one."""
    if called(item) == "partial":
        return "one"
    if not isinstance(item, ast.Tuple):
        return None
    names = ["one" if called(part) == "partial" else "_" for part in item.elts]
    return ", ".join(names) if names.count("one") == 1 else None
