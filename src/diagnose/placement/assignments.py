"""What an assignment binds; what a loop takes out of a value."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.model import TorchNames
from diagnose.placement import modules
from diagnose.placement.lattice import any_of, joined, of_any_key
from diagnose.placement.machine import Arguments, Given, Machine, Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.modules import layer_of
from diagnose.placement.python_types import row
from diagnose.placement.semantics import called
from diagnose.placement.tensors import Batch, Module, State, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Function,
    Loader,
    Number,
    Object,
    Unknown,
    Value,
    noted,
)


def loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that reads it; the node stays where it is in the file."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=name):
            return ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
        case ast.Subscript(value=value, slice=inside):
            return ast.copy_location(ast.Subscript(value, inside, ast.Load()), target)
    return target


def store(
    machine: Machine, target: ast.expr, value: Value, frame: Frame, statement: ast.stmt
) -> None:
    """Assigns a value to a target."""
    match target:
        case ast.Name(id=name):
            if (
                isinstance(value, Tensor)
                and value.maker == Origin.BATCH
                and isinstance(statement, ast.Assign | ast.For)
            ):
                bound = statement.value if isinstance(statement, ast.Assign) else statement
                spot = machine.spot(bound, frame)
                value.steps = (*value.steps[-12:], Step(EventKind.BOUND, spot, value.device))
            bind(frame, name, value, statement)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for position, each in enumerate(targets):
                after = len(targets) - position - 1
                if isinstance(each, ast.Starred):
                    store(machine, each.value, _rest(value, position, after), frame, statement)
                else:
                    starred = any(isinstance(one, ast.Starred) for one in targets[:position])
                    at = -after - 1 if starred else position
                    store(machine, each, part(value, at), frame, statement)
        case ast.Attribute():
            _set(machine, target, value, frame, statement)
        case ast.Subscript():
            _put(machine, target, value, frame, statement)


def _set(
    machine: Machine, target: ast.Attribute, value: Value, frame: Frame, statement: ast.stmt
) -> None:
    """``owner.name = value``."""
    owner, name = machine.evaluate(machine, target.value, frame), target.attr
    if isinstance(value, Module | Number | Unknown) and not value.word:
        value.word = ast.unparse(target)
    if isinstance(owner, Module):
        modules.put(machine, owner, name, value, statement, frame)
    elif isinstance(owner, External):
        machine.replaced[f"{owner.dotted}.{name}"] = value
    elif isinstance(owner, Object):
        if _counts(owner.attributes.get(name), value):
            value = Number(name)
        if isinstance(value, Tensor):
            step = Step(EventKind.STORED, machine.spot(statement, frame), value.device)
            value = value.like(value.device, step)
        elif isinstance(value, Module) and isinstance(statement, ast.Assign):
            value.kept = machine.spot(statement.value, frame), frame
        owner.attributes[name] = value
    elif isinstance(owner, Tensor) and name == "data" and isinstance(value, Tensor):
        _filled(machine, owner, value, statement, frame)
    elif isinstance(owner, Batch) and isinstance(value, Tensor):
        _put_in(owner, value, machine.spot(statement, frame), whole=False)


def _put(
    machine: Machine, target: ast.Subscript, value: Value, frame: Frame, statement: ast.stmt
) -> None:
    """``owner[key] = value``."""
    owner = machine.evaluate(machine, target.value, frame)
    key = machine.evaluate(machine, target.slice, frame)
    known = key.value if isinstance(key, Const) else None
    if isinstance(owner, Table | Items):
        modules.hold(owner, value)
    if isinstance(owner, State):
        value = _remembered(value, machine.spot(statement, frame))
    match owner, value:
        case Table(), _:
            put_at(owner, key, value, target.slice)
        case Items(), _:
            if isinstance(known, int) and -len(owner.items) <= known < len(owner.items):
                owner.items[known] = value
            else:
                owner.more = value
        case Batch(), Tensor():
            whole = not isinstance(key, Const)
            _put_in(owner, value, machine.spot(statement, frame), whole=whole)
        case Module(), Module():
            name = str(known) if isinstance(key, Const) else "?"
            modules.put(machine, owner, name, value, statement, frame)
        case Tensor(), _:
            _picked(machine, target, (owner, key, value), frame, statement)


def _picked(
    machine: Machine,
    target: ast.Subscript,
    values: tuple[Tensor, Value, Value],
    frame: Frame,
    statement: ast.stmt,
) -> None:
    """What is put where an index tensor picks is on the tensor's device; a slice copies from anywhere."""
    owner, key, value = values
    if machine.trace.lines:  # older versions of torch refuse an index of another device here, too
        machine.evaluate(machine, loaded(target), frame)
    keys = key.every() if isinstance(key, Items) else [key]
    picks = any(isinstance(one, Tensor) and not one.scalar for one in keys)
    if picks and isinstance(value, Tensor):
        put = Meets(getattr(statement, "value", statement), value, value)
        machine.meet(ConstraintKind.JOIN, target, frame, [Meets(target.value, owner, owner), put])


def _counts(before: Value | None, value: Value) -> bool:
    """Whether what was loaded takes the place of a number."""
    loaded = isinstance(value, Tensor) and value.maker == Origin.LOAD
    number = isinstance(before, Const) and isinstance(before.value, int | float)
    return loaded and (number or isinstance(before, Number))


def _put_in(batch: Batch, value: Tensor, spot: Spot, *, whole: bool) -> None:
    """Puts a tensor into a batch. Key by key all of it is there in the end; of one that is written out,
    nobody knows: the others were left."""
    if whole or value.device == batch.inner.device:
        batch.inner = value
    else:
        batch.inner = batch.inner.like(None, Step(EventKind.LEFT, spot, batch.inner.device))


def _remembered(value: Value, spot: Spot) -> Value:
    """What a statement puts into an optimizer's state: a tensor, or the dict of those of a weight."""
    if isinstance(value, Tensor):
        return value.like(value.device, Step(EventKind.STORED, spot, value.device))
    if isinstance(value, Batch):
        return Batch(
            value.inner.like(value.inner.device, Step(EventKind.STORED, spot)), mutable=True
        )
    if isinstance(value, Table):
        held = {key: _remembered(one, spot) for key, one in value.items.items()}
        return State(held, value.more and _remembered(value.more, spot))
    return value


def put_at(owner: Table, key: Value, value: Value, said: ast.expr | None = None) -> None:
    """Puts an item into a dict: at any key that the expression for it, ``said``, may give, where it is not
    known which, and at each in a loop over the keys."""
    if isinstance(key, Const) and isinstance(key.value, str | int):
        owner.items[key.value] = value
        return
    each = isinstance(key, Unknown) and key.word == KEY
    for name, held in owner.items.items():
        if each or said is None or may_name(said, str(name)):
            owner.items[name] = value if each else joined(held, value)
    owner.more = of_any_key(owner.more, value)


def _filled(
    machine: Machine, weight: Tensor, value: Tensor, statement: ast.AST, frame: Frame
) -> None:
    """``weight.data = value``: a weight is where its new values are."""
    noted(weight, "device")
    weight.device = value.device
    module = weight.module
    if weight.maker != Origin.WEIGHT or module is None or _is_own(weight, module):
        return
    step = Step(EventKind.MOVED, machine.spot(statement, frame), value.device)
    module.filled = value
    if weight.name:
        module.device, module.steps = value.device, (*module.steps, step)
    else:  # in a loop over all of them
        module.move(value.device, step)


def _is_own(weight: Tensor, module: Module) -> bool:
    return any(one is weight for one in module.tensors.values())


#: What the keys of a dict are called that a loop runs through.
KEY = "key"


def part(value: Value, position: int) -> Value:
    """What is unpacked at a position."""
    match value:
        case Items(items=items) if -len(items) <= position < len(items):
            return items[position]
        case Items(more=more) if more is not None:
            return more
        case Object() if (fields := row(value)) is not None:
            return part(fields, position)
        case Object() if value.is_library_object:
            return value
        case Batch():
            return value.inner.like(value.inner.device)
        case Loader():
            return value.item
        case Table() | Items():
            return Unknown()
        case Tensor():
            return value.like(value.device)
    return Unknown()


def _rest(value: Value, position: int, after: int) -> Value:
    """What is unpacked into ``*rest``."""
    if isinstance(value, Items) and value.more is None:
        return Items(value.items[position : len(value.items) - after])
    return Items([], part(value, position))


def bind(frame: Frame, name: str, value: Value, statement: ast.AST) -> None:
    """Binds a name to a value, and remembers where first."""
    if isinstance(value, Module | Number | Unknown) and not value.word:
        value.word = name
    frame = frame.shared.get(name, frame)
    frame.names[name] = value
    frame.bound[name] = statement
    frame.lines.setdefault(name, getattr(statement, "lineno", 0))


def current(value: Value) -> Value:
    """A weight that was listed before its module moved is where the module is now; a copy stayed, and what
    was brought elsewhere by itself."""
    if isinstance(value, Tensor) and value.maker == Origin.WEIGHT and value.module is not None:
        moves = {id(step.spot.node) for one in value.module.owners() for step in one.steps}
        stayed = any(
            step.what in (EventKind.COPIED, EventKind.HELD, EventKind.PUT)
            or (step.what == EventKind.MOVED and id(step.spot.node) not in moves)
            for step in value.steps
        )
        if not _is_own(value, value.module) and not stayed:
            return value.like(value.module.where())
    return value


def parts(value: Value) -> Value:
    """The layers of a list of them as the list that Python's own functions take."""
    if isinstance(value, Module) and value.kind in ("ModuleList", "Sequential") and value.children:
        return Items(list(value.children.values()))
    return value


def one_dimension(torch: TorchNames, tensor: Tensor) -> bool:
    """Whether a tensor was made with one dimension, as far as its factory's call tells."""
    if tensor.maker == Origin.LIBRARY and tensor.name == "row":
        return True
    made = next((step.spot.node for step in tensor.steps if step.what == EventKind.MADE), None)
    if not isinstance(made, ast.Call) or tensor.maker != Origin.FACTORY:
        return False
    name = called(made)
    shape = made.args[0] if len(made.args) == 1 else None
    if name in ("tensor", "as_tensor"):
        return _are_numbers(shape)
    if isinstance(shape, ast.Tuple | ast.List):
        first = shape.elts[0] if len(shape.elts) == 1 else None
        flat = first is not None and not isinstance(first, ast.Starred)
        return flat and name in torch.filled
    return name in torch.in_a_row or (name in torch.filled and _is_one_size(shape))


#: What people call several sizes.
_SIZES = re.compile(r"(shape|size|sizes|dims|dimensions|like)$", re.IGNORECASE)


def _is_one_size(given: ast.expr | None) -> bool:
    """Whether what a factory is told alone is one number, as far as its name tells."""
    match given:
        case ast.Constant() | ast.BinOp():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _SIZES.search(name) is None or name.endswith(("_size", "_dims"))
        case ast.Call(func=ast.Name(id="len" | "int")):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return True
        case ast.Subscript(slice=ast.Constant(value=int())):
            return True
    return False


def _are_numbers(given: ast.expr | None) -> bool:
    """Whether a list that stands in the code holds no lists, as far as it shows."""
    match given:
        case ast.ListComp(elt=item):
            return not isinstance(item, ast.List | ast.Tuple | ast.ListComp | ast.Name)
        case ast.Name():
            return True  # of rows or of numbers: only a run tells
        case ast.List(elts=[first, *_]):
            return not isinstance(first, ast.List | ast.Tuple | ast.ListComp | ast.Starred)
    return False


def as_row(torch: TorchNames, value: Value) -> Items:
    """What a loop over a value binds one by one, as a list."""
    return value if isinstance(value, Items) else Items([], element(torch, value))


def element(torch: TorchNames, value: Value) -> Value:
    """What a loop over a value binds."""
    match value:
        case Items(items=[first, *_]) if value.more is None or not isinstance(first, Unknown):
            return first
        case Items(more=more) if more is not None:
            return current(more)
        case Loader(item=Batch() as item):  # one that moves is not the next one
            return Batch(item.inner, mutable=item.mutable)
        case Loader():
            return value.item
        case Batch():
            return value.inner.like(value.inner.device)
        case Tensor():
            found = value.taken(scalar=one_dimension(torch, value) or None)
            found.element = True
            return found
        case Module():
            return next(iter(value.children.values()), Unknown())
        case Object() if value.is_library_object:
            return value
    return Unknown()


def may_name(text: ast.expr, name: str) -> bool:
    """Whether an expression for a text may give a name, by what of it is written down."""
    return re.fullmatch(_pattern(text), name) is not None


def _pattern(text: ast.expr) -> str:
    match text:
        case ast.Constant(value=str(written)):
            return re.escape(written)
        case ast.JoinedStr(values=parts):
            return "".join(map(_pattern, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _pattern(left) + _pattern(right)
    return ".*"


def iterated(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> Value:
    """A value as what a loop can run through: of an object what its methods give, of a dict its keys."""
    match value:
        case Table():
            return Items([Const(key) for key in value.items], Unknown(KEY) if value.more else None)
        case Object() if (found := row(value)) is not None:
            return found
        case Object():
            return _by_methods(machine, value, node, frame)
        case Module() if (layer := layer_of(value)) is not None:
            return Items([], layer)
    return parts(value)


def _by_methods(machine: Machine, value: Object, node: ast.AST, frame: Frame) -> Value:
    found = special(machine, value, "__iter__", node, frame) or value
    if isinstance(found, Object):
        item = special(machine, found, "__next__", node, frame)
        item = item or special(machine, found, "__getitem__", node, frame, Number())
        return Items([], item) if item is not None else found
    return iterated(machine, found, node, frame)


def special(
    machine: Machine, value: Value, name: str, node: ast.AST, frame: Frame, *given: Value
) -> Value | None:
    """What a special method of a user's object gives, such as ``__enter__``; None where it has none."""
    made = value.made if isinstance(value, Object) else None
    method = made.find(name) if made is not None else None
    if not isinstance(method, Function):
        return None
    listed = [Given(ast.Name(name), one) for one in given]
    return machine.invoke(machine, method.bound(value), Arguments(listed), node, frame)


def any_item(torch: TorchNames, items: Value) -> Value:
    """What a loop binds that is not run item by item: of the keys of a dict any one."""
    rows = items.items if isinstance(items, Items) and items.more is None else []
    if len(rows) > 1 and all(map(_is_text, rows)):
        return Unknown(KEY)
    pairs = [one.items for one in rows if isinstance(one, Items) and len(one.items) == 2]
    if len(pairs) == len(rows) > 1 and all(_is_text(key) for key, _ in pairs):
        return Items([Unknown(KEY), any_of(Items([value for _, value in pairs]))])
    return element(torch, items)


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)
