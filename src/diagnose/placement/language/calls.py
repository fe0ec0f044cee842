"""Calls of the user's functions, classes and modules, and what attributes hold."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import SPLIT, is_known
from diagnose.placement.language.control_flow import body_of, yielded
from diagnose.placement.lattice import joined
from diagnose.placement.libraries.device_maps import (
    MAP,
    brought,
    given_back,
    gives_back,
    hook_of,
    reached,
    read,
)
from diagnose.placement.libraries.effects import library_call_of, method_call
from diagnose.placement.libraries.general import library_call
from diagnose.placement.libraries.layers import at_home, compare_inputs, hooked, is_away, scattered
from diagnose.placement.libraries.models import noise_scheduler
from diagnose.placement.libraries.module_methods import applied, is_method, is_plain
from diagnose.placement.libraries.tensor_methods import of_batch, of_tensor
from diagnose.placement.libraries.torch_calls import has_method, told
from diagnose.placement.libraries.weights import filled_elsewhere
from diagnose.placement.machine import (
    AGAIN,
    DEPTH,
    Arguments,
    Given,
    Machine,
    Meets,
    Partial,
    operands,
)
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import is_offloaded
from diagnose.placement.python_types import filled, row
from diagnose.placement.semantics import defaults, parameters, positional
from diagnose.placement.tensors import (
    Batch,
    Distribution,
    Module,
    Optimizer,
    State,
    Table,
    Tensor,
    tensors_in,
)
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Around,
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


def invoke(
    machine: Machine, function: Value, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a value."""
    if isinstance(function, Unknown | Method):
        function = machine.follow(node, frame) or function
    match function:
        case Function():
            return run(machine, function, given, node, frame)
        case Partial():
            return invoke(machine, function.function, function.with_(given), node, frame)
        case Class():
            return construct(machine, function, given, node, frame)
        case Method(name="__new__", owner=Class() as made):
            return _bare(machine, made, Arguments(), node, frame)
        case Method():
            return method_call(machine, function.owner, function.name, given, node, frame)
        case Module():

            def work(given: Arguments) -> Value:
                return forward(machine, function, given, node, frame)

            return hooked(machine, function, given, node, frame, work)
        case Batch() if function.inner.maker == Origin.LOAD:  # a whole model that was loaded
            given_ = operands(given)
            machine.meet(
                ConstraintKind.CALL, node, frame, [Meets(node, function, function.inner), *given_]
            )
            return Unknown()
        case External():
            return library_call_of(machine, function.dotted, given, node, frame)
        case Object(kind="static"):
            return invoke(machine, function.attributes["call"], given, node, frame)
        case Object():
            called = function.made.find("__call__") if function.made is not None else None
            if isinstance(called, Function):
                return run(machine, called.bound(function), given, node, frame)
            return method_call(machine, function, "__call__", given, node, frame)
    return library_call(machine, None, given, node, frame)


#: Methods by which an object of the user's moves what it holds.
_MOVING = frozenset({"to", "cuda"})


def run(
    machine: Machine, function: Function, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of a function of the user's."""
    machine.entered.add(id(function.node))
    key = _key(function)
    if function.owner is not None and function.this is None and given.listed:
        function, given = function.bound(given.listed[0].value), given.rest()
    if len(machine.calls) >= DEPTH or machine.depths.get(key, 0) >= AGAIN:
        return Unknown()
    inner = Frame(
        function.source, {}, function.around, function.name, function.this, function.owner
    )
    inner.caller, inner.call = frame, Spot(frame.source, node, frame.function)
    _parameters(machine, function, given, inner)
    inner.within = body_of(machine, function, node)
    machine.depths[key] = machine.depths.get(key, 0) + 1
    machine.calls.append(Spot(frame.source, node, frame.function))
    try:
        if isinstance(function.node, ast.Lambda):
            inner.result = [machine.evaluate(machine, function.node.body, inner)]
            return inner.result[0]
        machine.execute(machine, function.node.body, inner)
        if inner.yields:
            yielded(inner, inner.result[-1])
        for made, around in machine.inner:
            if around is inner and id(made.node) not in machine.entered:
                run(machine, made, Arguments(), made.node, inner)  # something has called it
    finally:
        machine.calls.pop()
        machine.depths[key] -= 1
    called = isinstance(node, ast.Call)  # by the program, and not at its end
    if called and isinstance(function.this, Object) and function.node.name in _MOVING:
        function.this.steps += machine.step(EventKind.MOVED, node, frame)
    if inner.result and inner.yields:
        return Items([], _all(inner.result))
    return _all(inner.result) if inner.result else Const(None)


def _key(function: Function) -> int:
    """What tells a function from others: where a call has made it, the variables there do, too."""
    around = function.around
    made = isinstance(around, Around) and around.frame.function is not None
    return hash((id(function.node), id(around))) if made else id(function.node)


def _all(values: list[Value]) -> Value:
    found = values[0]
    for value in values[1:]:
        found = joined(found, value)
    return found


def _parameters(machine: Machine, function: Function, given: Arguments, inner: Frame) -> None:
    args, usual = function.node.args, defaults(function.node)
    names = [each.arg for each in positional(function.node)]
    listed = list(given.listed)
    if function.this is not None and names:
        inner.names[names[0]] = function.this
        names = names[1:]
    elif function.this is not None:
        listed.insert(0, Given(ast.Name("self"), function.this))
    for name in (*names, *(each.arg for each in args.kwonlyargs)):
        at = names.index(name) if name in names else len(listed)
        found = given.named.get(name) or (listed[at] if at < len(listed) else None)
        if found is not None:
            inner.given[name] = found.node
        inner.names[name] = _passed(machine, name, found, usual.get(name), given, inner, function)
    if args.vararg is not None:
        inner.names[args.vararg.arg] = Items([one.value for one in listed[len(names) :]])
    if args.kwarg is not None:
        rest: dict[object, Value] = {
            key: one.value
            for key, one in given.named.items()
            if key not in inner.names and key != "**"
        }
        inner.names[args.kwarg.arg] = Table(rest, Unknown() if given.open else None)
    inner.lines.update(dict.fromkeys(inner.names, 0))
    for each in parameters(function.node):
        held = inner.names.get(each.arg)
        if isinstance(held, Tensor) and _is_number(each.annotation):
            inner.names[each.arg] = held.like(held.device, scalar=True)


def _is_number(annotation: ast.expr | None) -> bool:
    """Whether a parameter is said to be a number: a tensor in its place has no dimensions."""
    return isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "bool")


def _passed(
    machine: Machine,
    name: str,
    found: Given | None,
    default: ast.expr | None,
    given: Arguments,
    inner: Frame,
    function: Function,
) -> Value:
    if found is not None:
        return found.value
    if given.open and (rest := given.named.get("**")) is not None:
        return next(iter(tensors_in(rest.value)), Unknown(name))
    if default is not None:
        return function.held.get(default) or machine.evaluate(machine, default, inner)
    return Unknown(name)


def construct(
    machine: Machine, made: Class, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """An object of a user's class."""
    if given.listed and any(name.endswith(("Enum", "Flag")) for name in made.names()):
        return given.listed[0].value  # the member of a value
    found = _bare(machine, made, given, node, frame)
    start = made.find("__init__")
    if isinstance(start, Function):
        run(machine, start.bound(found), given, node, frame)
    elif isinstance(found, Module) and modules.container(machine, found) is not None:
        method_call(machine, found, "__init__", given, node, frame)
    else:
        held = found.plain if isinstance(found, Module) else found.attributes
        held |= filled(machine, made, given, node, frame)
        if isinstance(found, Object) and isinstance(after := made.find("__post_init__"), Function):
            run(machine, after.bound(found), Arguments(), node, frame)
    return found


def _bare(
    machine: Machine, made: Class, given: Arguments, node: ast.AST, frame: Frame
) -> Module | Object:
    """An object of a user's class before its ``__init__`` runs."""
    found: Module | Object
    if modules.of_class(machine, made.foreign()) or modules.runs(machine, made):
        found = Module(made.node.name, None, made)
        found.weights = False
        if (shape := _library_of(machine, made)) is not None:
            found.weights, found.device = shape, machine.for_weights()
    elif any(name.rpartition(".")[2].endswith("Optimizer") for name in made.names()):
        found = Object("optimizer", made)
        weights = next((t for one in given.every() for t in tensors_in(one.value)), None)
        group = Table({"params": Items([], weights)}, Number())
        found.attributes = {"param_groups": Items([], group), "state": State({}, State({}))}
    else:
        found = Object(made.node.name, made)
    found.steps, found.frame = (
        machine.step(EventKind.MADE, node, frame, machine.for_weights()),
        frame,
    )
    if isinstance(found, Module):
        machine.modules.append(found)
    if not isinstance(node, ast.ClassDef):
        machine.objects.setdefault(id(made.node), found)
    return found


def _library_of(machine: Machine, made: Class) -> bool | None:
    """True where a base is a library's model with weights of its own."""
    for name in made.names():
        last = name.rpartition(".")[2]
        holds = last == "Module" or last in machine.torch.module_containers
        if name.startswith("torch.nn.") and not holds:
            return True
        if last.startswith(tuple(machine.torch.model_prefixes)) and "." in name:
            return True
    return None


def forward(
    machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a module."""
    machine.spend()
    found: Value
    if module.runs is not None:
        spot = machine.spot(node, frame)
        return brought(
            module, given, spot, lambda moved: forward(machine, module, moved, node, frame)
        )
    if MAP in module.plain and module.owner is None and module.children:
        kept = module.plain.pop(MAP)
        try:
            found = forward(machine, module, given, node, frame)
        finally:
            module.plain[MAP] = kept
        return given_back(found, given, machine.spot(node, frame))
    if module.made is not None:
        called = module.made.find("forward") or module.made.find("__call__")
        if isinstance(called, Function):
            compare_inputs(machine, module, given, node, frame)
            return run(machine, called.bound(module), given, node, frame)
    if module.children and modules.container(machine, module) == "Sequential":
        current = given
        found = Unknown()
        for each in module.children.values():
            found = forward(machine, each, current, node, frame)
            current = Arguments([Given(one.node, found) for one in current.listed[:1]])
        return found
    if module.kind in ("DataParallel", "DistributedDataParallel"):
        if "module" not in module.children:
            return Unknown()  # a wrapper brings inputs along, whatever it has wrapped
        if module.kind == "DataParallel":
            at_home(machine, module, node, frame)
        given = scattered(module, given, node, machine, frame)
        found = forward(machine, module.children["module"], given, node, frame)
        return Unknown() if is_away(module) else found  # it fails there, and nothing comes after
    if not module.weights and list(module.children) == ["module"]:  # an averaged copy
        return forward(machine, module.children["module"], given, node, frame)
    return applied(machine, module, given, node, frame)


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
        case Class() | Function() if name == "__name__":
            return Const(owner.node.name) if isinstance(owner.node, _Named) else Unknown()
        case Class() if (found := owner.find(name)) is not None:
            return _member(machine, owner, found, node, frame)
        case Tensor():
            return of_tensor(machine, owner, name)
        case Distribution():
            return (None if has_method(name) else told(owner, name)) or Method(owner, name)
        case Batch():
            return of_batch(machine, owner, name)
        case Optimizer() if name in ("state", "param_groups"):
            return _of_optimizer(owner, name)
        case Generator(device=device) if name == "device":
            return Place(device)
        case Place() if name in ("type", "index"):
            said = Const(owner.device.type.value) if name == "type" else Number()
            return said if is_known(owner.device) else Unknown()
        case Unknown():
            return _of_unknown(machine, owner, name, node)
        case Const() if name == "value":  # of a member of an enumeration
            return owner
        case Const() if not isinstance(owner.value, str):
            return Unknown(name)
        case Loader() if name in ("dataset", "tensors"):
            return owner if name == "dataset" else owner.item
        case Partial() if name in ("func", "args", "keywords"):
            return owner.attribute(name)
    if isinstance(owner, Items) and name in ("indices", "values"):
        return next(owner.every(), Unknown())
    return Method(owner, name)


_Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
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


def _of_optimizer(owner: Optimizer, name: str) -> Value:
    if name == "state":
        owner.remembers, owner.loaded = False, None  # whoever asks for it may move it
        return owner.state
    weights = next(tensors_in(owner.weights), None) if owner.weights is not None else None
    return Items([], Table({"params": Items([], weights)}, Number()))


def _of_unknown(machine: Machine, owner: Unknown, name: str, node: ast.AST) -> Value:
    if name == "device" and owner.device is None and not _has_settings(node):
        return Unknown()  # of a tensor, wherever that is
    known = name in (
        "detach",
        "numpy",
        "with_format",
        *machine.torch.moves,
        *machine.torch.indexing,
    )
    return Method(owner, name) if known else Unknown(name)


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
    if (own := _of_any_module(machine, owner, name, node, frame)) is not None:
        return own
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
    return _of_unseen(machine, owner, name, node, frame)


def _of_any_module(
    machine: Machine, owner: Module, name: str, node: ast.AST, frame: Frame
) -> Value | None:
    """What torch and its libraries give each module, or each of a kind."""
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
        return Place(device._replace(home=True)) if is_known(device) else Unknown("device")
    return None


def _of_unseen(machine: Machine, owner: Module, name: str, node: ast.AST, frame: Frame) -> Value:
    """What a module may have that nothing shows."""
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
