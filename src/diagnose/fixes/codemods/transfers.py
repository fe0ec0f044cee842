"""What is built on the wrong device is moved where it is built: ``Net()`` becomes ``Net().to(device)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.codemods.expressions import (
    expression,
    moved,
    replaced,
    with_argument,
    with_method,
)
from diagnose.fixes.codemods.imports import is_imported, spelled, with_import
from diagnose.fixes.codemods.parts import part_of
from diagnose.fixes.codemods.positions import block_of, span, statement_of, text_of
from diagnose.fixes.codemods.prepare_calls import prepared
from diagnose.fixes.codemods.primary_device import (
    chosen_home,
    first_device,
    moved_home,
    saved_from_host,
    wrapped_by,
)
from diagnose.fixes.codemods.settings import is_setting
from diagnose.fixes.codemods.statements import (
    after_statement,
    before_statement,
    beside_statement,
    moved_statement,
)
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import DeviceType
from diagnose.model import TorchNames
from diagnose.placement.devices import HOME
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import argument, assigned, called, calls, dotted

_NO_VALUES = (
    *(ast.Constant, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.Starred, ast.Lambda),
    *(ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.JoinedStr),
)
#: What moves a program that was exported.
_PASS = "torch.export.passes.move_to_device_pass"


def module(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A module is moved where it is built; one of several results of a call in a statement of its own."""
    source = suspect.spot.source
    if isinstance(suspect.spot.node, ast.arg):
        return [_taken(suspect, suspect.spot.node)]
    node = value_of(suspect)
    if called(node) == "DataParallel":
        return home(suspect, torch)
    if (saved := saved_from_host(source, node)) is not None:
        return [saved]
    if suspect.cause == "dataparallel-home-device" and isinstance(node, ast.Constant):
        return [chosen_home(source, node)]
    if is_setting(node):
        raise Refused("a setting of the program is no module")
    if suspect.cause == "dataparallel-home-device" and is_moved(node, torch):
        assert isinstance(node, ast.Call)
        return [moved_home(source, node, receiver(node))]
    statement = statement_of(source, node)
    if suspect.cause == "kernel-needs-gpu" and suspect.move is not None:
        return _moved_earlier(suspect, statement)
    if suspect.owner is not None and isinstance(node, ast.Tuple | ast.List) and node.elts:
        return [_listed(source, node, suspect.owner)]
    if suspect.owner is not None and isinstance(node, ast.Call):
        # Another module is moved there, and the owner was forgotten.
        if called(node) == "prepare" and isinstance(node.func, ast.Attribute):
            if not _moves_in_place(source, suspect.owner, torch):
                return [prepared(source, node, suspect.owner)]
            code = f"{suspect.owner}.to({text_of(source, node.func.value)}.device)"
            return [beside_statement(source, statement, suspect.owner, code)]
        if is_moved(node, torch) and (isinstance(statement, ast.Expr) or _rebinds(statement, node)):
            code = f"{suspect.owner}{same_move(source, node)}"
            if isinstance(statement, ast.Assign):
                code = f"{suspect.owner} = {code}"
            return [beside_statement(source, statement, suspect.owner, code)]
    if _keeps(statement, node, suspect.owner):
        code = f"{suspect.owner}.to({target_device(suspect)})"
        return [after_statement(source, statement, code)]
    if is_exported(node):
        return _program(suspect, node)
    if suspect.cause == "checkpoint-location" and called(node) == "load":
        raise Refused("what is loaded is a dict of tensors, most often")
    device = target_device(suspect, '"cuda"' if suspect.cause == "kernel-needs-gpu" else None)
    if isinstance(statement, ast.Expr) and statement.value is node:
        if (owner := suspect.owner or receiver(node)) is None:
            raise Refused("what the call returns is not kept")
        return [after_statement(source, statement, f"{owner}.to({device})")]
    if called(node) in torch.moving_in_place:
        if not isinstance(statement, ast.Assign) or statement.value is not node:
            raise Refused(f"{called(node)}.to returns nothing")
        name = text_of(source, statement.targets[0])
        return [after_statement(source, statement, f"{name}.to({device})")]
    if unpacked(statement, node):
        return [after_statement(source, statement, f"{named(statement, suspect)}.to({device})")]
    return [_moved(source, part_of(source, node, torch), device, torch)]


def _rebinds(statement: ast.stmt, move: ast.Call) -> bool:
    """Whether a statement gives what it moves its own name again."""
    match statement:
        case ast.Assign(targets=[target], value=value) if value is move:
            return dotted(target) == receiver(move) is not None
    return False


def _moved_earlier(suspect: Suspect, run: ast.stmt) -> Sequence[Change]:
    """A model is moved above the statement that runs it, and not below."""
    source, move = suspect.spot.source, suspect.move
    assert move is not None
    if not isinstance(move.node, ast.Call) or suspect.owner is None:
        raise Refused("no call moves it")
    later = statement_of(source, move.node)
    alone = isinstance(later, ast.Expr) and later.value is move.node
    if alone and block_of(source, later) is block_of(source, run):
        return moved_statement(source, later, run, after=False)
    return [before_statement(source, run, f"{suspect.owner}{same_move(source, move.node)}")]


def _taken(suspect: Suspect, node: ast.arg) -> Change:
    """A module that a function takes is moved before the statement of its body that comes to use it."""
    using = suspect.beside.node if suspect.beside is not None else None
    if not isinstance(using, ast.stmt):
        raise Refused("it is not known where the parameter is used")
    code = f"{node.arg} = {node.arg}.to({target_device(suspect)})"
    return before_statement(suspect.spot.source, using, code)


def _listed(source: Source, node: ast.Tuple | ast.List, owner: str) -> Change:
    """What a loop moves one by one, and one more."""
    end = span(source, node.elts[-1])[1]
    becomes = type(node)([*node.elts, expression(owner)], node.ctx)
    return Change((Splice(end, end, f", {owner}"),), node, (becomes,))


def is_exported(node: ast.expr) -> bool:
    """Whether a program that torch.export saved is loaded."""
    name = dotted(node.func) if isinstance(node, ast.Call) else None
    return name is not None and name.endswith("export.load")


def _program(suspect: Suspect, node: ast.expr) -> Sequence[Change]:
    """An exported program is moved by a pass: what it makes by itself stays behind its weights."""
    source, wanted = suspect.spot.source, suspect.wanted
    if (
        wanted is None or wanted.type == DeviceType.CPU
    ):  # what it made on the cpu is what has to move
        suspect = suspect._replace(wanted=HOME)
    device = target_device(suspect)
    name, needed = spelled(source, _PASS, statement_of(source, node))
    if name == _PASS:
        needed = (with_import(source, _PASS.rpartition(".")[0]),)
    return [replaced(source, node, f"{name}({text_of(source, node)}, {device})"), *needed]


def _keeps(statement: ast.stmt, value: ast.expr, owner: str | None) -> bool:
    """Whether what a statement builds and names keeps the module that is to be moved."""
    if owner is None or not isinstance(statement, ast.Assign) or statement.value is not value:
        return False
    return owner.startswith(f"{ast.unparse(statement.targets[0])}.")


def _moves_in_place(source: Source, owner: str, torch: TorchNames) -> bool:
    """Whether a name holds what is no module, and moved without being prepared."""
    made = assigned(source.tree, owner)
    return any(called(one) in torch.moving_in_place for each in made for one in calls(each.value))


def same_move(source: Source, call: ast.Call) -> str:
    """The move of a call without what else it changes: ``.to(device)`` of ``x.to(device, torch.half)``."""
    assert isinstance(call.func, ast.Attribute)
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "device")]
    if call.func.attr == "to" and not given:
        raise Refused("the move beside names no device")
    return f".{call.func.attr}({text_of(source, given[0]) if given else ''})"


def home(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """What nn.DataParallel wraps is moved to the first of its devices: a later move to another one goes
    there, else the wrapped model does."""
    source, call = suspect.spot.source, value_of(suspect)
    assert isinstance(call, ast.Call)
    move = suspect.move
    value = _value(move.node) if move is not None and move.file == source.path else None
    if value is not None and is_moved(value, torch):
        assert isinstance(value, ast.Call)
        return [with_method(source, value, f"to({first_device(source, call)})")]
    device = first_device(source, call)
    wrapped = wrapped_by(call)
    if wrapped is None:
        raise Refused("the call does not show what is wrapped")
    if is_moved(wrapped, torch):
        assert isinstance(wrapped, ast.Call)
        return [with_method(source, wrapped, f"to({device})")]
    return [_moved(source, wrapped, device, torch)]


def receiver(call: ast.expr) -> str | None:
    """The name that a method is called on."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return dotted(call.func.value)
    return None


def tensor(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A tensor is moved where it is made, or made there."""
    source, node = suspect.spot.source, value_of(suspect)
    device = target_device(suspect)
    if isinstance(node, ast.Call) and argument(node, "device") is not None:
        return [with_argument(source, node, "device", device)]
    return [_moved(source, node, device, torch)]


def _moved(source: Source, node: ast.expr, device: str, torch: TorchNames) -> Change:
    if is_moved(node, torch):
        raise Refused("it is moved already")
    if called(node) in torch.moving_in_place:
        raise Refused(f"{called(node)}.to returns nothing")
    match node:
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(op=ast.BitOr(), left=one, right=other):
            either = (one, other)
        case _:
            either = (node, node)
    if any(isinstance(one, _NO_VALUES) for one in either):
        raise Refused("what is to be moved is no tensor or module by its form")
    match node:  # a dict, but for a function of a package, such as clip's
        case ast.Call(func=ast.Attribute(value=owner)) if called(node) in torch.dict_methods:
            if not (isinstance(owner, ast.Name) and is_imported(source, owner.id, node)):
                raise Refused(f"what {called(node)} gives has no .to")
    made = next((name for one in _chain(node) if (name := called(one)) in torch.without_to), None)
    if made is not None:
        raise Refused(f"what {made} gives has no .to")
    return moved(source, node, device)


def _chain(node: ast.expr) -> Iterator[ast.Call]:
    """The calls of methods on one another, such as those of ``make().eval().half()``, last first."""
    while isinstance(node, ast.Call):
        yield node
        if not isinstance(node.func, ast.Attribute):
            return
        node = node.func.value


def value_of(suspect: Suspect) -> ast.expr:
    """The expression of a suspect's spot: that of an assignment or return, or the node itself."""
    node = _value(suspect.spot.node)
    if not isinstance(node, ast.expr):
        raise Refused("what is to be moved is no expression")
    return node


def _value(node: ast.AST) -> ast.AST:
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.NamedExpr)):
        return node.value or node
    return node


def is_moved(node: ast.AST, torch: TorchNames) -> bool:
    """Whether an expression ends with a move, such as ``.to(device)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in torch.moves
    )


def unpacked(statement: ast.stmt, value: ast.expr) -> bool:
    """Whether a statement gives the parts of a value to several names."""
    return (
        isinstance(statement, ast.Assign)
        and statement.value is value
        and any(isinstance(target, (ast.Tuple, ast.List)) for target in statement.targets)
    )


def named(statement: ast.stmt, suspect: Suspect) -> str:
    """A suspect's name, if the statement binds it. Raises `Refused` where it does not."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    bound = {ast.unparse(one) for target in targets for one in getattr(target, "elts", [target])}
    if suspect.name not in bound:
        raise Refused("the statement has several results, and it is not known which one is meant")
    return suspect.name


KINDS = {"move-module": module}
