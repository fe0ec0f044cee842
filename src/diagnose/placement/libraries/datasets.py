"""What data sets and loaders yield."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, Origin
from diagnose.placement.assignments import iterated
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite
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


def tensor_dataset(call: CallSite) -> Value:
    """A data set of the rows of tensors."""
    return Loader(Items([_wide(one.value) for one in call.given.listed]))


def loader(call: CallSite) -> Value:
    """A loader of torch's: it yields what its ``collate_fn`` makes of items, or batches of them."""
    said, collate = call.given.get("dataset", 0), call.given.named.get("collate_fn")
    found = Loader(_yields(call, said.value if said is not None else None, collate))
    found.generator = _shuffled_by(call)
    sampler = call.given.named.get("sampler") or call.given.named.get("batch_sampler")
    if sampler is not None and isinstance(sampler.value, Loader):
        found.generator = sampler.value.generator
    return found


def _yields(call: CallSite, data: Value | None, collate: Given | None) -> Value:
    by = collate.value if collate is not None else None
    if collate is not None and getattr(by, "kind", "") == "transformers.DataCollator":
        return Batch(call.tensor(CPU, Origin.BATCH), mutable=True)
    if collate is not None and (isinstance(by, Unknown) or _is_called(collate.value)):
        rows = Items([], item_of(call, data))
        rows_given = Arguments([Given(collate.node, rows)] if data is not None else [])
        return _yielded(call.run(collate.value, rows_given))
    if isinstance(by, Object | Method):
        return Unknown()  # of a class of which nothing is known
    return collated(call, item_of(call, data))


def library_loader(call: CallSite) -> Value:
    """A loader of another library, of which only what it is given is known."""
    return Loader(collated(call, item_of(call, call.first)))


def parts_loader(call: CallSite) -> Value:
    """What yields parts of what it is given: of what is not known they may be anywhere."""
    item = item_of(call, call.first)
    return Loader(item) if isinstance(item, Unknown) else library_loader(call)


def batch_of_items(call: CallSite) -> Value | None:
    """A batch of the items that it is given."""
    return collated(call, item_of(call, call.first)) if call.first is not None else None


def dataset(call: CallSite) -> Value:
    """A data set of a library: its tensors are on the cpu, and those of graphs move in place."""
    return Loader(Batch(call.tensor(CPU, Origin.BATCH), mutable=call.effect.gives == "graphs"))


def formatted_dataset(call: CallSite) -> Value | None:
    """A data set whose rows are tensors on the device that it is told."""
    if "device" not in call.given.named:
        return call.owner if isinstance(call.owner, Loader) else None
    return Loader(Batch(call.tensor(call.device("device"), Origin.BATCH)))


def sampler(call: CallSite) -> Value:
    """A sampler of positions, and what it draws them with."""
    found, one = Loader(Number()), call.given.named.get("generator")
    if call.effect.of and isinstance(call.first, Loader):
        found.generator = call.first.generator
    elif (side := generating(one)) is not None:
        found.generator = side.tensor
    elif one is None and call.effect.gives == "drawn":
        found.generator = _own_generator(call)
    return found


def subset(call: CallSite) -> Value:
    """Some of the items of a data set, or parts of it, in an order that may be drawn."""
    said, parts = call.given.named.get("generator"), call.effect.gives == "parts"
    seeded, own = generating(said), _own_generator(call) if parts and said is None else None
    if own is not None:
        seeded = Meets(call.node, own, own)
    if seeded is not None:
        call.meet(ConstraintKind.GENERATOR, [seeded, _order(call)])
    return Items([], call.first) if parts else Loader(item_of(call, call.first))


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
        call = CallSite(machine, "", Arguments(), node, frame)
        sides = [Meets(node, loader, loader.generator), _order(call)]
        call.meet(ConstraintKind.GENERATOR, sides)


def _order(call: CallSite) -> Meets:
    """An order that is drawn: on the default device, as `torch.randperm` makes it."""
    made = call.tensor(call.machine.default, Origin.ORDER)
    return Meets(call.node, made, made)


def _shuffled_by(call: CallSite) -> Tensor | None:
    """What a loader draws its order with, where it shuffles: a generator of the cpu, unless it is told."""
    drawn = call.given.named.get("generator")
    if "shuffle" not in call.given.named or not call.told("shuffle"):
        return None
    if (side := generating(drawn)) is not None:
        return side.tensor
    return _own_generator(call) if drawn is None else None


def _own_generator(call: CallSite) -> Tensor | None:
    """The generator, on the cpu, that torch draws an order with where it is given none; None where that is
    the default device, too."""
    on_host = call.machine.default.type == DeviceType.CPU
    return None if on_host else call.tensor(CPU, Origin.GENERATOR)


def item_of(call: CallSite, data: Value | None) -> Value:
    """What a data set yields."""
    if isinstance(data, Loader):
        return data.item
    if isinstance(data, Object) and data.made is not None:
        getter = data.made.find("__getitem__")
        if isinstance(getter, Function):
            return call.run(getter.bound(data), Arguments())
        known = call.machine.torch.datasets
        if any(name.rpartition(".")[2] in known for name in data.made.names()):
            return Batch(call.tensor(CPU, Origin.BATCH), mutable=True)
        data = iterated(call.machine, data, call.node, call.frame)
    if isinstance(data, Items) and (data.items or data.more):
        return next(iter(data.every()))
    if isinstance(data, Tensor | Batch):  # a loader of a graph's parts yields graphs
        return data
    return Unknown()


def collated(call: CallSite, item: Value, depth: int = 0) -> Value:
    """A batch of items: what is no tensor becomes one on the cpu."""
    call.machine.spend()
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
            return Items([collated(call, each, depth + 1) for each in items], kind="list")
        case Table(items=items) if items:
            return Table({key: collated(call, each, depth + 1) for key, each in items.items()})
        case Batch() | Const(value=str()):
            return item
    made = call.tensor(CPU, Origin.BATCH)
    made.guessed = isinstance(item, Unknown)
    return made if isinstance(item, Const | Number) else Batch(made)
