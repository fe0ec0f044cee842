"""What methods of tensors, modules, loaders and other library objects do to placement."""

from __future__ import annotations

import ast
from collections.abc import Callable

from diagnose.placement import modules
from diagnose.placement.devices import CPU, HOME, SPLIT, written
from diagnose.placement.frames import Arguments, Frame, Machine, Meets, origin
from diagnose.placement.model import Device, Step
from diagnose.placement.values import (
    Batch,
    Class,
    Const,
    External,
    Function,
    Generator,
    Loader,
    Method,
    Module,
    Number,
    Object,
    Optimizer,
    Place,
    Table,
    Tensor,
    Unknown,
    Value,
    tensors_in,
)
from diagnose.placement.values import Sequence as Items

#: Methods of a module that bring no tensors together.
MODULE = frozenset(
    {
        *(
            "to",
            "cuda",
            "cpu",
            "half",
            "float",
            "double",
            "bfloat16",
            "eval",
            "train",
            "requires_grad_",
        ),
        *(
            "to_empty",
            "parameters",
            "named_parameters",
            "buffers",
            "named_buffers",
            "children",
            "modules",
        ),
        *("named_children", "named_modules", "state_dict", "load_state_dict", "register_buffer"),
        *(
            "register_parameter",
            "register_module",
            "add_module",
            "append",
            "extend",
            "insert",
            "apply",
        ),
        *("zero_grad", "register_forward_hook", "register_forward_pre_hook", "save_pretrained"),
        *("register_full_backward_hook", "items", "values", "keys", "get_submodule", "compile"),
        *("gradient_checkpointing_enable", "resize_token_embeddings", "set_input_embeddings"),
        *(
            "get_input_embeddings",
            "get_output_embeddings",
            "set_output_embeddings",
            "log",
            "log_dict",
        ),
        *(
            "print_trainable_parameters",
            "enable_input_require_grads",
            "merge_and_unload",
            "tie_weights",
        ),
        *(
            "save_hyperparameters",
            "reset",
            "compute",
            "freeze",
            "unfreeze",
            "push_to_hub",
            "add_adapter",
        ),
        *(
            "enable_model_cpu_offload",
            "enable_sequential_cpu_offload",
            "set_adapter",
            "join",
            "type",
        ),
    }
)
_RUN = (
    "generate",
    "encode",
    "predict",
    "embed",
    "sample",
    "update",
    "get_",
    "forward",
    "decode",
    "compute_",
)
#: Methods of model libraries that put new layers in.
GROWING = frozenset(
    {
        *("add_adapter", "load_adapter", "add_classification_head", "resize_token_embeddings"),
        *(
            "add_fusion",
            "add_adapter_fusion",
            "set_classifier",
            "reset_classifier",
            "inject_adapter",
        ),
    }
)
_NUMBERS = frozenset(
    {
        *(
            "size",
            "dim",
            "numel",
            "item",
            "tolist",
            "element_size",
            "ndimension",
            "nelement",
            "stride",
        ),
        *(
            "is_cuda",
            "requires_grad",
            "ndim",
            "shape",
            "is_floating_point",
            "dtype",
            "is_contiguous",
        ),
    }
)
_NO_TENSORS = frozenset({"copy_", "to", "type_as", "new_tensor", "set_", "register_hook"})


def is_method(name: str) -> bool:
    """Whether a name of a library's module is a method that runs it."""
    return name.startswith(_RUN)


def call(
    machine: Machine, owner: Value, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of a method of a library's object."""
    match owner:
        case Tensor():
            return _tensor(machine, owner, name, given, node, frame)
        case Batch():
            return _batch(machine, owner, name, given, node, frame)
        case Module():
            return _module(machine, owner, name, given, node, frame)
        case Items() | Table():
            return _container(owner, name, given)
        case Object():
            return _object(machine, owner, name, given, node, frame)
        case Optimizer():
            return _optimizer(machine, owner, name, given, node, frame)
        case Generator():
            return owner
        case Class():
            return _class(machine, owner, name, given, node, frame)
        case Loader() if name in (
            "with_format",
            "set_format",
            "map",
            "filter",
            "shuffle",
            "select",
        ):
            return owner
        case Unknown() if name in ("to", "cuda", "cpu"):
            device = _target(machine, name, given)
            return Tensor(device, "other", (_move(machine, given, node, frame, device),), frame)
        case External(dotted="os.environ") if name == "get":
            return Unknown(given.text("", 0) or "")
        case Const(value=str()) if name in ("format", "replace", "join", "lower", "strip"):
            return Unknown()
    return Unknown()


def _target(machine: Machine, name: str, given: Arguments) -> Device | None:
    """The device that ``.to(...)``, ``.cuda(...)`` or ``.cpu()`` moves to."""
    if name == "cpu":
        return CPU
    if name == "cuda":
        if not given.every():
            return machine.home()
        return machine.asked(given.every()[0].value) or HOME
    found = given.get("device", 0)
    return machine.asked(found.value) if found is not None else None


def _move(
    machine: Machine, given: Arguments, node: ast.AST, frame: Frame, device: Device | None
) -> Step:
    """The step of a move, with the literal that its device was written as."""
    said = given.get("device", 0)
    return Step(
        "moved", machine.spot(node, frame), device, origin(said.value) if said is not None else None
    )


def _moves(given: Arguments, name: str) -> bool:
    """False for ``.to(dtype)``."""
    if name in ("cuda", "cpu"):
        return True
    found = given.get("device", 0)
    if found is None:
        return False
    dotted = found.value.dotted if isinstance(found.value, External) else ""
    return not dotted.startswith("torch.")


# --- tensors ------------------------------------------------------------------------------------------


def of_tensor(owner: Tensor, name: str) -> Value:
    """An attribute of a tensor."""
    if name == "device":
        return Place(owner.device, owner.steps) if owner.device is not None else Unknown()
    if name in ("T", "mT", "H", "data", "grad", "real", "imag"):
        return owner.like(owner.device)
    if name == "shape":
        return Items([], Number())
    return Method(owner, name)


def _tensor(
    machine: Machine, owner: Tensor, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in ("to", "cuda", "cpu"):
        if not _moves(given, name):
            return owner.like(owner.device)
        device = _target(machine, name, given)
        return owner.like(device, _move(machine, given, node, frame, device))
    receiver = Meets(getattr(getattr(node, "func", node), "value", node), owner, owner)
    if name in ("numpy", "__array__"):
        if "force" not in given.named:
            machine.meet("host", node, frame, [receiver])
        return Unknown("array")
    if name in ("size", "shape"):
        return Number() if given.every() else Items([], Number())
    if name in _NUMBERS:
        return Number()
    if name == "type_as":
        other = next((one.value for one in given.every() if isinstance(one.value, Tensor)), None)
        return owner.like(other.device if other else None)
    if name.startswith("new_"):
        device = (
            machine.asked(given.named["device"].value) if "device" in given.named else owner.device
        )
        return Tensor(device, "factory", machine.step("made", node, frame, device), frame)
    if name in ("backward", "register_hook"):
        return Const(None)
    if name in ("chunk", "split", "unbind", "topk", "sort", "max", "min") and name != "max":
        return Items([], owner.like(owner.device))
    others = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
    if name not in _NO_TENSORS:
        others += unknowns(given)
    if others and name not in _NO_TENSORS:
        kind = (
            "index" if name in ("index_select", "masked_select", "take", "index_fill_") else "join"
        )
        machine.meet(kind, node, frame, [receiver, *others])
    scalar = True if name in ("mean", "sum", "norm", "prod") and not given.every() else None
    return owner.like(owner.device, scalar=scalar)


# --- batches ------------------------------------------------------------------------------------------


def of_batch(owner: Batch, name: str) -> Value:
    """An attribute of a batch: one of its tensors, unless it is a method or a number."""
    if name in (
        "to",
        "cuda",
        "cpu",
        "items",
        "keys",
        "values",
        "get",
        "pop",
        "update",
        "numpy",
        "copy",
        "pin_memory",
    ):
        return Method(owner, name)
    if name.startswith("num_"):
        return Number()
    return owner.inner.like(owner.inner.device)


def _batch(
    machine: Machine, owner: Batch, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in ("to", "cuda", "cpu"):
        device = _target(machine, name, given)
        moved = owner.inner.like(device, _move(machine, given, node, frame, device))
        if owner.mutable:
            owner.inner = moved
            return owner
        return Batch(moved)
    if name == "items":
        return Items([], Items([Unknown("key"), owner.inner.like(owner.inner.device)]))
    if name in ("values", "get", "pop"):
        inner = owner.inner.like(owner.inner.device)
        return Items([], inner) if name == "values" else inner
    if name in ("keys",):
        return Items([], Unknown("key"))
    return _tensor(machine, owner.inner, name, given, node, frame)


# --- modules ------------------------------------------------------------------------------------------


def applied(
    machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A library's module meets its inputs, and its parts meet each other."""
    where = module.where()
    if module.kind in ("Identity", "Dropout", "Flatten") and given.listed:
        return given.listed[0].value
    inputs = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
    sides = list(inputs)
    called = getattr(node, "func", node)
    for one in module.family():
        for name, tensor in one.tensors.items():
            sides.insert(0, Meets(called, _with(tensor, one, name), tensor))
        if one.weights and (one is module or one.device != where):
            weight = Tensor(one.device, "weight", one.steps, one.frame, module=one, name="weight")
            sides.insert(0, Meets(called, one, weight))
    _draws(machine, where, given, node, frame)
    if where != SPLIT and sides:
        machine.meet("call", node, frame, [*sides, *unknowns(given)])
    device = where
    if where == SPLIT:
        device = None
    elif where is None:
        device = next((side.tensor.device for side in inputs if side.tensor.device), None)
    output = Tensor(
        device, "output", machine.step("made", node, frame, device), frame, module=module
    )
    if module.kind in ("LSTM", "GRU", "RNN"):
        hidden = Items([output.like(device), output.like(device)])
        return Items([output, hidden if module.kind == "LSTM" else output.like(device)])
    if module.kind == "MultiheadAttention":
        return Items([output, output.like(device)])
    if module.kind.endswith("Loss"):
        output.scalar = True
    return Batch(output) if module.kind.startswith(("transformers", "diffusers")) else output


def _draws(
    machine: Machine, where: Device | None, given: Arguments, node: ast.AST, frame: Frame
) -> None:
    """A generator that is handed to a module draws where the module's weights are."""
    for one in given.every():
        if isinstance(one.value, Generator):
            there = Tensor(one.value.device, "generator", one.value.steps, one.value.frame)
            here = Tensor(where, "weight", (), frame)
            machine.meet(
                "generator",
                node,
                frame,
                [Meets(one.node, one.value, there), Meets(node, here, here)],
            )


def _with(tensor: Tensor, module: Module, name: str) -> Tensor:
    """A tensor of a module that remembers whose it is."""
    if tensor.module is None:
        tensor.module, tensor.name = module, name
    return tensor


def _module(
    machine: Machine, owner: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in ("to", "cuda", "cpu", "to_empty"):
        if _moves(given, name):
            device = _target(machine, name, given)
            before = owner.where()
            if before is not None and before.type == "meta" and name != "to_empty":
                weight = Tensor(before, "weight", owner.steps, owner.frame, module=owner)
                machine.meet("meta", node, frame, [Meets(node, owner, weight)])
            if before != SPLIT:
                owner.move(device, _move(machine, given, node, frame, device))
        return owner
    if name in ("register_buffer", "register_parameter") and (said := given.text("name", 0)):
        value = given.get("tensor", 1) or given.get("param", 1)
        if value is not None:
            modules.buffer(machine, owner, said, value.value, node, frame)
        return Const(None)
    if name in ("add_module", "register_module") and len(given.listed) > 1:
        modules.put(
            machine, owner, given.text("name", 0) or "?", given.listed[1].value, node, frame
        )
        return Const(None)
    if name in ("append", "insert") and given.listed:
        modules.put(machine, owner, str(len(owner.children)), given.listed[-1].value, node, frame)
        return owner
    if name == "extend" and given.listed and isinstance(given.listed[0].value, Items):
        for value in given.listed[0].value.every():
            modules.put(machine, owner, str(len(owner.children)), value, node, frame)
        return owner
    if name in ("parameters", "buffers"):
        weight = Tensor(owner.where(), "weight", owner.steps, owner.frame, module=owner)
        return Items([], weight)
    if name in ("named_parameters", "named_buffers"):
        weight = Tensor(owner.where(), "weight", owner.steps, owner.frame, module=owner)
        return Items([], Items([Unknown("name"), weight]))
    if name in ("children", "modules", "values"):
        found = list(owner.children.values())
        return Items(list(found), None if found else Unknown())
    if name in ("named_children", "named_modules", "items"):
        some: Value = next(iter(owner.children.values()), Unknown())
        return Items([], Items([Unknown("name"), some]))
    if name == "state_dict":
        weight = Tensor(owner.where(), "weight", owner.steps, owner.frame, module=owner)
        return Table({}, weight)
    if name in ("get_input_embeddings", "get_output_embeddings", "get_submodule"):
        return owner.children.get(name) or modules.child(owner, name)
    if name in ("enable_model_cpu_offload", "enable_sequential_cpu_offload"):
        owner.move(SPLIT, Step("moved", machine.spot(node, frame), SPLIT))
        return Const(None)
    if name == "merge_and_unload" or name in (
        "eval",
        "train",
        "half",
        "float",
        "double",
        "requires_grad_",
        "apply",
        "bfloat16",
    ):
        return owner
    if name == "load_state_dict":
        held = given.get("assign")
        if held is not None and (state := given.get("state_dict", 0)) is not None:
            weight = next(tensors_in(state.value), None)
            strict = given.named.get("strict")
            partly = (
                strict is not None and isinstance(strict.value, Const) and not strict.value.value
            )
            device = weight.device if weight and not partly else None
            owner.move(device, Step("loaded", machine.spot(node, frame)))
        return Unknown()
    if name in GROWING:
        owner.steps = (*owner.steps, Step("grown", machine.spot(node, frame), owner.where()))
    if name in MODULE:
        return Unknown()
    if owner.made is None and (
        is_method(name) or any(tensors_in(one.value) for one in given.every())
    ):
        return applied(machine, owner, given, node, frame)
    return Unknown()


# --- containers, loaders, optimizers, other objects ---------------------------------------------------


def _container(owner: Value, name: str, given: Arguments) -> Value:
    first = given.listed[0].value if given.listed else None
    if isinstance(owner, Items):
        if name in ("append", "add", "appendleft") and first is not None:
            modules.hold(owner, first)
            if len(owner.items) < 64:
                owner.items.append(first)
        elif name == "insert" and len(given.listed) > 1:
            owner.items.append(given.listed[1].value)
        elif name == "extend" and isinstance(first, Items):
            owner.items.extend(list(first.every())[:64])
        elif name in ("pop", "popleft"):
            return next(owner.every(), Unknown())
        elif name == "copy":
            return Items(list(owner.items), owner.more)
        return Const(None) if name in ("append", "extend", "add", "insert") else Unknown()
    assert isinstance(owner, Table)
    some: Value = next(owner.every(), Unknown())
    match name:
        case "items":
            pairs: list[Value] = [Items([Const(key), value]) for key, value in owner.items.items()]
            return Items(pairs, Items([Unknown("key"), owner.more]) if owner.more else None)
        case "values":
            return Items(list(owner.items.values()), owner.more)
        case "get" | "pop" | "setdefault":
            key = first.value if isinstance(first, Const) else None
            if key in owner.items:
                return owner.items[key]
            if name == "setdefault" and len(given.listed) > 1:
                owner.more = given.listed[1].value
                return owner.more
            return owner.more or (given.listed[1].value if len(given.listed) > 1 else Unknown())
        case "update":
            if isinstance(first, Table):
                owner.items |= first.items
                owner.more = first.more or owner.more
            return Const(None)
    return some if False else Unknown()


def _object(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    run = _OBJECTS.get(owner.kind)
    if run is not None:
        return run(machine, owner, name, given, node, frame)
    return library_call(machine, owner.attributes.get(HELD), given, node, frame)


#: The tensors that a library's object was given when it was made.
HELD = "<held>"


def unknowns(given: Arguments) -> list[Meets]:
    """Arguments of which nothing is known: they may be tensors."""
    return [
        Meets(one.node, one.value, Tensor(None))
        for one in given.every()
        if isinstance(one.value, Unknown)
    ]


def _host(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    sides = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
    if sides:
        machine.meet("host", node, frame, sides)
    return owner if name.startswith("fit") else Unknown("array")


def library_call(
    machine: Machine, held: Value | None, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A call of which nothing is known but the tensors that it is given, and was given before."""
    sides = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
    if held is not None:
        called = getattr(getattr(node, "func", node), "value", node)
        sides = [*(Meets(called, t, t) for t in tensors_in(held)), *sides]
    drawn = [one for one in given.every() if isinstance(one.value, Generator)]
    for one in drawn:
        assert isinstance(one.value, Generator)
        there = Tensor(one.value.device, "generator", one.value.steps, one.value.frame)
        machine.meet("generator", node, frame, [Meets(one.node, one.value, there)])
    if len(sides) > 1:
        machine.meet("library", node, frame, sides)
        known = next(
            (s.tensor for s in sides if s.tensor.device not in (None, CPU)), sides[0].tensor
        )
        return known.like(known.device if known.device != CPU else None)
    return Unknown()


def _tokenizer(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in (
        "__call__",
        "encode",
        "encode_plus",
        "batch_encode_plus",
        "pad",
        "apply_chat_template",
    ):
        if given.text("return_tensors") is None and name != "__call__":
            return Unknown()
        made = Tensor(CPU, "tokens", machine.step("made", node, frame, CPU), frame)
        return made if name in ("encode",) else Batch(made, mutable=True)
    return Unknown()


def _accelerator(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    home = machine.home()
    if name == "prepare":
        found = [_prepared(machine, one.value, home, node, frame) for one in given.listed]
        return found[0] if len(found) == 1 else Items(found)
    if name in ("prepare_model", "unwrap_model", "prepare_data_loader", "prepare_optimizer"):
        if given.listed:
            value = given.listed[0].value
            return value if name == "unwrap_model" else _prepared(machine, value, home, node, frame)
    if name in ("gather", "gather_for_metrics", "reduce") and given.listed:
        return given.listed[0].value
    return Unknown()


def _prepared(machine: Machine, value: Value, home: Device, node: ast.AST, frame: Frame) -> Value:
    step = Step("moved", machine.spot(node, frame), home)
    if isinstance(value, Module):
        if value.where() != SPLIT:
            value.move(home, step)
    elif isinstance(value, Loader):
        return Loader(moved(value.item, home, step))
    return value


def moved(value: Value, device: Device | None, step: Step) -> Value:
    """A value whose tensors are elsewhere."""
    match value:
        case Tensor():
            return value.like(device, step)
        case Batch():
            return Batch(value.inner.like(device, step), mutable=value.mutable)
        case Items():
            more = moved(value.more, device, step) if value.more is not None else None
            return Items([moved(item, device, step) for item in value.items], more)
        case Table():
            more = moved(value.more, device, step) if value.more is not None else None
            return Table({k: moved(item, device, step) for k, item in value.items.items()}, more)
    return value


def _trainer(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in ("fit", "test", "validate", "predict", "train"):
        model = next((one.value for one in given.every() if isinstance(one.value, Module)), None)
        if model is not None and model.where() != SPLIT:
            home = machine.home()
            model.move(home, Step("moved", machine.spot(node, frame), home))
    return Unknown()


def _parser(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """An `argparse` parser: what it parses are attributes of which only the names are known."""
    if name == "add_argument":
        said = given.text("", 0) or ""
        default = given.named.get("default")
        if said.startswith("--") and default is not None:
            owner.attributes[said.removeprefix("--").replace("-", "_")] = _default(default.value)
    if name in ("parse_args", "parse_known_args"):
        found = Object("namespace")
        found.attributes = dict(owner.attributes)
        return found if name == "parse_args" else Items([found, Unknown()])
    return owner if name == "add_argument_group" else Unknown()


def _default(value: Value) -> Value:
    """The default of an option: a device is taken for what the program is run with, all else is open."""
    if (
        isinstance(value, Const)
        and isinstance(value.value, str)
        and written(value.value) is not None
    ):
        return value
    return (
        Number() if isinstance(value, Const) and isinstance(value.value, int | float) else Unknown()
    )


_Run = Callable[[Machine, Object, str, Arguments, ast.AST, Frame], Value]
_OBJECTS: dict[str, _Run] = {
    "tokenizer": _tokenizer,
    "accelerator": _accelerator,
    "trainer": _trainer,
    "parser": _parser,
    "host": _host,
}


def _optimizer(
    machine: Machine, owner: Optimizer, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name == "load_state_dict" and owner.module is not None:
        where = owner.module.where() if owner.module is not None else None
        owner.loaded = Step("loaded", machine.spot(node, frame), where)
    if name == "step" and owner.loaded is not None and owner.module is not None:
        state = Tensor(owner.loaded.device, "state", (owner.loaded,), frame, module=owner.module)
        weight = Tensor(owner.module.where(), "weight", owner.module.steps, module=owner.module)
        machine.meet("state", node, frame, [Meets(node, owner, state), Meets(node, owner, weight)])
    return Unknown()


def _class(
    machine: Machine, owner: Class, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in ("from_pretrained", "load_from_checkpoint", "from_config") and modules.of_class(
        tuple(owner.names())[1:]
    ):
        return machine.invoke(machine, owner, Arguments(), node, frame)
    if name == "apply":  # of an autograd function
        found = owner.find("forward")
        if isinstance(found, Object) and isinstance(
            function := found.attributes.get("call"), Function
        ):
            context = Arguments([*given.listed[:0], *given.listed])
            return machine.invoke(machine, function.bound(Object("ctx")), context, node, frame)
    return Unknown()
