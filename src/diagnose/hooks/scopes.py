"""The variables that hold devices around a line of a program: live ones where the function still runs,
else those that its text, and that of the call that runs it, shows.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from diagnose.hooks.introspection import class_name, fields, is_a
from diagnose.hooks.modules import is_replica, located
from diagnose.hooks.positions import Texts, is_base_init
from diagnose.kinds import DeviceType
from diagnose.placement import Device, Spot, semantics
from diagnose.placement.devices import named_so, written
from diagnose.placement.semantics import Function, nodes, scope_of
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Const, Frame, Object, Place, Unknown, Value
from diagnose.tracing.stacks import Line

if TYPE_CHECKING:
    from diagnose.tracing.recorder import Recorder

_HOME = Device(DeviceType.CUDA, None, home=True)


class Scopes:
    """The scopes of a failing program.

    Args:
        recorder: knows the live modules.
        texts: the program's files.
        alive: the user's frames of the traceback, which still hold their variables.
        module: gives a live module as a value of placement analysis.
    """

    def __init__(
        self,
        recorder: Recorder,
        texts: Texts,
        alive: Sequence[tuple[FrameType, Line]],
        module: Callable[[Any], Module | None],
    ) -> None:
        self._torch: Any = sys.modules["torch"]
        self._recorder = recorder
        self._texts = texts
        self._alive = alive
        self._module = module

    def frame(self, stack: Sequence[Line]) -> Frame | None:
        """The variables around the first line of a stack; the callers' hang on it."""
        if not stack:
            return None
        line, above = stack[0], stack[1:]
        spot = self._texts.spot(line)
        if spot is None:
            return None
        if is_base_init(spot.node) and above:
            return self.frame(above)
        found = self.around(spot)
        running = next((f for f, one in self._alive if one.code is line.code), None)
        if running is not None:
            for name, value in list(running.f_locals.items()):
                if (known := self._value(value)) is not None:
                    found.names[name] = known
            found.this = self._this(running.f_locals.get("self"))
        elif spot.function is not None:
            kind = spot.function.rpartition(".")[0].rpartition(".")[2]
            found.this = self._this(self._objects.get(kind))
        if above:
            found.caller = self.frame(above)
            found.call = self._texts.spot(above[0])
            function = scope_of(spot.source.tree, spot.node)
            if found.call is not None and isinstance(function, Function):
                found.given = given_to(function, found.call.node)
        return found

    def around(self, spot: Spot) -> Frame:
        """What the text around a node tells of devices."""
        scope = scope_of(spot.source.tree, spot.node)
        found = Frame(spot.source, function=spot.function)
        found.bound = bound_before(scope, spot.line)
        for name, line, device in _bound(scope):
            found.lines.setdefault(name, line)
            if device is not None:
                found.names.setdefault(name, Place(device))
        if not isinstance(scope, Function):
            return found
        for name in parameters(scope):
            found.lines[name] = 0
            found.names.setdefault(name, Unknown(name))
        found.yields = any(nodes(scope, ast.Yield, ast.YieldFrom))
        if any(one.value is not None for one in nodes(scope, ast.Return)):
            found.result = [Module("?", None)]  # it may give what it builds
        found.around = {
            name: Place(device)
            for name, _, device in _bound(spot.source.tree, top=True)
            if device is not None
        }
        return found

    def _this(self, owner: Any) -> Module | Object | None:
        """The object that a method is of, with the devices that it knows."""
        if owner is None:
            return None
        if is_a(owner, self._torch.nn.Module):
            module = self._module(owner)
            if module is not None:
                module.plain = dict(self._devices_of(owner))
            return module
        held = Object(class_name(owner))
        held.attributes = dict(self._devices_of(owner))
        return held

    @cached_property
    def _objects(self) -> dict[str, Any]:
        """An object of each class, a module or what the running functions have at hand: methods that have
        ended were likely its own."""
        found: dict[str, Any] = {}
        for module in self._recorder.modules.things():
            if not is_replica(module):
                found.setdefault(class_name(module), module)
        for frame, _ in reversed(self._alive):
            for value in list(frame.f_locals.values()):
                for one in (value, *(held for _, held in fields(value))):
                    if not is_a(one, type):
                        found.setdefault(class_name(one), one)
        return found

    def _devices_of(self, owner: Any) -> Iterator[tuple[str, Value]]:
        for name, value in fields(owner):
            if isinstance(known := self._value(value), Place | Const):
                yield name, known

    def _value(self, value: Any) -> Value | None:
        """A variable's value, where it tells of a device."""
        if (said := self._said(value)) is not None or type(value) is str:
            return said
        if is_a(value, self._torch.Tensor):
            return Tensor(located(value))
        if is_a(value, self._torch.nn.Module):
            return self._module(value)
        if class_name(value) == "Accelerator":
            return Object("accelerator")
        return self._settings(value)

    def _settings(self, value: Any) -> Object | None:
        """An object that says a device among its attributes, as parsed arguments and settings do."""
        told = {name: said for name, one in fields(value) if (said := self._said(one)) is not None}
        if not told or is_a(value, ModuleType):
            return None
        found = Object("namespace")
        found.attributes.update(told)
        return found

    def _said(self, value: Any) -> Place | Const | None:
        """A device, or a text that names one; one that placement analysis has no word for is the cpu."""
        if is_a(value, self._torch._C.device):
            return Place(written(str(value)) or Device(DeviceType.CPU))
        return Const(value) if type(value) is str and written(value) is not None else None


def _bound(scope: ast.AST, *, top: bool = False) -> Iterator[tuple[str, int, Device | None]]:
    """The variables of a function, or of the ``top`` of a file, each with a line that binds it, and the
    device where it holds one: ``torch.device(...)``, a text that names one, an argument called so."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        chosen = set(_else_chosen(scope))
        for arg in semantics.parameters(scope):
            known = named_so(arg.arg) and arg.arg not in chosen
            yield arg.arg, scope.lineno, _HOME if known else None
    for part in semantics.top(scope) if top and isinstance(scope, ast.Module) else [scope]:
        for node in nodes(part, ast.Assign, ast.Name):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    yield name, node.lineno, _device_said(value)
                case ast.Name(id=name, ctx=ast.Store()):
                    yield name, node.lineno, None


def _else_chosen(scope: ast.AST) -> Iterator[str]:
    """The names for which an object keeps something else where they are not given: ``self.device = device
    or "cuda"``, ``... if device is None else device``."""
    for node in nodes(scope, ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Attribute()],
                value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), *_])
                | ast.IfExp(
                    test=ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(None)])
                ),
            ):
                yield name


def _device_said(value: ast.expr) -> Device | None:
    """The device that an expression names, the accelerator where that depends."""
    match value:
        case ast.Constant(value=str(text)):
            return written(text)
        case ast.Call(func=ast.Attribute(attr="device"), args=[inner, *_]):
            return _device_said(inner) or _HOME
        case ast.IfExp(body=body):
            return _device_said(body)
    return None


#: Methods that run when a module or an object itself is called, or a class.
_CALLED = frozenset({"forward", "__init__", "__call__"})
_OWNERS = frozenset({"self", "cls"})
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def parameters(function: Function) -> list[str]:
    """The names of all parameters, without the object that a method is of."""
    names = [one.arg for one in semantics.parameters(function)]
    return names[names[:1] != [] and names[0] in _OWNERS :]


def given_to(function: Function, call: ast.AST) -> dict[str, ast.expr]:
    """The expressions that a call gives the parameters of the function that it runs.

    Args:
        function: the function that runs.
        call: the caller's expression; one that is no call of that function gives nothing.
    """
    runs = semantics.called(call) == function.name or function.name in _CALLED
    return semantics.bound_arguments(function, call) if runs else {}


def bound_before(scope: ast.AST, line: int) -> dict[str, ast.AST]:
    """The statement of a function, or of a file, that bound each variable last above a line."""
    found: dict[str, ast.AST] = {}
    for statement in _statements(scope):
        if statement.lineno <= line:
            for one in semantics.bindings_by(statement):
                if isinstance(one.target, ast.Name):
                    found[one.target.id] = statement
    return found


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope in their order, without those of functions and classes within it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, _NESTED):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)
