"""What a module keeps unregistered is registered: tensors as buffers, layers in torch's containers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnose.fixes.codemods import distributions
from diagnose.fixes.codemods.containers import is_several, returned, wrapped
from diagnose.fixes.codemods.expressions import around, method_start, replaced, writable
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import (
    block_of,
    class_around,
    functions_around,
    line_end,
    span,
    statement_of,
    statements_around,
    text_of,
)
from diagnose.fixes.codemods.statements import indentation, statements
from diagnose.fixes.codemods.transfers import is_moved
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.localization.replicas import CAUSE, is_kept_once
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import bindings, called, calls, dotted, last_name, mentions, nodes
from diagnose.scene.calls import is_number


def buffer(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """``self.x = tensor`` becomes ``self.register_buffer("x", tensor)``, or a Parameter if trained."""
    source = suspect.spot.source
    if (named := _set_by_name(suspect)) is not None:
        _check_class(source, statement_of(source, suspect.spot.node))
        return [named]
    if (several := _set_together(suspect, torch)) is not None:
        return [several]
    statement, target, value = _assigned(suspect)
    _check_class(source, statement)
    if (drawn := distributions.kept(source, statement, target, value, torch)) is not None:
        return drawn
    if (empty := _empty(source, statement, target)) is not None and not is_several(value):
        saved = _saved(source, statement, ast.Constant(target.attr))
        code = f'self.register_buffer("{target.attr}", None{saved})'
        return [Change((Splice(*writable(source, empty), code),), empty, statements(code))]
    _check_registry(source, statement, target, torch, shared=suspect.cause == CAUSE)
    parameter = _unmoved_parameter(source, value, torch)
    if parameter is not None:
        return [parameter]
    if calls(value, "Parameter"):
        raise Refused("what is computed of a Parameter is none, and may be meant to be")
    if any(_trains(call) for call in calls(value)):
        name, needed = spelled(source, "torch.nn.Parameter", statement)
        return [around(source, value, f"{name}(", ")"), *needed]
    made = called(value)
    if made[:1].isupper() and not made.endswith("Tensor"):
        raise Refused(f"{made} makes no tensor")
    if is_several(value):
        raise Refused("several tensors are no buffer")
    start, end = writable(source, statement)
    begin, kept = _opening(source, value), _without_fixed_moves(value, torch)
    head = source.text[start:begin]
    call = f'{text_of(source, target.value)}.register_buffer("{target.attr}", '
    close = f"{_saved(source, statement, ast.Constant(target.attr))})"
    registers = statements(f"{call}_{close}")[0]
    assert isinstance(registers, ast.Expr) and isinstance(registers.value, ast.Call)
    registers.value.args[1] = kept
    becomes: tuple[ast.stmt, ...] = (registers,)
    if isinstance(statement, ast.AnnAssign):
        # The annotation stays: it tells type checkers what the buffer is.
        declared = source.text[start : span(source, statement.annotation)[1]]
        call = f"{declared}{line_end(source, start)}{indentation(source, statement)}{call}"
        declaration = ast.AnnAssign(target, statement.annotation, None, statement.simple)
        becomes = (declaration, registers)
    cuts = [] if kept is value else [_cut(source, kept, value)]
    if "#" in head:
        raise Refused("a comment stands in what is to change")
    return [
        Change((Splice(start, begin, call), *cuts, Splice(end, end, close)), statement, becomes)
    ]


def _set_by_name(suspect: Suspect) -> Change | None:
    """``setattr(self, name, tensor)`` becomes ``self.register_buffer(name, tensor)``; None for others."""
    source, node = suspect.spot.source, suspect.spot.node
    call = node.value if isinstance(node, ast.Expr) else node
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name() as owner, name, value]):
            if call.keywords:
                return None
            given = f"{text_of(source, name)}, {text_of(source, value)}{_saved(source, call, name)}"
            return replaced(source, call, f"{text_of(source, owner)}.register_buffer({given})")
    return None


def _set_together(suspect: Suspect, torch: TorchNames) -> Change | None:
    """``self.a, self.b = first, second`` registers one after the other; None for other statements, and
    where one of the values is made of another attribute."""
    source, node = suspect.spot.source, suspect.spot.node
    statement = node if isinstance(node, ast.stmt) else statement_of(source, node)
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pass
        case _:
            return None
    names = [one for one in targets if isinstance(one, ast.Attribute)]
    if not len(values) == len(targets) == len(names) or any(map(is_several, values)):
        raise Refused("it is not the assignment of attributes alone")
    if any(_is_number(value, torch) for value in values):
        raise Refused("it is not known which of several values are tensors")
    _check_class(source, statement)
    for target in names:
        _check_registry(source, statement, target, torch)
        made_of_it = any(mentions(value, dotted(target) or "") for value in values)
        if made_of_it or not isinstance(target.value, ast.Name):
            raise Refused("an attribute is made of what it was")
    rows = [
        f'{ast.unparse(one.value)}.register_buffer("{one.attr}", {text_of(source, value)}'
        f"{_saved(source, statement, ast.Constant(one.attr))})"
        for one, value in zip(names, values, strict=True)
    ]
    start, end = writable(source, statement)
    between = f"{line_end(source, start)}{indentation(source, statement)}"
    if "#" in source.text[start:end]:
        raise Refused("a comment stands in what is to change")
    return Change((Splice(start, end, between.join(rows)),), statement, statements("\n".join(rows)))


def _saved(source: Source, node: ast.AST, name: ast.expr) -> str:
    """The argument that keeps a buffer out of the state_dict, which did not have it: checkpoints of before
    load as they did. Empty where the class registers that buffer elsewhere, and saves it."""
    owner = class_around(source, node)
    known = calls(owner, "register_buffer") if owner is not None else []
    is_saved = any(
        one.args
        and ast.dump(one.args[0]) == ast.dump(name)
        and "persistent" not in {given.arg for given in one.keywords}
        for one in known
    )
    return "" if is_saved else ", persistent=False"


def _is_number(value: ast.expr, torch: TorchNames) -> bool:
    """Whether a value is surely no tensor, and so no buffer: ``x.size(0)`` is none, ``x.float()`` one."""
    is_method = isinstance(getattr(value, "func", None), ast.Attribute)
    return called(value) in torch.tensor_numbers if is_method else is_number(value, torch)


_NO_MODULE = re.compile(r"(Trainer|Callback|Dataset|DataModule|Tokenizer|Scheduler|Processor)\b")


def _check_class(source: Source, statement: ast.stmt) -> None:
    """Raises `Refused` where the class around a statement has no buffers."""
    owner = class_around(source, statement)
    bases = [ast.unparse(base) for base in owner.bases] if owner is not None else []
    if any(_NO_MODULE.search(base) for base in bases) or (owner is not None and not bases):
        raise Refused("the class is no module")


def layers(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """``self.layers = [...]`` becomes ``self.layers = nn.ModuleList([...])``, a dict a ModuleDict."""
    source, node = suspect.spot.source, suspect.spot.node
    match node.value if isinstance(node, ast.Expr) else node:
        case ast.Call(
            func=ast.Name(id="setattr"), args=[_, _, ast.Dict(keys=[]) | ast.List(elts=[]) as empty]
        ):
            kind = "ModuleDict" if isinstance(empty, ast.Dict) else "ModuleList"
            name, needed = spelled(source, f"torch.nn.{kind}", empty)
            return [replaced(source, empty, f"{name}()"), *needed]
    statement, target, value = _assigned(suspect)
    _check_registry(source, statement, target, torch, again=True)
    return wrapped(source, returned(source, value) or value, target, torch)


def _assigned(suspect: Suspect) -> tuple[ast.stmt, ast.Attribute, ast.expr]:
    """The assignment of an attribute that a suspect's spot is, its target and its value."""
    source, node = suspect.spot.source, suspect.spot.node
    statement = node if isinstance(node, ast.stmt) else statement_of(source, node)
    targets: Sequence[ast.expr] = ()
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Attribute):
        raise Refused("it is not the assignment of one attribute")
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.expr):
        raise Refused("the attribute is declared without a value")
    return statement, targets[0], value


def _check_registry(
    source: Source,
    statement: ast.stmt,
    target: ast.Attribute,
    torch: TorchNames,
    *,
    again: bool = False,
    shared: bool = False,
) -> None:
    """Raises `Refused` where the module could not register the attribute at the statement: its own
    ``__init__`` has not run, or (unless ``again``) a plain attribute has that name already. What replicas
    would share (``shared``) may be registered by a method that no other calls."""
    around_it = functions_around(source, statement)
    if not around_it or not isinstance(target.value, ast.Name):
        return
    function = around_it[0]
    starts = (one for one in calls(function, "__init__") if isinstance(one.func, ast.Attribute))
    if any(one.lineno > statement.lineno for one in starts):
        raise Refused("the module's own __init__ runs after the statement")
    if again:
        return
    owner = class_around(source, statement)
    sets_up = function.name in torch.setup_methods
    sets_up |= shared and is_kept_once(owner, function.name, target.attr)
    if owner is not None and target.value.id == "self" and not sets_up:
        raise Refused(f"it is set in {function.name}, maybe at every call, and not in __init__")
    blocks = [id(block_of(source, outer)) for outer in statements_around(source, statement)]
    if _is_set_by_a_base(owner, source, target):
        raise Refused("a base of its class sets a plain attribute of that name")
    for other in _assignments(owner or function, target):
        if other is statement or other.lineno > statement.lineno:
            continue
        if other in getattr(owner, "body", ()) or id(block_of(source, other)) in blocks:
            raise Refused("a plain attribute of that name is set before")


def _empty(source: Source, statement: ast.stmt, target: ast.Attribute) -> ast.stmt | None:
    """``self.x = None`` in ``__init__``, where a tensor is assigned elsewhere: a buffer without a value, to
    which torch gives what is assigned to it. None where there is no such statement."""
    owner = class_around(source, statement)
    members = owner.body if owner is not None else []
    start = next((one for one in members if getattr(one, "name", "") == "__init__"), None)
    if not isinstance(start, ast.FunctionDef):
        return None
    first = next((one for one in _assignments(start, target) if one in start.body), None)
    match first:
        case ast.Assign(targets=[ast.Attribute()], value=ast.Constant(value=None)):
            begun = any(one.lineno > first.lineno for one in calls(start, "__init__"))
            return None if begun or first is statement else first
    return None


def _is_set_by_a_base(owner: ast.ClassDef | None, source: Source, target: ast.Attribute) -> bool:
    """Whether a class of the file that a class derives from sets an attribute."""
    named = {last_name(base) for base in owner.bases} if owner is not None else set[str]()
    bases = (one for one in nodes(source.tree, ast.ClassDef) if one.name in named)
    return any(True for base in bases for _ in _assignments(base, target))


def _assignments(scope: ast.AST, target: ast.Attribute) -> Iterator[ast.stmt]:
    """The statements of a scope that set an attribute, or a name of the class that it would hide."""
    for one in bindings(scope):
        in_class = isinstance(scope, ast.ClassDef) and one.by in scope.body
        wanted = target.attr if in_class else dotted(target)
        if isinstance(one.by, ast.Assign | ast.AnnAssign) and dotted(one.target) == wanted:
            yield one.by


def _trains(call: ast.Call) -> bool:
    """Whether a call makes or marks a tensor that gradients are kept of."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        return all(isinstance(a, ast.Constant) and a.value is True for a in call.args)
    return any(
        k.arg == "requires_grad" and isinstance(k.value, ast.Constant) and k.value.value is True
        for k in call.keywords
    )


def _unmoved_parameter(source: Source, value: ast.expr, torch: TorchNames) -> Change | None:
    """``nn.Parameter(x).cuda()`` is a Parameter no more: the move goes."""
    inner = value
    while is_moved(inner, torch):
        assert isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute)
        inner = inner.func.value
    name = dotted(inner.func) if isinstance(inner, ast.Call) else None
    if (name or "").rpartition(".")[2] != "Parameter":
        return None
    if inner is value:
        raise Refused("it is a Parameter already")
    return Change((_cut(source, inner, value),), value, (inner,))


def _without_fixed_moves(value: ast.expr, torch: TorchNames) -> ast.expr:
    """A value without a move to a device that is written down: a buffer goes where its module goes."""
    while is_moved(value, torch) and _is_fixed(value):
        assert isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
        value = value.func.value
    return value


def _cut(source: Source, kept: ast.expr, value: ast.expr) -> Splice:
    """The splice that takes the methods away that are called on ``kept`` within a value."""
    end = writable(source, value)[1]
    method = value
    while isinstance(method, ast.Call) and isinstance(method.func, ast.Attribute):
        start = method_start(source, method)
        if method.func.value is kept:
            break
        method = method.func.value
    if "#" in source.text[start:end]:
        raise Refused("a comment stands in what is to change")
    return Splice(start, end, "")


def _is_fixed(move: ast.expr) -> bool:
    """Whether a move names its device by number or kind."""
    assert isinstance(move, ast.Call)
    given = [*move.args, *(keyword.value for keyword in move.keywords)]
    cuda = isinstance(move.func, ast.Attribute) and move.func.attr == "cuda"
    return all(isinstance(a, ast.Constant) for a in given) and (cuda or len(given) == 1)


def _opening(source: Source, value: ast.expr) -> int:
    """Where a value begins, the parentheses that group it included."""
    start = span(source, value)[0]
    text = source.text[:start].rstrip()
    while text.endswith("("):
        start, text = len(text) - 1, text[:-1].rstrip()
    return start


KINDS = {"register-buffer": buffer, "register-module": layers}
