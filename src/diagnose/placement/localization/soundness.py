"""What a suspect relies on beside the lines that it tells of: then only a run tells whether it holds.

* A flag for a device: a condition that asks for one stands around where an operand is made or moved, or
  around the calls that lead to it. (What only asks whether there is a GPU, or several, is none.)
* What a call gives of which nothing is known: it may be elsewhere, or no tensor. So may what host code is
  handed, where neither the program made it nor a model gave it; one layer of a library's model, whichever,
  may have no weights.
* Whether layers move that meet others while their module is built.
* A comparison of devices in the function that fails: it sees to them by itself.
* A class of another file that the one at hand is built on: its methods may move what it keeps.
* A model that a library spreads, within one of the program's: the library moves what passes through.
* What a class moves in a loop, one by one, and a tensor that is made of what may be one already.
* A handler that passes over what fails, and a file that chooses the CPU where nothing calls the code.

* An operand may be none, or one number, which any device takes: what a tensor, a checkpoint or an unknown
  call holds. It is none where the operation takes none: what is put in a row, multiplied as a matrix or
  picked by positions has dimensions.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import SPLIT
from diagnose.placement.localization.availability import is_called
from diagnose.placement.localization.question import OF_DEVICES, classes_of, is_handling, lines
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step, Suspect
from diagnose.placement.provenance import born_at, last_move
from diagnose.placement.semantics import Function, called, calls, dotted, nodes, parameters
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Object

#: Steps by which an operand came to its device.
_COMING = (EventKind.MADE, EventKind.LOADED, EventKind.MOVED, EventKind.GATHERED, EventKind.WRAPPED)
#: Where operands come from that the program neither makes nor computes: a loader, a caller, a library.
_OF_OTHERS = frozenset({Origin.BATCH, Origin.GIVEN, Origin.LIBRARY, Origin.OTHER})
#: Questions that a machine with GPUs answers in one way.
_ALWAYS = frozenset({"is_available", "device_count"})


def relies_on_more(
    suspect: Suspect, stray: Meets | None, other: Meets | None, meeting: Meeting
) -> bool:
    """Whether a suspect relies on what its lines do not tell.

    Args:
        suspect: what is said of a meeting.
        stray: the operand that is misplaced; None where that is not one of them.
        other: one that it meets; None where it meets none.
        meeting: what met.
    """
    sides = [one for one in (stray, other) if one is not None]
    coming = [step for one in sides for step in one.tensor.steps if step.what in _COMING]
    of_init = (meeting.spot.function or "").endswith(".__init__")
    host = stray if meeting.what == ConstraintKind.HOST else None
    return (
        any(
            may_be_none(one, meeting) or _is_some_part(one) or _is_copy(one.tensor) for one in sides
        )
        or (of_init and suspect.cause == "unregistered-submodule")
        or (host is not None and _is_of_others(host.tensor))
        or any(map(_is_of_a_type, coming))
        or is_of_an_element(meeting)
        or _is_by_way(meeting, coming)
        or _is_built_on_others(suspect, meeting)
        or _is_moved_in_a_loop(suspect)
        or (suspect.cause == "module-not-moved" and any(map(_is_within_spread, sides)))
    )


def _is_by_way(meeting: Meeting, coming: Iterable[Step]) -> bool:
    """Whether the code on the way chooses a device, handles what fails, or compares devices."""
    way = (meeting.spot, *meeting.calls)
    spots = [*way, *(step.spot for step in coming)]
    return (
        any(_is_chosen(spot) or is_handling(spot) for spot in spots)
        or any(map(_is_passed_over, way))
        or _is_compared(meeting)
        or (not is_called(meeting.frame) and _is_of_the_host(meeting.spot.source.tree))
    )


def _is_of_a_type(step: Step) -> bool:
    """Whether a step moved to the device of a type that a variable or a function names, or made a tensor of
    a type that a variable holds, which is one or another."""
    node = step.spot.node
    if not isinstance(node, ast.Call):
        return False
    match node.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name) | ast.Name(id=name):
            if name in _types(step.spot.source.tree):
                return True
    if called(node) != "type" or not node.args:
        return False
    return not any(isinstance(one, ast.Constant | ast.Attribute) for one in node.args)


@lru_cache(maxsize=16)
def _types(tree: ast.Module) -> frozenset[str]:
    """The variables and attributes of a file that hold one type of tensors or another."""
    bound = Counter[str]()
    for node in nodes(tree, ast.Assign):
        if ast.unparse(node.value).endswith("Tensor"):
            for target in node.targets:
                name = getattr(target, "id", getattr(target, "attr", ""))
                bound[name] += 1 + isinstance(node.value, ast.IfExp)
    return frozenset(name for name, times in bound.items() if name and times > 1)


def _is_of_others(tensor: Tensor) -> bool:
    """Whether a tensor is a loader's, a caller's or a library's: of a batch all that the program does not
    make itself, and move."""
    born = born_at(tensor.steps)
    made = ast.unparse(born.spot.node) if born is not None else ""
    factory = made.startswith("torch.") and not made.startswith("torch.utils.")
    own = tensor.maker == Origin.BATCH and factory and last_move(tensor.steps) is not None
    return tensor.maker in _OF_OTHERS and not own


def _is_built_on_others(suspect: Suspect, meeting: Meeting) -> bool:
    """Whether a method meets operands whose class another file's is built on: that may have moved them."""
    if suspect.cause.startswith("unregistered-") and is_built_on_others(suspect.spot):
        return True
    this = meeting.frame.this
    made = this.made if isinstance(this, Module | Object) else None
    if made is None:
        return False
    if any(one.source.path != meeting.spot.file for one in made.line()):
        return True
    roots = {base.partition(".")[0] for one in made.line() for base in one.library}
    others = roots - MOVING_NOTHING
    return suspect.cause == "module-not-moved" and isinstance(this, Object) and bool(others)


def _is_moved_in_a_loop(suspect: Suspect) -> bool:
    """Whether the class that keeps layers in a plain container moves them one by one."""
    node = suspect.spot.node
    if suspect.cause != "unregistered-submodule" or not isinstance(node, ast.Assign):
        return False
    if calls(suspect.spot.source.tree, "ParameterList"):
        return True  # which may be those of layers that it keeps elsewhere
    names = {one.attr for one in node.targets if isinstance(one, ast.Attribute)}
    return bool(names & _moved_by_items(suspect.spot.source.tree))


@lru_cache(maxsize=16)
def _moved_by_items(tree: ast.Module) -> frozenset[str]:
    """The attributes of objects of which a file moves the items, by their numbers or in a loop."""
    loops = {
        one.target.id: one.iter
        for one in nodes(tree, ast.For, ast.comprehension)
        if isinstance(one.target, ast.Name)
    }
    moved = [
        one.func.value for one in calls(tree, "to", "cuda") if isinstance(one.func, ast.Attribute)
    ]
    items = [one.value for one in moved if isinstance(one, ast.Subscript)]
    items += [loops[one.id] for one in moved if isinstance(one, ast.Name) and one.id in loops]
    return frozenset(one.attr for one in items if isinstance(one, ast.Attribute))


def _is_copy(tensor: Tensor) -> bool:
    """Whether a tensor is made of a parameter that has a shape: where that is, if it is a tensor."""
    born = born_at(tensor.steps)
    node = born.spot.node if born is not None else None
    if (
        born is None
        or not isinstance(node, ast.Call)
        or called(node) not in ("tensor", "as_tensor")
    ):
        return False
    function, of = born.spot.enclosing, node.args[0] if node.args else None
    if function is None or not isinstance(of, ast.Name) or node.keywords:
        return False
    shaped = any(
        one.attr in ("shape", "size", "dim", "ndim") and dotted(one.value) == of.id
        for one in nodes(function, ast.Attribute)
    )
    return shaped and of.id in (one.arg for one in parameters(function))


def _is_passed_over(spot: Spot) -> bool:
    """Whether a handler stands around a place that does nothing about whatever fails there."""
    return spot.line in _passing(spot.source.tree)


@lru_cache(maxsize=16)
def _passing(tree: ast.Module) -> frozenset[int]:
    """The lines of each ``try`` of a file whose errors of any kind are passed over."""
    return lines(
        (one.body[0], one.body[-1])
        for one in nodes(tree, ast.Try)
        if any(map(_passes, one.handlers))
    )


def _passes(handler: ast.ExceptHandler) -> bool:
    every = handler.type is None or dotted(handler.type) in ("Exception", "BaseException")
    return every and all(isinstance(one, ast.Pass | ast.Continue) for one in handler.body)


@lru_cache(maxsize=16)
def _is_of_the_host(tree: ast.Module) -> bool:
    """Whether a file chooses the CPU, and nothing else, for what it calls a device or a GPU."""
    chosen = [
        one.value
        for one in nodes(tree, ast.Assign)
        if all(isinstance(name, ast.Name) for name in one.targets)
        and any(word in ast.unparse(one.targets[0]).casefold() for word in OF_DEVICES)
    ]
    return bool(chosen) and all(map(_is_host, chosen))


def _is_host(chosen: ast.expr) -> bool:
    match chosen:
        case ast.Constant(value=False | "cpu"):
            return True
        case ast.Call(args=[ast.Constant(value="cpu")]):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return "cpu" in name.casefold()
    return False


def _is_chosen(spot: Spot) -> bool:
    """Whether a condition that asks for a device stands around a place."""
    return spot.line in _choices(spot.source.tree)


@lru_cache(maxsize=16)
def _choices(tree: ast.Module) -> frozenset[int]:
    """The lines that conditions of a file, which ask for a device, decide on."""
    return lines((one.body[0], one) for one in nodes(tree, ast.If) if _asks(one.test))


def _asks(test: ast.expr) -> bool:
    """Whether a condition asks for a device, and not just whether the machine has GPUs, or how many a
    list names."""
    match test:
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), comparators=[ast.Constant()]):
            return False
    if _ALWAYS.isdisjoint(map(called, calls(test))):
        return any(word in said for said in _said(test) for word in OF_DEVICES)
    return isinstance(test, ast.BoolOp)


def _said(test: ast.expr) -> Iterator[str]:
    """The names and texts of a condition."""
    for one in nodes(test, ast.Name, ast.Attribute, ast.Constant):
        match one:
            case ast.Name(id=said) | ast.Attribute(attr=said) | ast.Constant(value=str(said)):
                yield said.casefold()


def _is_compared(meeting: Meeting) -> bool:
    """Whether the function that fails compares the devices of two tensors."""
    function = meeting.spot.enclosing
    return function is not None and _compares_devices(function)


@lru_cache(maxsize=8)
def _compares_devices(function: Function) -> bool:
    return any(
        sum(map(_is_device, [one.left, *one.comparators])) > 1
        for one in nodes(function, ast.Compare)
    )


def _is_some_part(side: Meets) -> bool:
    """Whether an operand is one layer of a library's model, whichever: it may have no weights."""
    return isinstance(side.value, Module) and side.value.kind.endswith("._modules.?")


def _is_device(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "device"


def _is_within_spread(side: Meets) -> bool:
    """Whether an operand is of a module of the program's that a library has spread a part of."""
    module = side.value if isinstance(side.value, Module) else side.tensor.module
    whole = module.whole() if module is not None else None
    if whole is None or whole.made is None:
        return False
    return any(one.device == SPLIT for one in whole.family())


#: Functions and methods of torch whose operands have dimensions, in place with _ at the end.
_OF_DIMENSIONS = frozenset(
    {"cat", "concat", "concatenate", "stack", "hstack", "vstack", "matmul", "mm", "bmm", "addmm"}
    | {"gather", "scatter", "scatter_add", "index_select", "index_add", "index_copy"}
    | {"take_along_dim", "linear", "embedding", "conv1d", "conv2d", "conv3d", "bilinear", "cdist"}
    | {"cross_entropy", "nll_loss", "layer_norm", "batch_norm", "group_norm", "grid_sample"}
    | {"embedding_bag", "baddbmm", "scaled_dot_product_attention"}
)


def may_be_none(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand may be none, or one number: what a checkpoint or a tensor holds, but where none
    is taken."""
    if (
        side.tensor.element
        and meeting.what in (ConstraintKind.JOIN, ConstraintKind.INDEX)
        and not _takes_none(meeting)
    ):
        return True
    if side.tensor.maker != Origin.LOAD or not side.tensor.guessed:
        return side.tensor.guessed
    return not _is_product(meeting.spot.node) and meeting.what not in (
        ConstraintKind.CALL,
        ConstraintKind.INDEX,
        ConstraintKind.HOST,
        ConstraintKind.STATE,
    )


def is_of_an_element(meeting: Meeting) -> bool:
    """Whether an index is itself one of a row of them: a number, which any list or tensor takes."""
    node = meeting.spot.node
    index = node.slice if isinstance(node, ast.Subscript) else None
    one = index.slice if isinstance(index, ast.Subscript) else None
    number = isinstance(one, ast.Constant) and isinstance(one.value, int)
    return meeting.what == ConstraintKind.INDEX and (number or isinstance(one, ast.Name))


def _takes_none(meeting: Meeting) -> bool:
    """Whether an operation takes no number: each of its operands has dimensions."""
    node = meeting.spot.node
    return _is_product(node) or called(node).rstrip("_") in _OF_DIMENSIONS


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)


#: Packages whose classes move no more than their own: Python's, and libraries that are known.
MOVING_NOTHING = frozenset(
    {"object", "ABC", "abc", "typing", "Generic", "Protocol", "NamedTuple", "Exception"}
    | {"torch", "transformers", "trl", "lightning", "pytorch_lightning", "sentence_transformers"}
    | {"adapters", "diffusers", "gpytorch", "monai", "peft", "timm", "torch_geometric"}
    | {"torchmetrics", "torchvision"}
)


def is_built_on_others(spot: Spot) -> bool:
    """Whether the class that a place is in is built on one of another file, of no package that is known."""
    owner = (spot.function or "").rpartition(".")[0].rpartition(".")[2]
    return _on_others(spot.source.tree, owner) if owner else False


@lru_cache(maxsize=64)
def _on_others(tree: ast.Module, name: str) -> bool:
    classes, origins = classes_of(tree), _imported(tree)
    waiting, seen = [name], set[str]()
    while waiting:
        one = waiting.pop()
        if one in seen or one not in classes:
            continue
        seen.add(one)
        for base in classes[one][-1].bases:
            root = ast.unparse(base).partition("[")[0].partition(".")[0]
            if root in classes:
                waiting.append(root)
            elif root in origins and origins[root] not in MOVING_NOTHING:
                return True
    return False


@lru_cache(maxsize=8)
def _imported(tree: ast.Module) -> dict[str, str]:
    """The names that a file imports, and the packages that they are of; of its own the dots."""
    found: dict[str, str] = {}
    for one in nodes(tree, ast.Import, ast.ImportFrom):
        for alias in one.names:
            whole = alias.name
            if isinstance(one, ast.ImportFrom):
                whole = "." if one.level else one.module or ""
            package = whole if whole == "." else whole.partition(".")[0]
            found[alias.asname or alias.name.partition(".")[0]] = package
    return found
