"""What data sets and loaders yield."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.iteration import iterated
from diagnose.placement.machine import Arguments, Given, Machine, Meets, Partial, generating
from diagnose.placement.tensors import Batch, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    Frame,
    Function,
    Loader,
    Method,
    Number,
    Object,
    Unknown,
    Value,
)

#: Containers within containers of a batch that are told apart.
_DEEPEST = 3


def data_call(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """What a call of ``torch.utils.data`` gives."""
    first = given.listed[0].value if given.listed else None
    if last == "TensorDataset":
        return Loader(Items([_wide(one.value) for one in given.listed]))
    if last.endswith("DataLoader"):
        if first is None and "dataset" in given.named:
            first = given.named["dataset"].value
        collate = given.named.get("collate_fn")
        if collate is not None and getattr(collate.value, "kind", "") == "collator":
            rows_of = Tensor(
                CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame
            )
            found = Loader(Batch(rows_of, mutable=True))
        elif collate is not None and (
            _is_called(collate.value) or isinstance(collate.value, Unknown)
        ):
            rows = Items([], item_of(machine, first, node, frame))
            rows_given = Arguments([Given(collate.node, rows)] if first is not None else [])
            made = machine.invoke(machine, collate.value, rows_given, node, frame)
            found = Loader(_yielded(made))
        elif isinstance(collate.value if collate is not None else None, Object | Method):
            found = Loader(Unknown())  # of a class of which nothing is known
        else:
            found = Loader(collated(item_of(machine, first, node, frame), machine, node, frame))
        found.generator = _shuffled_by(machine, given, node, frame)
        sampler = given.named.get("sampler") or given.named.get("batch_sampler")
        if sampler is not None and isinstance(sampler.value, Loader):
            found.generator = sampler.value.generator
        return found
    if last.endswith("Sampler"):
        found = Loader(Number())
        one = given.named.get("generator")
        if isinstance(first, Loader) and last == "BatchSampler":
            found.generator = first.generator
        elif (side := generating(one)) is not None:
            found.generator = side.tensor
        elif one is None and last == "RandomSampler":
            found.generator = _own_generator(machine, node, frame)
        return found
    said = given.named.get("generator")
    seeded = generating(said)
    if said is None and last == "random_split" and (there := _own_generator(machine, node, frame)):
        seeded = Meets(node, there, there)
    if seeded is not None:
        machine.meet(ConstraintKind.GENERATOR, node, frame, [seeded, _order(machine, node, frame)])
    if last in ("Subset", "ConcatDataset", "random_split"):
        return (
            Loader(item_of(machine, first, node, frame))
            if last != "random_split"
            else Items([], first)
        )
    return Unknown()


def _wide(value: Value) -> Value:
    """A tensor that has rows, and is no number."""
    return value.taken(scalar=False) if isinstance(value, Tensor) else value


def _is_called(value: Value) -> bool:
    """Whether a value is a function of the user's, or an object that is called like one."""
    called = isinstance(value, Object) and value.made is not None and value.made.find("__call__")
    return isinstance(value, Function | Partial) or bool(called)


def _yielded(made: Value, depth: int = 0) -> Value:
    """What a function of the user's has made is a batch as it is, the fields of its objects are, too; what
    is not known stays so."""
    match made:
        case Tensor() if made.maker in (Origin.FACTORY, Origin.ARRAY, Origin.OTHER):
            drawn = made.taken()
            drawn.maker = Origin.BATCH
            return drawn
        case Items() | Table() | Object() if depth > _DEEPEST:
            return made
        case Items():
            more = _yielded(made.more, depth + 1) if made.more is not None else None
            return Items([_yielded(each, depth + 1) for each in made.items], more, made.kind)
        case Table():
            more = _yielded(made.more, depth + 1) if made.more is not None else None
            items = {key: _yielded(each, depth + 1) for key, each in made.items.items()}
            return Table(items, more)
        case Object() if made.made is not None:
            record = Object(made.kind, made.made)
            fields = made.attributes.items()
            record.attributes = {name: _yielded(each, depth + 1) for name, each in fields}
            record.steps = made.steps
            return record
    return made


def drawn(machine: Machine, loader: Loader, node: ast.AST, frame: Frame) -> None:
    """A loader that shuffles draws its order now."""
    if isinstance(loader.generator, Tensor):
        sides = [Meets(node, loader, loader.generator), _order(machine, node, frame)]
        machine.meet(ConstraintKind.GENERATOR, node, frame, sides)


def _order(machine: Machine, node: ast.AST, frame: Frame) -> Meets:
    """An order that is drawn: on the default device, as `torch.randperm` makes it."""
    device = machine.default
    made = Tensor(device, Origin.ORDER, machine.step(EventKind.MADE, node, frame, device), frame)
    return Meets(node, made, made)


def _shuffled_by(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Tensor | None:
    """What a loader draws its order with, where it shuffles: a generator of the cpu, unless it is told."""
    shuffle, drawn = given.named.get("shuffle"), given.named.get("generator")
    if shuffle is None or not (isinstance(shuffle.value, Const) and shuffle.value.value):
        return None
    if (side := generating(drawn)) is not None:
        return side.tensor
    return _own_generator(machine, node, frame) if drawn is None else None


def _own_generator(machine: Machine, node: ast.AST, frame: Frame) -> Tensor | None:
    """The generator, on the cpu, that torch draws an order with where it is given none; None where that is
    the default device, too."""
    if machine.default.type == DeviceType.CPU:
        return None
    return Tensor(CPU, Origin.GENERATOR, machine.step(EventKind.MADE, node, frame, CPU), frame)


def item_of(machine: Machine, data: Value | None, node: ast.AST, frame: Frame) -> Value:
    """What a data set yields."""
    if isinstance(data, Loader):
        return data.item
    if isinstance(data, Object) and data.made is not None:
        getter = data.made.find("__getitem__")
        if isinstance(getter, Function):
            given = Arguments()
            return machine.invoke(machine, getter.bound(data), given, node, frame)
        if any(name.rpartition(".")[2] in machine.torch.datasets for name in data.made.names()):
            made = machine.step(EventKind.MADE, node, frame, CPU)
            return Batch(Tensor(CPU, Origin.BATCH, made, frame), mutable=True)
        data = iterated(machine, data, node, frame)
    if isinstance(data, Items) and (data.items or data.more):
        return next(iter(data.every()))
    if isinstance(data, Tensor | Batch):  # a loader of a graph's parts yields graphs
        return data
    return Unknown()


def collated(item: Value, machine: Machine, node: ast.AST, frame: Frame, depth: int = 0) -> Value:
    """A batch of items: what is no tensor becomes one on the cpu."""
    machine.spend()
    match item:
        case Items() | Table() if depth > _DEEPEST:
            return Unknown()
        case Tensor():
            drawn = item.taken(scalar=False)
            drawn.element = False
            if item.maker in (Origin.FACTORY, Origin.ARRAY, Origin.OTHER):
                drawn.maker = Origin.BATCH
            return drawn
        case Items(items=items) if items:
            # Of tuples, too, torch's own `default_collate` makes lists.
            parts = [collated(each, machine, node, frame, depth + 1) for each in items]
            return Items(parts, kind="list")
        case Table(items=items) if items:
            return Table(
                {k: collated(each, machine, node, frame, depth + 1) for k, each in items.items()}
            )
        case Batch():
            return item
        case Const(value=str()):
            return item
        case Const() | Number():
            return Tensor(CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame)
    made = machine.step(EventKind.MADE, node, frame, CPU)
    return Batch(Tensor(CPU, Origin.BATCH, made, frame, guessed=isinstance(item, Unknown)))
