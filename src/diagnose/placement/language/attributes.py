"""What attributes hold."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import SPLIT
from diagnose.placement.language.calls import run
from diagnose.placement.libraries.device_maps import gives_back, hook_of, reached, read
from diagnose.placement.libraries.models import noise_scheduler
from diagnose.placement.libraries.module_methods import is_method, is_plain
from diagnose.placement.libraries.tensor_methods import of_batch, of_tensor
from diagnose.placement.libraries.torch_calls import has_method, told
from diagnose.placement.libraries.weights import filled_elsewhere
from diagnose.placement.machine import Arguments, Given, Machine, Partial
from diagnose.placement.model import Step
from diagnose.placement.provenance import is_offloaded
from diagnose.placement.python_types import row
from diagnose.placement.tensors import (
    Batch,
    Distribution,
    Module,
    Optimizer,
    Table,
    Tensor,
    tensors_in,
)
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Class,
    Const,
    External,
    Frame,
    Function,
    Generator,
    Loader,
    Method,
    Number,
    Object,
    Place,
    Unknown,
    Value,
)


def attribute(machine: Machine, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    """What an attribute holds."""
    match owner:
        case External():
            dotted = f"{owner.dotted}.{name}"
            return machine.replaced.get(dotted) or External(dotted)
        case Module():
            return _of_module(machine, owner, name, node, frame)
        case Object():
            return _of_object(machine, owner, name, node, frame)
        case Class() if name == "__name__":
            return Const(owner.node.name)
        case Class():
            found = owner.find(name)
            return (
                _member(machine, owner, found, node, frame)
                if found is not None
                else Method(owner, name)
            )
        case Tensor():
            return of_tensor(machine, owner, name)
        case Distribution() if has_method(name):
            return Method(owner, name)
        case Distribution() if (own := told(owner, name)) is not None:
            return own
        case Batch():
            return of_batch(machine, owner, name)
        case Optimizer() if name == "state":
            owner.remembers, owner.loaded = False, None  # whoever asks for it may move it
            return owner.state
        case Optimizer() if name == "param_groups":
            weights = next(tensors_in(owner.weights), None) if owner.weights is not None else None
            return Items([], Table({"params": Items([], weights)}, Number()))
        case Generator(device=device) if name == "device":
            return Place(device)
        case Place() if name in ("type", "index"):
            return Const(owner.device.type.value) if name == "type" else Number()
        case Unknown(handed=False) if name == "device" and not _has_settings(node):
            return Unknown()  # of a tensor, wherever that is
        case Unknown():
            known = name in ("numpy", "with_format", *machine.torch.moves, *machine.torch.indexing)
            return Method(owner, name) if known else Unknown(name)
        case Const() if name == "value":  # of a member of an enumeration
            return owner
        case Const() if not isinstance(owner.value, str):
            return Unknown(name)
        case Loader() if name in ("dataset", "tensors"):
            return owner if name == "dataset" else owner.item
        case Function() if name == "__name__":
            return Const(owner.node.name) if isinstance(owner.node, _Named) else Unknown()
        case Partial() if name in ("func", "args", "keywords"):
            return owner.attribute(name)
    if isinstance(owner, Items) and name in ("indices", "values"):
        return next(owner.every(), Unknown())
    return Method(owner, name)


_Named = ast.FunctionDef | ast.AsyncFunctionDef
#: What people call that which has the device of the whole program: settings, a model, what runs it.
_SETTINGS = re.compile(
    r"\w*(args?|opts?|options|cfg|conf|config\w*|params?|hps?|settings?|flags|self|cls|models?|net|network|"
    r"trainer|accelerator|fabric|runner|engine|ctx|context|state|learner|agent|policy|pipe|pipeline|module|"
    r"env|environment|encoder|decoder|const\w*|globals?|utils|common)",
    re.IGNORECASE,
)


def _has_settings(node: ast.AST) -> bool:
    """Whether ``x.device`` is asked of something that is no tensor, by what it is called."""
    owner = getattr(node, "value", node)
    name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", None)
    return not isinstance(name, str) or _SETTINGS.fullmatch(name) is not None


def _of_module(machine: Machine, owner: Module, name: str, node: ast.AST, frame: Frame) -> Value:
    for held in (owner.children, owner.tensors, owner.plain):
        if name in held:
            found: Value = held[name]
            if isinstance(found, Tensor):
                if found.module is None:
                    found.module, found.name = owner, name
                return read(machine, found, node, frame) if held is owner.tensors else found
            return found
    if owner.made is not None and (member := owner.made.find(name)) is not None:
        return _member(machine, owner, member, node, frame)
    if name == "_buffers":  # whoever asks for them may fill them
        filled_elsewhere(owner, Step(EventKind.FILLED, machine.spot(node, frame)))
    if name == "_hf_hook" and is_offloaded(owner):  # by which a program brings it itself
        return hook_of(owner, None)
    if name == "scheduler" and owner.kind.endswith("Pipeline") and owner.made is None:
        owner.plain[name] = noise_scheduler(machine, "", node, frame)
        return owner.plain[name]
    if name.partition("_")[0] in ("weight", "bias") and owner.made is None:
        weight = Tensor(
            owner.device, Origin.WEIGHT, owner.steps, owner.frame, module=owner, name=name
        )
        return read(machine, weight, node, frame)
    if name == "device":
        device = owner.where()
        if device == SPLIT and gives_back(owner):
            device = machine.home()  # of its first weights, most often
        return Place(device._replace(home=True)) if device is not None else Unknown("device")
    if is_plain(machine, name) or (
        owner.made is None and name.islower() and is_method(machine, name)
    ):
        return Method(owner, name)
    if name == "shadow_params" and "module" in owner.children and owner.made is None:
        copy = owner.children["module"]
        return Items([], Tensor(copy.where(), Origin.WEIGHT, copy.steps, copy.frame, module=copy))
    if owner.kind in ("DataParallel", "DistributedDataParallel") and "module" in owner.children:
        return _of_module(machine, owner.children["module"], name, node, frame)
    if (named := _found_by_name(machine, owner, name, node, frame)) is not None:
        return named
    if owner.made is not None:
        return Method(owner, name) if _called(node, frame) else Unknown(name)
    if name in machine.torch.module_settings:
        return Unknown(name)
    if (
        _called(node, frame)
        and name not in owner.children
        and name not in machine.torch.layer_names
    ):
        return Method(owner, name)
    if name.endswith(tuple(machine.torch.number_suffixes)):
        return Number()
    return reached(machine, modules.child(owner, name))


#: Columns are bytes: a longer line that is not ASCII is not counted again for each of its names.
_LONGEST_LINE = 1_000


def _called(node: ast.AST, frame: Frame) -> bool:
    """Whether an attribute is what a call calls; told by the text that follows it."""
    end, column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", 0)
    if end is None or end > len(frame.source.lines):
        return False
    line: str = frame.source.lines[end - 1]
    if line.isascii():
        return line[column : column + 1] == "("
    return len(line) < _LONGEST_LINE and line.encode()[column : column + 1] == b"("


def _of_object(machine: Machine, owner: Object, name: str, node: ast.AST, frame: Frame) -> Value:
    if name in owner.attributes:
        return owner.attributes[name]
    if name == "__dict__":
        return Table(owner.attributes)  # type: ignore[arg-type]  # one dict: what is put in is its attribute
    if name in ("_replace", "_asdict") and row(owner) is not None:
        return Method(owner, name)
    if owner.made is not None and (member := owner.made.find(name)) is not None:
        return _member(machine, owner, member, node, frame)
    if (found := _found_by_name(machine, owner, name, node, frame)) is not None:
        return found
    if owner.kind == "accelerator" and name.endswith("process_index"):
        return Number("rank")
    if owner.made is None and owner.kind not in ("namespace", "module"):
        return Method(owner, name)
    return Unknown(name)


def _found_by_name(
    machine: Machine, owner: Module | Object, name: str, node: ast.AST, frame: Frame
) -> Value | None:
    """What ``__getattr__`` of a class of the user's finds; None where it has none, or that is not known."""
    find = owner.made.find("__getattr__") if owner.made is not None else None
    if not isinstance(find, Function) or name.startswith("__"):
        return None
    asked = Arguments([Given(ast.copy_location(ast.Constant(name), node), Const(name))])
    found = run(machine, find.bound(owner), asked, node, frame)
    return None if isinstance(found, Unknown) else found


def _member(machine: Machine, owner: Value, member: Value, node: ast.AST, frame: Frame) -> Value:
    if isinstance(member, Function):
        return member if isinstance(owner, Class) else member.bound(owner)
    if isinstance(member, Object) and member.kind == "class":
        function = member.attributes["call"]
        made = owner if isinstance(owner, Class) else getattr(owner, "made", None)
        return function.bound(made) if isinstance(function, Function) and made else Unknown()
    if isinstance(member, Object) and member.kind == "property":
        function = member.attributes["get"]
        if isinstance(function, Function):
            return run(machine, function.bound(owner), Arguments(), node, frame)
    if isinstance(member, Tensor) and isinstance(
        owner, Module
    ):  # of the class, and none of its buffers
        kept = Step(EventKind.KEPT, member.steps[0].spot, member.device) if member.steps else None
        found = member.like(member.device, *([kept] if kept else []))
        found.module, found.name = owner, getattr(node, "attr", "")
        return found
    return member
