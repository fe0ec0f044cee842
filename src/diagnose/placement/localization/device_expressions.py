"""Expressions for a device that are in scope at a place, and what one line corrects at the call of a
function: a device that it leaves out, what it makes, the layers that it adds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum, auto
from functools import lru_cache
from heapq import merge
from typing import NamedTuple

from diagnose.kinds import EventKind, Origin
from diagnose.placement.device_patterns import destinations, told_above
from diagnose.placement.devices import differ, is_gpu, is_host, written
from diagnose.placement.localization.availability import (
    has_device,
    has_placed,
    has_tensor,
    held_in,
    is_run_at_once,
    is_statement,
    key_of,
    runs_module,
    sites,
    statement_around,
    where_built,
)
from diagnose.placement.localization.question import Question, classes_of
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import Reason, born_at, device_argument, last_move
from diagnose.placement.semantics import (
    Function,
    argument,
    around,
    bindings,
    calls,
    calls_of,
    defaults,
    dotted,
    holds,
    nodes,
    parameters,
    position_of,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Around, Const, Frame, Object, Place, Value


class Kind(IntEnum):
    """How an expression tells a device; what comes first is preferred."""

    VARIABLE = auto()
    MODEL_FIELD = auto()
    ATTRIBUTE = auto()
    ATTRIBUTE_FIELD = auto()
    INPUT = auto()
    ACCELERATOR = auto()
    TENSOR = auto()
    ENCLOSING = auto()
    SELF = auto()
    MODULE = auto()
    KEPT_MODULE = auto()
    SETTING = auto()
    KEPT_SETTING = auto()


#: What tells the device that a program chose, though which that is may not be known.
_CHOSEN = frozenset(
    {Kind.VARIABLE, Kind.ATTRIBUTE, Kind.INPUT, Kind.ENCLOSING, Kind.SETTING, Kind.KEPT_SETTING}
)


class DeviceExpression(NamedTuple):
    """An expression for a device: how it tells that, the device where that is known, the variable that it
    begins with, and the value that is there, where that may move."""

    text: str
    kind: Kind
    device: Device | None = None
    name: str = ""
    value: Tensor | Module | None = None


def in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    """Expressions for a device that may stand at a place, best first. The program is not run any more."""
    told = set[str]()
    for one in device_expressions(frame, spot, wanted):
        if one.text not in told:
            told.add(one.text)
            yield one.text


def device_expressions(
    frame: Frame, spot: Spot, wanted: Device | None
) -> Iterator[DeviceExpression]:
    """Expressions for a device that are bound at a place, best first.

    Args:
        frame: the variables there.
        spot: the place.
        wanted: the device; None for whatever the program chose.
    """
    function = frame.function or ""
    own = _of_object(frame.this) if frame.function is not None else ()
    found = [iter(_of_frame(frame)), iter(own), _around(frame) if function else iter(())]
    if isinstance(frame.this, Module) and not function.endswith(".__init__"):
        text = "next(self.parameters()).device"
        found.append(iter([DeviceExpression(text, Kind.SELF, frame.this.where())]))
    for one in merge(*found, key=_kind):  # few of them are asked for
        if _denotes(one, wanted) and _is_there(one, frame, spot):
            yield one


def _kind(one: DeviceExpression) -> Kind:
    return one.kind


def _denotes(one: DeviceExpression, wanted: Device | None) -> bool:
    """Whether an expression is for a device, as far as that is known."""
    if one.kind == Kind.ACCELERATOR or (one.kind == Kind.ENCLOSING and one.device is None):
        return True
    apart = differ(one.device, wanted)
    return not apart if one.kind in _CHOSEN else apart is False


def _is_there(one: DeviceExpression, frame: Frame, spot: Spot) -> bool:
    """Whether its variable is bound, and where it is in the end, before a place."""
    if one.name and frame.lines.get(one.name, spot.line) >= spot.line:
        return False
    if one.value is not None and _moves_later(one.value, spot):
        return False
    return not isinstance(one.value, Tensor) or not begins_as_number(one.name, frame)


def _around(frame: Frame) -> Iterator[DeviceExpression]:
    """The devices that a function sees of what is around it, innermost first: not those of its class."""
    around = frame.around
    while isinstance(around, Around):
        names = {} if around.frame.is_class_body() else around.frame.names
        for name in (one for one in names if one.isidentifier() and one not in frame.names):
            outer = frame.around.get(name)
            if (there := _device(outer)) is not None:
                yield DeviceExpression(name, Kind.ENCLOSING, there)
            elif isinstance(outer, Object) and outer.kind == "accelerator":
                yield DeviceExpression(f"{name}.device", Kind.ENCLOSING)
        around = around.frame.around


# Kept for all findings of a program that has run: most are of the same few calls and objects.
@lru_cache(maxsize=16)
def _of_frame(frame: Frame) -> Sequence[DeviceExpression]:
    """What the variables of a call say about devices."""
    forward = (frame.function or "").rpartition(".")[2] == "forward"
    tensor = Kind.INPUT if forward else Kind.TENSOR
    found: list[DeviceExpression] = []
    for name, value in frame.names.items():
        if not name.isidentifier():
            continue
        if isinstance(value, Object) and value.kind == "accelerator":
            found.append(DeviceExpression(f"{name}.device", Kind.ACCELERATOR, None, name))
        if isinstance(value, Tensor) and value.device is not None and not is_host(value.device):
            found.append(DeviceExpression(f"{name}.device", tensor, value.device, name, value))
        kinds = (Kind.VARIABLE, Kind.MODEL_FIELD, Kind.MODULE, Kind.SETTING)
        found += _told(name, name, value, *kinds)
    return sorted(found, key=_kind)


@lru_cache(maxsize=16)
def _of_object(this: Value | None) -> Sequence[DeviceExpression]:
    """What the attributes of an object say about devices; of a module, what it remembers."""
    held = this.attributes if isinstance(this, Object) else {}
    held = this.plain if isinstance(this, Module) else held
    kinds = (Kind.ATTRIBUTE, Kind.ATTRIBUTE_FIELD, Kind.KEPT_MODULE, Kind.KEPT_SETTING)
    found = [
        one for name, value in held.items() for one in _told("", f"self.{name}", value, *kinds)
    ]
    known = (one for one in found if isinstance(this, Object) or one.kind < Kind.INPUT)
    return sorted(known, key=_kind)


def _told(
    name: str, said: str, value: Value, own: Kind, field: Kind, module: Kind, setting: Kind
) -> Iterator[DeviceExpression]:
    """What a value says about devices: itself, the fields that it remembers, its weights."""
    if (device := _device(value)) is not None:
        yield DeviceExpression(said, own, device, name)
    if said in ("self", "self.self"):
        return
    fields: dict[str, Value] = {}
    if isinstance(value, Module):
        yield DeviceExpression(
            f"next({said}.parameters()).device",
            module,
            value.where(),
            name,
            value if name else None,
        )
        fields = dict(value.plain)
    elif isinstance(value, Object) and value.made is not None:
        fields, field = {**value.made.members, **value.attributes}, setting
    for inner, one in fields.items():
        if (device := _device(one)) is not None:
            yield DeviceExpression(f"{said}.{inner}", field, device, name)


def begins_as_number(name: str, frame: Frame) -> bool:
    """Whether a variable or attribute is bound to a number first: tensors are added to it."""
    numbers = _numbers(frame.source.tree)
    if "." in name:
        return name in numbers
    return frame.lines.get(name) in numbers.get(name, ())


@lru_cache(maxsize=8)
def _numbers(tree: ast.Module) -> Mapping[str, frozenset[int]]:
    """What a file binds to a literal, each with the lines."""
    found: dict[str, set[int]] = {}
    for target, value, by in bindings(tree):
        if isinstance(value, ast.Constant) and isinstance(by, ast.Assign):
            found.setdefault(ast.unparse(target), set()).add(by.lineno)
    return {name: frozenset(lines) for name, lines in found.items()}


def _moves_later(value: Tensor | Module, spot: Spot) -> bool:
    """Whether a value was moved where it is below a place, and was elsewhere there."""
    move = last_move(value.steps)
    return move is not None and spot.is_above(move.spot) and born_at(value.steps) is not None


def of_other(other: Meets | None, found: Reason, meeting: Meeting) -> tuple[str, ...]:
    """The device of the variable that an operand meets, or is a part of, where that is bound before."""
    node = other.node if other is not None else None
    while isinstance(node, ast.Subscript):
        node = node.value
    if other is None or not isinstance(node, ast.Name) or found.frame is not meeting.frame:
        return ()
    value = other.value if node is other.node else found.frame.get(node.id)
    here = found.spot.line == meeting.spot.line
    bound = here or found.frame.lines.get(node.id, found.spot.line) < found.spot.line
    gone = other.tensor.device is not None and not is_gpu(other.tensor.device)
    return (f"{node.id}.device",) if isinstance(value, Tensor) and bound and not gone else ()


def _device(value: Value | None) -> Device | None:
    """The device that a variable holds, as a `torch.device` or as its name."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return written(value.value)
    return value.device if isinstance(value, Place) else None


def models_in(frame: Frame, model: Module) -> Iterator[str]:
    """The names that a call has for a model, or for what wraps it."""
    for name, value in held_in(frame).items():
        if isinstance(value, Module) and (value is model or value.whole() is model):
            yield name


def left_out(made: Step, frame: Frame | None) -> tuple[Spot, Frame] | None:
    """The call that leaves out the device for which a factory has a parameter; None where there is none."""
    said = device_argument(made.spot)
    if frame is None or frame.function != made.spot.function:
        return None
    spot = made.spot
    while isinstance(said, ast.Name) and frame.lines.get(said.id) == 0 and frame.call is not None:
        caller = frame.caller
        if caller is None or not isinstance(frame.call.node, ast.Call):
            return None
        spot, given, frame = frame.call, frame.given.get(said.id), caller
        if given is None:
            return spot, frame
        said = given
    return None


def is_forgotten_beside(made: Step) -> bool:
    """Whether a factory leaves out the device that another one of the same function, or of the other
    methods of its class, is given."""
    function = made.spot.enclosing
    owner = (made.spot.function or "").rpartition(".")[0]
    around = [*classes_of(made.spot.source.tree).get(owner, ()), *([function] if function else [])]
    return any(_makes_on_device(one) for one in around)


@lru_cache(maxsize=8)
def _makes_on_device(scope: ast.ClassDef | Function) -> bool:
    """Whether torch makes a tensor on a device that a variable holds."""
    torchs = (one for one in calls(scope) if ast.unparse(one.func).startswith("torch."))
    return any(not isinstance(argument(one, "device"), ast.Constant | None) for one in torchs)


def at_call(found: Reason, _: Question) -> Reason | None:
    """The reason at the only call of the function, or the class, whose parameter has a GPU as its default;
    None where the file has several, or where nothing above it tells another device."""
    source = found.spot.source
    for function in nodes(source.tree, ast.FunctionDef):
        pairs = defaults(function).items()
        parameter = next((name for name, default in pairs if default is found.spot.node), None)
        if parameter is None or found.cause != "hardcoded-device":
            continue
        position = position_of(source.tree, function, parameter)
        leaving = [
            one
            for one in calls_of(source.tree, function)
            if argument(one, parameter, position) is None and not _unpacks(one)
        ]
        if len(leaving) != 1:
            return None
        (call,) = leaving
        around = source.function_at(call.lineno)
        devices = tuple(told_above(around or source.tree, call.lineno))
        spot = Spot(source, call, around.name if around is not None else None)
        return found._replace(spot=spot, devices=devices) if devices else None
    return None


def _unpacks(call: ast.Call) -> bool:
    """Whether a call is given what another value holds, and so may tell any parameter."""
    named = any(one.arg is None for one in call.keywords)
    return named or any(isinstance(one, ast.Starred) for one in call.args)


def taken(found: Reason, asked: Question) -> Reason:
    """The reason at the parameter by which a function takes a module that it uses beside what it moves, if
    no device is known where that is built: in the outermost of such functions. ``beside`` is its statement
    that comes to the use."""
    stray, meeting = asked.stray, asked.meeting
    if found.cause != "module-not-moved" or not isinstance(stray.value, Module) or found.owner:
        return found
    if found.frame is not None and has_device(found.frame, found.spot):
        return found
    module = stray.value.whole()
    for spot, frame in sites(meeting.spot, meeting.frame):
        function = None if runs_module(frame) else spot.enclosing
        name = key_of(module, frame.names)
        if function is not None and name is not None and _is_told(frame, function, spot):
            taking = next((one for one in parameters(function) if one.arg == name), None)
            using = next((one for one in function.body if holds(one, spot.node)), None)
            if taking is not None and using is not None and name in frame.given:
                beside = spot._replace(node=using)
                found = Reason(found.cause, spot._replace(node=taking), frame, name, beside=beside)
    return found


def _is_told(frame: Frame, function: Function, spot: Spot) -> bool:
    """Whether a function is handed a device, or moves others to that of something it is handed."""
    if isinstance(frame.this, Module):
        return False
    given = {one.arg for one in parameters(function)}
    if any(isinstance(one, ast.Name) and one.id in given for one in destinations(function)):
        return has_device(frame, spot, moved=False)
    asked = {f"{one}.device" for one in given}
    return any(dotted(one) in asked for one in destinations(function))


def of_grown(asked: Question) -> Reason | None:
    """Where a library's method puts layers into a model that was moved before."""
    tensor, grown = asked.tensor, asked.first(EventKind.GROWN)
    if grown is None or tensor.maker != Origin.GROWN:
        return None
    names = tensor.frame.names if tensor.frame is not None else {}
    name = key_of(tensor.module, names) if tensor.module is not None else None
    move = last_move(tensor.module.steps) if tensor.module is not None else None
    spot = move.spot if move is not None else None
    return Reason("submodule-added-after-move", grown.spot, tensor.frame, move=spot, owner=name)


def told_by_a_call(found: Reason, _: Question) -> Reason:
    """The reason at the call of the function that its place is in, if only there a device is known.

    One line fixes it there: what the function makes is moved, or the model to which a method adds a layer.
    """
    spot, frame = found.spot, found.frame
    if found.cause == "created-without-device" and (whole := _returned_with_others(spot)):
        return found._replace(spot=whole)
    if frame is None or has_device(frame, spot):
        return found
    own = frame.this is not None and frame.caller is not None and frame.caller.this is frame.this
    if found.cause == "created-without-device" and not has_tensor(frame, spot) and not own:
        spot, frame = where_built(Step(EventKind.MADE, spot), frame, tensors=True)
        return found._replace(spot=spot, frame=frame)
    call, caller = frame.call, frame.caller
    if found.cause != "submodule-added-after-move" or call is None or caller is None:
        return found
    if is_run_at_once(spot):
        return found
    if (late := _moved_too_early(found)) is not None:
        return late
    # A method finds the device at its own object, whose other layers were moved.
    alone = frame.this is None or _is_told_to_grow(frame, call)
    if alone and has_device(caller, call) and not has_placed(frame, spot.line):
        model = frame.names.get(found.owner or "")
        owner = key_of(model, caller.names) if model is not None else found.owner
        return found._replace(spot=call, frame=caller, owner=owner)
    return found


def _returned_with_others(made: Spot) -> Spot | None:
    """What a function returns that it computes of two tensors which it makes on no device, where what makes
    the first need not take one: then all of it is moved at once."""
    called_as = ast.unparse(made.node.func) if isinstance(made.node, ast.Call) else ""
    if called_as.count(".") < 2:
        return None  # torch's own factories take one
    for function in nodes(made.source.tree, ast.FunctionDef):
        body = function.body
        own = {ast.unparse(s.targets[0]): s.value for s in body if isinstance(s, ast.Assign)}
        given = [one.value for one in body if isinstance(one, ast.Return)]
        if made.node not in own.values() or len(given) != 1:
            continue
        match given[0]:
            case ast.BinOp(left=ast.Name(id=left), right=ast.Name(id=right)) as whole:
                makes = [own[name] for name in (left, right) if name in own]
                if made.node in makes and len(makes) == 2 and all(map(_makes_on_host, makes)):
                    return made._replace(node=whole)
    return None


def _makes_on_host(value: ast.expr) -> bool:
    """Whether an expression calls torch, and names neither a device nor a tensor to be like."""
    text = ast.unparse(value)
    return text.startswith(("torch.", "nn.")) and not re.search(r"device|_like|\.to\(|cuda", text)


def _is_told_to_grow(frame: Frame, call: Spot) -> bool:
    """Whether a statement calls a model's method to add layers, in which no other layer tells a device."""
    if not isinstance(frame.this, Module) or not isinstance(statement_around(call), ast.Expr):
        return False
    if (frame.function or "").endswith(".__init__") or runs_module(frame) or frame.result:
        return False
    others = (value for value in frame.names.values() if value is not frame.this)
    return not any(isinstance(one, Module | Tensor) for one in others)


def _moved_too_early(found: Reason) -> Reason | None:
    """The statement that moves a model before another has a function add layers to it: it is to come
    after that."""
    frame, move = found.frame, found.move
    if move is None or not is_statement(move):
        return None
    while frame is not None and frame.call is not None and not runs_module(frame):
        call, frame = frame.call, frame.caller
        once = move.is_above(call) and not _is_repeated(call, move)
        if once and isinstance(statement_around(call), ast.Expr):
            return found._replace(spot=call, frame=frame, beside=move)
    return None


def _is_repeated(call: Spot, move: Spot) -> bool:
    """Whether a call stands in a loop that begins below a move, and that uses the moved model otherwise,
    too: it runs there between two calls."""
    func = move.node.func if isinstance(move.node, ast.Call) else None
    model = ast.dump(func.value) if isinstance(func, ast.Attribute) else ""
    own = statement_around(call) or call.node
    return any(
        ast.dump(used) == model and not holds(own, used)
        for loop in around(call.source.tree, call.node, ast.For, ast.While)
        if move.line < loop.lineno
        for used in nodes(loop, ast.Name, ast.Attribute)
    )
