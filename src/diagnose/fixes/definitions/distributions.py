"""A distribution that a module keeps is no module, so that nothing moves its tensors: these are registered,
and the distribution is made of them where it is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.definitions.expressions import writable
from diagnose.fixes.definitions.places import (
    class_around,
    functions_around,
    line_end,
    text_of,
    walk_calls,
)
from diagnose.fixes.definitions.statements import after_statement, indentation, statements
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice
from diagnose.model import TorchNames
from diagnose.placement.model import Source
from diagnose.placement.semantics import called, walk


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
        or ast.unparse(target.value) != "self"
    ):
        raise Refused("it is not set in the class's own __init__ alone")
    sets = [node for node in walk(source.tree) if _is_store(node, target.attr)]
    if len(sets) > 1 or any(getattr(one, "name", None) == target.attr for one in owner.body):
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
    if any(_is_store(node, name) for node in walk(source.tree) for name in names):
        raise Refused("an attribute of that name is there already")
    made = text_of(source, value)
    for name, (_, _, tensor) in zip(names, tensors, strict=True):
        if made.count(text_of(source, tensor)) != 1:
            raise Refused("two of its parts are written alike")
        made = made.replace(text_of(source, tensor), f"self.{name}")
    rest = {node.id for node in walk(ast.parse(made)) if isinstance(node, ast.Name)}
    if rest & _own(around[0]):
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
        target.id
        for node in walk(function)
        if isinstance(node, ast.Assign) and _makes(node.value, torch)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in walk_calls(value):
        takes = torch.distributions.get(called(call), ())
        given = [*zip(takes, call.args, strict=False)]
        given += [(one.arg, one.value) for one in call.keywords if one.arg]
        for name, one in given:
            if called(one) not in torch.distributions and (
                _makes(one, torch) or (isinstance(one, ast.Name) and one.id in made)
            ):
                yield call, name, one


def _makes(value: ast.expr, torch: TorchNames) -> bool:
    return any(called(call) in torch.factories for call in walk_calls(value))


def _is_store(node: ast.AST, name: str) -> bool:
    """Whether this binds an attribute, or registers a buffer, of that name."""
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
            return attr == name
        case ast.Call(
            func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=known), *_]
        ):
            return known == name
    return False


def _own(function: ast.AST) -> set[str]:
    """The names that a function binds itself, ``self`` left out."""
    stored = {
        node.id
        for node in walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg for node in walk(function) if isinstance(node, ast.arg)} - {"self"}
