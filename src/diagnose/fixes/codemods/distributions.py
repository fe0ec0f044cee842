"""A distribution that a module keeps is no module, so that nothing moves its tensors: these are registered,
and the distribution is made of them where it is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.codemods.expressions import writable
from diagnose.fixes.codemods.positions import class_around, functions_around, line_end, text_of
from diagnose.fixes.codemods.statements import after_statement, indentation, statements
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source
from diagnose.placement.semantics import (
    argument,
    bindings,
    bound_names,
    called,
    calls,
    dotted,
    nodes,
)


def kept(
    source: Source, statement: ast.stmt, target: ast.Attribute, value: ast.expr, torch: TorchNames
) -> Sequence[Change] | None:
    """``self.prior = Normal(torch.zeros(8), torch.ones(8))`` becomes two buffers and a property ``prior``.

    Args:
        source: the file.
        statement: the assignment.
        target: the attribute that it sets.
        value: what it is set to.
        torch: what torch calls its distributions, and what they take.

    Returns:
        The changes, None where the value is no distribution.

    Raises:
        Refused: something but its own ``__init__`` sets the attribute, or the distribution is made of what
            only ``__init__`` knows.
    """
    if called(value) not in torch.distributions:
        return None
    owner, around = class_around(source, statement), functions_around(source, statement)
    if (
        owner is None
        or not around
        or around[0] not in owner.body
        or statement not in around[0].body
        or around[0].name != "__init__"
        or dotted(target.value) != "self"
    ):
        raise Refused("it is not set in the class's own __init__ alone")
    methods = [getattr(one, "name", None) for one in owner.body]
    if _stores(source, target.attr) > 1 or target.attr in methods:
        raise Refused("the attribute is set elsewhere, too")
    tensors = list(_tensors(value, around[0], torch))
    if not tensors:
        raise Refused("it is not seen to be made of tensors")
    several = len({id(call) for call, _, _ in tensors}) > 1
    names = [
        "_".join([target.attr, *([called(call).lower()] if several else ()), name])
        for call, name, _ in tensors
    ]
    if len({*names}) < len(names):
        raise Refused("two of its parts would have one name")
    if any(_stores(source, name) for name in names):
        raise Refused("an attribute of that name is there already")
    made = text_of(source, value)
    for name, (_, _, tensor) in zip(names, tensors, strict=True):
        if made.count(text_of(source, tensor)) != 1:
            raise Refused("two of its parts are written alike")
        made = made.replace(text_of(source, tensor), f"self.{name}")
    rest = {node.id for node in ast.walk(ast.parse(made)) if isinstance(node, ast.Name)}
    if rest & {*bound_names(around[0])} - {"self"}:
        raise Refused("it is made of what only __init__ knows")
    rows = [
        f'self.register_buffer("{name}", {text_of(source, tensor)}, persistent=False)'
        for name, (_, _, tensor) in zip(names, tensors, strict=True)
    ]
    start, end = writable(source, statement)
    between = f"{line_end(source, start)}{indentation(source, statement)}"
    buffers = Change(
        (Splice(start, end, between.join(rows)),), statement, statements("\n".join(rows))
    )
    if "\n" in made:
        made = ast.unparse(ast.parse(made))
    code = f"\n@property\ndef {target.attr}(self):\n    return {made}"
    return [buffers, after_statement(source, around[0], code)]


def _tensors(
    value: ast.expr, function: ast.AST, torch: TorchNames
) -> Iterator[tuple[ast.Call, str, ast.expr]]:
    """The tensors that the distributions within a value are made of: the call, the parameter's name, and
    the argument. What a function's argument is, a tensor or a number, nobody knows."""
    made = {
        dotted(one.target)
        for one in bindings(function)
        if one.value is not None and _makes(one.value, torch)
    }
    for call in calls(value):
        takes = torch.distributions.get(called(call), ())
        given = [*zip(takes, call.args, strict=False)]
        given += [(one.arg, one.value) for one in call.keywords if one.arg]
        for name, one in given:
            if called(one) not in torch.distributions and (
                _makes(one, torch) or (isinstance(one, ast.Name) and one.id in made)
            ):
                yield call, name, one


def _makes(value: ast.expr, torch: TorchNames) -> bool:
    return any(called(call) in torch.factories for call in calls(value))


def _stores(source: Source, name: str) -> int:
    """How often a file binds an attribute, or registers a buffer, of that name."""
    attributes = (one for one in nodes(source.tree, ast.Attribute) if one.attr == name)
    given = (argument(one, "name", 0) for one in calls(source.tree, "register_buffer"))
    return sum(not isinstance(one.ctx, ast.Load) for one in attributes) + sum(
        isinstance(one, ast.Constant) and one.value == name for one in given
    )
