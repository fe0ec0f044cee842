"""Inputs are moved where they enter: the expression itself, the variables of a loop, a parameter."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence

from diagnose.fixes.definitions.crossing import crossing, enters_each
from diagnose.fixes.definitions.expressions import expression, replaced, with_method
from diagnose.fixes.definitions.fixed_device import elsewhere
from diagnose.fixes.definitions.forgotten import field
from diagnose.fixes.definitions.moving import (
    is_moved,
    same_move,
    tensor,
    unpacked,
    value_of,
)
from diagnose.fixes.definitions.places import (
    ancestors,
    called,
    functions_around,
    span,
    statement_of,
    text_of,
    walk_calls,
)
from diagnose.fixes.definitions.preparing import prepared
from diagnose.fixes.definitions.statements import (
    after_statement,
    before_statement,
    first_in_body,
)
from diagnose.fixes.definitions.switching import on_the_gpu
from diagnose.fixes.definitions.target import target_device
from diagnose.fixes.definitions.tuples import in_tuple, moved_in_tuple
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice
from diagnose.model import TorchNames
from diagnose.placement.model import Suspect

_Loop = (ast.For, ast.AsyncFor)
#: Functions that keep what they are given, whatever it is.
_KEEPING = frozenset({"append", "add", "extend", "update", "save", "write"})
#: Functions whose arguments are shown, counted or asked of, and not computed with.
_ASKING = frozenset(
    {"print", "len", "range", "str", "int", "isinstance", "enumerate", "zip", "format"}
)


def move_input(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """An input is moved by the expression that makes it, or by a statement where it gets its name."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause == "input-on-wrong-shard":
        with contextlib.suppress(Refused):
            return elsewhere(suspect, torch)
        return [crossing(suspect, torch)]
    if enters_each(suspect):
        return [crossing(suspect, torch)]
    if suspect.cause == "kernel-needs-gpu" and isinstance(node, ast.Constant):
        return [on_the_gpu(source, node)]
    if (forgotten := field(suspect, torch)) is not None:
        return [forgotten]
    if isinstance(node, ast.arg):
        return [_parameter(suspect, node)]
    if suspect.owner is not None and suspect.beside is not None:
        if not isinstance(node, ast.Call):
            raise Refused("no call prepares the others")
        return [prepared(source, node, suspect.owner)]
    outer = ancestors(source, node)
    loop = next((o for o in reversed(outer) if isinstance(o, _Loop)), None)
    if loop is not None and (
        loop is node or _within(loop.iter, node) or _within(loop.target, node)
    ):
        return [_beside(suspect, loop, torch) or _loop(suspect, loop, torch)]
    statement = statement_of(source, node)
    value = value_of(suspect)
    if isinstance(statement, ast.Expr) and statement.value is value and is_moved(value, torch):
        return _kept(suspect, statement)
    if unpacked(statement, value):
        assert isinstance(statement, ast.Assign)
        if (listed := moved_in_tuple(suspect, statement, torch)) is not None:
            return [listed]
        names = _names(statement.targets[0])
        scope = functions_around(source, statement)
        body = scope[0].body if scope else source.tree.body
        return [after_statement(source, statement, _moves(suspect, names, body, torch))]
    parent = outer[-2]
    if isinstance(parent, ast.keyword) and parent.arg is None and isinstance(node, ast.Name):
        return [replaced(source, node, _of_dict(node.id, target_device(suspect)))]
    return tensor(suspect, torch)


def entered(suspect: Suspect) -> Suspect:
    """An input that nothing moves on its way from a loop over batches, at that loop; else as it is."""
    if suspect.cause != "input-not-moved" or suspect.beside is not None:
        return suspect
    bound = next((step for step in reversed(suspect.steps) if step.what == "bound"), None)
    if bound is None or not isinstance(bound.spot.node, _Loop) or suspect.spot == bound.spot:
        return suspect
    here = bound.spot.source is suspect.spot.source and _within(bound.spot.node, suspect.spot.node)
    return suspect._replace(spot=bound.spot, devices=suspect.devices if here else ())


def _of_dict(name: str, device: str) -> str:
    return f"{{key: value.to({device}) for key, value in {name}.items()}}"


def _within(outer: ast.AST, node: ast.AST) -> bool:
    return any(one is node for one in ast.walk(outer))


def _parameter(suspect: Suspect, node: ast.arg) -> Change:
    """A parameter is moved by the first statement of its function, after the docstring."""
    source = suspect.spot.source
    function = next(
        (o for o in reversed(ancestors(source, node)) if isinstance(o, ast.FunctionDef)), None
    )
    if function is None:
        raise Refused("it is the parameter of no function")
    if any(one is node for one in (function.args.vararg, function.args.kwarg)):
        raise Refused("the parameter stands for several arguments")
    code = f"{node.arg} = {node.arg}.to({target_device(suspect)})"
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return after_statement(source, first, code)
    parts = [one for one in ast.walk(function.args) if isinstance(one, (ast.arg, ast.expr))]
    header = max(one.end_lineno or 0 for one in [*parts, function.returns or node])
    return first_in_body(source, function.body, header, code)


def _beside(suspect: Suspect, loop: ast.For | ast.AsyncFor, torch: TorchNames) -> Change | None:
    """Where others of a loop's variables are moved, the forgotten ones are, as those are."""
    source, beside = suspect.spot.source, suspect.beside
    if beside is None or not isinstance(beside.node, ast.stmt) or beside.node not in loop.body:
        return None
    names = _looped(loop)
    move = next((one for one in walk_calls(beside.node) if _moves_one_of(one, names, torch)), None)
    if move is None:
        return None
    left = [name for name in names if not _moved_in(name, loop.body, torch)]
    if suspect.name in left:
        left = [suspect.name]
    elif len(left) > 1:
        left = [name for name in left if _computed(name, loop.body)]
    if not left:
        raise Refused("they are moved already")
    moved = same_move(source, move)
    if (listed := in_tuple(source, beside.node, left, moved)) is not None:
        return listed
    code = "\n".join(f"{name} = {name}{moved}" for name in left)
    return before_statement(source, beside.node, code)


def _moves_one_of(call: ast.Call, names: Sequence[str], torch: TorchNames) -> bool:
    return (
        is_moved(call, torch)
        and isinstance(owner := call.func, ast.Attribute)
        and (isinstance(owner.value, ast.Name) and owner.value.id in names)
    )


def _looped(loop: ast.For | ast.AsyncFor) -> list[str]:
    """The variables of a loop without the number of its round."""
    if called(loop.iter) == "enumerate" and isinstance(loop.target, ast.Tuple):
        return _names(loop.target.elts[1])
    return _names(loop.target)


def _loop(suspect: Suspect, loop: ast.For | ast.AsyncFor, torch: TorchNames) -> Change:
    """The variables of a loop are moved by the first statements of its body."""
    source = suspect.spot.source
    code = _moves(suspect, _looped(loop), loop.body, torch)
    header = loop.iter.end_lineno or loop.lineno
    return first_in_body(source, loop.body, header, code)


def _names(target: ast.AST) -> list[str]:
    """The names that a target binds, from left to right."""
    return [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]


def _moves(
    suspect: Suspect, names: Sequence[str], body: Sequence[ast.stmt], torch: TorchNames
) -> str:
    """Statements that move the tensors among names, a statement each."""
    device = target_device(suspect)
    if len(names) == 1 and (whole := _of_parts(names[0], body, device)) is not None:
        return whole
    wanted = [n for n in names if n == suspect.name or (len(names) > 1 and _computed(n, body))]
    wanted = wanted or (list(names) if len(names) == 1 else [])
    left = [name for name in wanted if not _moved_in(name, body, torch)]
    if not left:
        raise Refused(
            "they are moved already" if wanted else "it is not known which of the names are tensors"
        )
    return "\n".join(f"{name} = {name}.to({device})" for name in left)


def _of_parts(name: str, body: Sequence[ast.stmt], device: str) -> str | None:
    """The statement that moves the parts of a dict or tuple; None where the name is used as a tensor is."""
    for node in _walk(body):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="items")):
                if owner == name:
                    raise Refused(f"the parts of {name} are moved in the body, maybe")
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str())):
                as_dict = owner == name
            case ast.keyword(arg=None, value=ast.Name(id=owner)):
                as_dict = owner == name
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.Name(id=owner)):
                if owner == name:
                    return f"{name} = [part.to({device}) for part in {name}]"
                continue
            case _:
                continue
        if as_dict:
            return f"{name} = {_of_dict(name, device)}"
    return None


def _walk(body: Sequence[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in ast.walk(statement)]


def _moved_in(name: str, body: Sequence[ast.stmt], torch: TorchNames) -> bool:
    """Whether a name is moved somewhere in a body."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in torch.moves
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name
        for node in _walk(body)
    )


def _computed(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether a name is computed with as tensors are: handed to a function, and not shown or counted."""
    handed = False
    for node in _walk(body):
        if isinstance(node, ast.JoinedStr) and name in _names(node):
            return False
        if isinstance(node, ast.Call):
            direct = [a.id for a in node.args if isinstance(a, ast.Name)]
            if name in direct:
                if called(node) in _ASKING:
                    return False
                handed = handed or called(node) not in _KEEPING
    return handed


def _kept(suspect: Suspect, statement: ast.Expr) -> list[Change]:
    """``x.to(device)`` alone moves nothing: its result gets the name."""
    source, call = suspect.spot.source, statement.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    owner = call.func.value
    if not isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
        raise Refused("what is moved has no name")
    loop, name = ancestors(source, statement)[-2], text_of(source, owner)
    if isinstance(loop, _Loop) and name in _names(loop.target):
        later = [one for one in loop.body if one.lineno > statement.lineno]
        if not any(name in _names(one) for one in later):
            return _kept_in_dict(suspect, statement, loop)
    start = span(source, statement)[0]
    becomes = ast.Assign([owner], call)
    return [Change((Splice(start, start, f"{name} = "),), statement, (becomes,))]


def _kept_in_dict(
    suspect: Suspect, statement: ast.Expr, loop: ast.For | ast.AsyncFor
) -> list[Change]:
    """``for v in d.values(): v.to(device)`` loses all it moves; the dict gets it under its key."""
    source, looped = suspect.spot.source, loop.iter
    scope: ast.AST = next(iter(functions_around(source, statement)), source.tree)
    if (
        called(looped) != "values"
        or not isinstance(looped, ast.Call)
        or not isinstance(looped.func, ast.Attribute)
        or not isinstance(loop.target, ast.Name)
        or "key" in _names(scope)
    ):
        raise Refused("the loop's variable is not used after it is moved")
    held = text_of(source, looped.func.value)
    start = span(source, statement)[0]
    kept = ast.Assign([expression(f"{held}[key]")], statement.value)
    return [
        Change((Splice(start, start, f"{held}[key] = "),), statement, (kept,)),
        replaced(source, loop.target, f"key, {loop.target.id}"),
        with_method(source, looped, "items()"),
    ]


KINDS = {"move-input": move_input}
