"""What calls of torch, of model libraries and of Python's own functions give."""

from __future__ import annotations

import ast
import re

from diagnose.placement import methods, modules, vocabulary
from diagnose.placement.devices import CPU, HOME, META, SPLIT
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
    modules_in,
    tensors_in,
)
from diagnose.placement.values import Sequence as Items

_MODEL_CLASS = re.compile(
    r"(Model|For[A-Z]\w*|Net\w*|Pipeline|Encoder\w*|Decoder|Autoencoder\w*|AutoencoderKL|Module|Conv|Layer|VAE|UNet\w*)$"
)
_TOKENIZER = re.compile(r"(Tokenizer(Fast)?|Processor|FeatureExtractor)$")
_PLAIN = re.compile(
    r"(Config|Scheduler|Arguments|Args|Collator\w*|Criteria|Streamer|Logger|Callback|Dataset|Transform)$"
)


def call(machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """The result of calling a name of a library."""
    dotted = vocabulary.plain(dotted)
    root, _, last = dotted.partition(".")[0], "", dotted.rpartition(".")[2]
    if root == "builtins":
        return _builtin(machine, last, given, node, frame)
    if root == "torch":
        return _torch(machine, dotted, last, given, node, frame)
    if root in ("numpy", "matplotlib", "sklearn", "scipy", "pandas", "cv2", "PIL", "seaborn"):
        sides = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
        if sides and root in vocabulary.HOST:
            machine.meet("host", node, frame, sides)
        return (
            Object("host") if last[:1].isupper() and root in vocabulary.HOST else Unknown("array")
        )
    if dotted in ("copy.deepcopy", "copy.copy") and given.listed:
        return _copied(given.listed[0].value, machine.step("made", node, frame))
    if last in (
        "get_peft_model",
        "prepare_model_for_kbit_training",
        "compile",
        "inject_adapter_in_model",
    ):
        return given.listed[0].value if given.listed else Unknown()
    if dotted.endswith(("argparse.Namespace", "SimpleNamespace")):
        named = Object("namespace")
        named.attributes = {name: one.value for name, one in given.named.items()}
        return named
    if root == "argparse":
        return Object("parser")
    if dotted.endswith("getLogger"):
        return Unknown()
    return _of_models(machine, dotted, root, last, given, node, frame)


def _copied(value: Value, step: tuple[Step]) -> Value:
    if isinstance(value, Module):
        found = Module(value.kind, value.device, value.made)
        found.weights, found.steps, found.frame = (
            value.weights,
            (*step, *value.steps[1:]),
            value.frame,
        )
        found.plain = dict(value.plain)
        found.tensors = {k: t.like(t.device) for k, t in value.tensors.items()}
        for name, child in value.children.items():
            copied = _copied(child, step)
            assert isinstance(copied, Module)
            copied.owner = found
            found.children[name] = copied
        return found
    return value


# --- torch --------------------------------------------------------------------------------------------


def _torch(
    machine: Machine, dotted: str, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if dotted in ("torch.device", "torch.cuda.device"):
        device = machine.asked(given.get("device", 0).value if given.get("device", 0) else None)
        if len(given.listed) > 1 and device is not None:
            device = machine.asked(given.listed[1].value) or HOME
        return Place(device or HOME, machine.step("made", node, frame, device))
    if dotted.startswith("torch.cuda.") and last.endswith("Tensor"):
        device = machine.home()
        return Tensor(device, "factory", machine.step("made", node, frame, device), frame)
    if dotted.startswith(("torch.cuda.", "torch.backends")):
        return _cuda(machine, last, given)
    if dotted == "torch.set_default_device" and given.listed:
        machine.default = machine.asked(given.listed[0].value) or machine.default
        return Const(None)
    if dotted == "torch.set_default_tensor_type" and "cuda" in (given.text("t", 0) or ""):
        machine.default = machine.home()
        return Const(None)
    if last in vocabulary.FACTORIES or (last.endswith("_like") and dotted.count(".") == 1):
        return _made(machine, last, given, node, frame)
    if dotted == "torch.Generator":
        device = machine.asked(given.get("device", 0).value) if given.get("device", 0) else CPU
        found = Generator(device or HOME)
        found.steps, found.frame = machine.step("made", node, frame, device), frame
        return found
    if dotted == "torch.load":
        return _loaded(machine, given.get("map_location", 1), node, frame)
    if dotted in ("torch.jit.load", "torch.hub.load"):
        return _module(machine, last, node, frame)
    if dotted in ("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.freeze"):
        return given.listed[0].value if given.listed else Unknown()
    if dotted.startswith("torch.utils.data"):
        return _data(machine, last, given, node, frame)
    if dotted.startswith("torch.optim") and not dotted.startswith("torch.optim.lr_scheduler"):
        return _optimizer(machine, last, given, node, frame)
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer"):
        value = given.listed[0].value if given.listed else None
        made = value if isinstance(value, Tensor) else Tensor(machine.default, "weight")
        weight = made.like(made.device, Step("made", machine.spot(node, frame), made.device))
        weight.maker, weight.frame = "weight", frame
        return weight
    if dotted.startswith("torch.nn.") and last[:1].isupper():
        return _layer(machine, last, given, node, frame)
    if dotted.startswith(
        ("torch.nn.init", "torch.distributed", "torch.manual_seed", "torch.save", "torch.is_")
    ):
        return Unknown()
    if last == "pad_packed_sequence" and given.listed:
        inner = next(tensors_in(given.listed[0].value), None)
        lengths = Tensor(CPU, "other", machine.step("made", node, frame, CPU), frame)
        return Items([inner or Unknown(), lengths])
    if last == "pad_sequence" and given.listed:
        return next(tensors_in(given.listed[0].value), Unknown())
    if last == "pack_padded_sequence" and len(given.listed) > 1:
        lengths = [Meets(given.listed[1].node, t, t) for t in tensors_in(given.listed[1].value)]
        machine.meet("host", node, frame, lengths)
        return given.listed[0].value
    return _operation(machine, last, given, node, frame)


def _operation(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A function of torch: its tensors meet."""
    sides = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
    drawn = given.named.get("generator")
    if drawn is not None and isinstance(drawn.value, Generator) and sides:
        there = Tensor(drawn.value.device, "generator", drawn.value.steps, drawn.value.frame)
        machine.meet("generator", node, frame, [Meets(drawn.node, drawn.value, there), sides[0]])
    if sides:
        index = last in ("index_select", "take", "gather", "masked_select")
        open_ = [] if index else methods.unknowns(given)
        machine.meet("index" if index and len(sides) > 1 else "join", node, frame, [*sides, *open_])
    if not sides:
        return Tensor(None, "other", (), frame) if last in vocabulary.RESULTS else Unknown()
    wide = [side.tensor for side in sides if not side.tensor.scalar] or [
        side.tensor for side in sides
    ]
    known = next((t for t in wide if t.device is not None and t.device.type != "cpu"), wide[0])
    if last in ("split", "chunk", "unbind", "topk", "sort", "meshgrid", "max", "min", "unique"):
        return (
            Items([], known.like(known.device))
            if last not in ("max", "min")
            else known.like(known.device)
        )
    scalar = last in ("mse_loss", "cross_entropy", "l1_loss", "nll_loss") or (
        last in ("mean", "sum") and len(given.every()) == 1
    )
    return known.like(known.device, scalar=scalar)


def _cuda(machine: Machine, last: str, given: Arguments) -> Value:
    match last:
        case "is_available":
            return Const(True)
        case "set_device":
            value = given.listed[0].value if given.listed else None
            place = machine.asked(value)
            machine.current = (place or HOME)._replace(home=True)
            return Const(None)
        case "device_count":
            return Const(2)  # what fails with one GPU fails with two, and not the other way round
        case "current_device":
            return Number()
    return Unknown()


def _made(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A factory: on the device that it is told, or that of the tensor that it resembles."""
    said = given.named.get("device")
    first = given.listed[0].value if given.listed else None
    device: Device | None = machine.default
    if last.endswith("_like"):
        device = first.device if isinstance(first, Tensor) else None
    elif last in ("tensor", "as_tensor", "asarray") and (
        inner := next(tensors_in(first), None) if first else None
    ):
        device = inner.device
    elif last in ("from_numpy", "frombuffer"):
        device = CPU
    if said is not None and not (isinstance(said.value, Const) and said.value.value is None):
        device = machine.asked(said.value)
        if isinstance(said.value, Unknown) and device == HOME and said.value.word != "device":
            device = None
    drawn = given.named.get("generator")
    if drawn is not None and isinstance(drawn.value, Generator):
        there = Tensor(drawn.value.device, "generator", drawn.value.steps, drawn.value.frame)
        here = Tensor(device, "factory", machine.step("made", node, frame, device), frame)
        machine.meet(
            "generator",
            node,
            frame,
            [Meets(drawn.node, drawn.value, there), Meets(node, here, here)],
        )
    maker = "array" if last in ("from_numpy", "frombuffer") else "factory"
    if last in ("tensor", "as_tensor") and isinstance(first, Unknown) and first.word == "array":
        maker = "array"
    number = last in ("tensor", "as_tensor", "scalar_tensor") and isinstance(first, Const | Number)
    number = number or (isinstance(first, Items) and not first.items and first.more is None)
    of = origin(said.value) if said is not None else machine.default_of
    return Tensor(
        device, maker, machine.step("made", node, frame, device, of), frame, scalar=number
    )


def _loaded(machine: Machine, where: object, node: ast.AST, frame: Frame) -> Value:
    value = getattr(where, "value", None)
    device = machine.asked(value) if value is not None else None
    inner = Tensor(device, "load", machine.step("loaded", node, frame, device), frame)
    found = Table({}, None)
    found.more = Table({}, inner)
    found.steps = inner.steps
    return Batch(inner)


def _data(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    first = given.listed[0].value if given.listed else None
    if last == "TensorDataset":
        return Loader(Items([one.value for one in given.listed]))
    if last.endswith("DataLoader"):
        if first is None and "dataset" in given.named:
            first = given.named["dataset"].value
        collate = given.named.get("collate_fn")
        if collate is not None and isinstance(collate.value, Function):
            rows = Items([], _item(machine, first, node, frame))
            made = machine.invoke(
                machine,
                collate.value,
                Arguments([type(given.listed[0])(collate.node, rows)] if given.listed else []),
                node,
                frame,
            )
            if next(tensors_in(made), None) is not None:
                return Loader(_collated(made, machine, node, frame))
        return Loader(_collated(_item(machine, first, node, frame), machine, node, frame))
    drawn = given.named.get("generator")
    if drawn is not None and isinstance(drawn.value, Generator):
        there = Tensor(drawn.value.device, "generator", drawn.value.steps, drawn.value.frame)
        here = Tensor(CPU, "factory", machine.step("made", node, frame, CPU), frame)
        machine.meet(
            "generator",
            node,
            frame,
            [Meets(drawn.node, drawn.value, there), Meets(node, here, here)],
        )
    if last in ("Subset", "ConcatDataset", "random_split"):
        return (
            Loader(_item(machine, first, node, frame))
            if last != "random_split"
            else Items([], first)
        )
    return Unknown()


def _item(machine: Machine, data: Value | None, node: ast.AST, frame: Frame) -> Value:
    """What a data set yields."""
    if isinstance(data, Loader):
        return data.item
    if isinstance(data, Object) and data.made is not None:
        getter = data.made.find("__getitem__")
        if isinstance(getter, Function):
            given = Arguments()
            return machine.invoke(machine, getter.bound(data), given, node, frame)
    if isinstance(data, Items) and (data.items or data.more):
        return next(iter(data.every()))
    if isinstance(data, Tensor):
        return data
    return Unknown()


def _collated(item: Value, machine: Machine, node: ast.AST, frame: Frame) -> Value:
    """A batch of items: what is no tensor becomes one on the cpu."""
    match item:
        case Tensor():
            drawn = item.like(item.device)
            if item.maker in ("factory", "array", "other"):
                drawn.maker = "batch"
            return drawn
        case Items(items=items) if items:
            return Items([_collated(each, machine, node, frame) for each in items])
        case Table(items=items) if items:
            return Table({k: _collated(each, machine, node, frame) for k, each in items.items()})
        case Batch():
            return item
        case Const(value=str()):
            return item
        case Const() | Number():
            return Tensor(CPU, "batch", machine.step("made", node, frame, CPU), frame)
    return Batch(Tensor(CPU, "batch", machine.step("made", node, frame, CPU), frame))


#: Optimizers that make their state when they are made, and not in their first step.
_EARLY = frozenset({"Adagrad"})


def _optimizer(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    weights = [t for one in given.every() for t in tensors_in(one.value) if t.module is not None]
    module = weights[0].module if weights else None
    while module is not None and module.owner is not None:
        module = module.owner
    found = Optimizer(module, weights[0] if weights else None)
    found.steps = machine.step("made", node, frame, module.where() if module else None)
    if last in _EARLY:
        found.loaded = found.steps[0]
    found.frame = frame
    return found


# --- modules ------------------------------------------------------------------------------------------


def _module(machine: Machine, kind: str, node: ast.AST, frame: Frame) -> Module:
    found = Module(kind, machine.default)
    made = machine.step("made", node, frame, machine.default, machine.default_of)
    found.steps, found.frame = made, frame
    return found


def _layer(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    found = _module(machine, last, node, frame)
    said = given.named.get("device")
    if said is not None:
        found.device = machine.asked(said.value)
    if last in ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"):
        found.weights = False
        found.device = None
        first = given.listed[0].value if given.listed else None
        parts: list[tuple[str, Value]] = []
        if last == "Sequential" and not isinstance(first, Items | Table):
            parts = [(str(i), one.value) for i, one in enumerate(given.listed)]
        elif isinstance(first, Items):
            parts = [(str(i), value) for i, value in enumerate(first.every())]
        elif isinstance(first, Table):
            parts = [(str(key), value) for key, value in first.items.items()]
            parts += [("?", first.more)] if first.more is not None else []
        for name, value in parts:
            if isinstance(value, Module | Tensor):
                modules.put(machine, found, name, value, node, frame)
        return found
    if last in ("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"):
        return _parallel(machine, found, last, given, node, frame)
    if (
        last in vocabulary.WEIGHTLESS
        or last.endswith("Loss")
        or last.startswith(("Dropout", "MaxPool", "AvgPool", "Adaptive", "Upsample"))
    ):
        found.weights = False
        found.device = None
    for name, one in given.named.items():
        if isinstance(one.value, Tensor) and name in ("weight", "pos_weight"):
            held = one.value.like(one.value.device)
            held.module, held.name = found, name
            found.tensors[name] = held
    if last == "CrossEntropyLoss" and given.listed and isinstance(given.listed[0].value, Tensor):
        found.tensors["weight"] = given.listed[0].value
    return found


def _parallel(
    machine: Machine, found: Module, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    inner = given.get("module", 0)
    found.weights = False
    found.device = None
    if inner is None or not isinstance(inner.value, Module):
        return found
    found.children["module"] = inner.value
    inner.value.steps = (*inner.value.steps, Step("wrapped", machine.spot(node, frame)))
    ids = given.get("device_ids", 1)
    first: Value | None = None
    if (said := given.named.get("device_id")) is not None:
        first = said.value
    if ids is not None and isinstance(ids.value, Items):
        first = next(ids.value.every(), None)
    home = (
        machine.asked(first)
        if first is not None
        else (Device("cuda", 0) if last == "DataParallel" else machine.home())
    )
    found.plain["device_ids[0]"] = Place(home) if home is not None else Unknown()
    found.steps = machine.step("wrapped", node, frame, home)
    if last != "DataParallel" and home is not None and home.ranked:
        at_home(machine, found, node, frame)
    return found


def scattered(
    wrapped: Module, given: Arguments, node: ast.AST, machine: Machine, frame: Frame
) -> Arguments:
    """The arguments of a wrapper, which brings them to its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if not isinstance(home, Place):
        return given
    step = Step("moved", machine.spot(node, frame), home.device)
    return Arguments(
        [one._replace(value=methods.moved(one.value, home.device, step)) for one in given.listed],
        {
            k: one._replace(value=methods.moved(one.value, home.device, step))
            for k, one in given.named.items()
        },
        given.open,
    )


def at_home(machine: Machine, wrapped: Module, node: ast.AST, frame: Frame) -> None:
    """``nn.DataParallel`` wants the weights of its module on its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if not isinstance(home, Place):
        return
    inner = wrapped.children["module"]
    weight = Tensor(inner.where(), "weight", inner.steps, inner.frame, module=inner)
    there = Tensor(home.device, "home", wrapped.steps, wrapped.frame, module=wrapped)
    machine.meet("home", node, frame, [Meets(node, inner, weight), Meets(node, wrapped, there)])


def _of_models(
    machine: Machine,
    dotted: str,
    root: str,
    last: str,
    given: Arguments,
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Model libraries: what is known of their names."""
    owner = dotted.rpartition(".")[0].rpartition(".")[2]
    if last == "DataParallel":
        return _parallel(machine, _module(machine, last, node, frame), last, given, node, frame)
    if last in (
        "from_pretrained",
        "from_config",
        "from_checkpoint",
        "load_from_checkpoint",
        "from_single_file",
    ):
        if _TOKENIZER.search(owner):
            return Object("tokenizer")
        if _PLAIN.search(owner):
            return Object("plain")
        if given.listed and isinstance(given.listed[0].value, Module):
            return given.listed[0].value  # an adapter put on a model
        found = _module(machine, f"{root}.{owner}", node, frame)
        _mapped(machine, found, given, node, frame)
        return found
    if _TOKENIZER.search(last):
        return Object("tokenizer")
    if last == "Accelerator":
        return Object("accelerator")
    if last.endswith("Trainer") and last[:1].isupper():
        return _trainer(machine, last, given, node, frame)
    if last in (
        "load_dataset",
        "ImageFolder",
        "MNIST",
        "CIFAR10",
        "FashionMNIST",
        "CIFAR100",
        "Planetoid",
        "TUDataset",
    ):
        return Loader(
            Batch(
                Tensor(CPU, "batch", machine.step("made", node, frame, CPU), frame), mutable=False
            )
        )
    if last.endswith(("DataLoader", "NeighborLoader", "Loader")) and last[:1].isupper():
        first = given.listed[0].value if given.listed else None
        return Loader(_collated(_item(machine, first, node, frame), machine, node, frame))
    if last == "dispatch_model" or last == "load_checkpoint_and_dispatch":
        model = given.listed[0].value if given.listed else None
        if isinstance(model, Module):
            model.move(SPLIT, Step("moved", machine.spot(node, frame), SPLIT))
            model.device = SPLIT
        return model or Unknown()
    if last == "SentenceTransformer":
        found = _module(machine, "sentence_transformers.SentenceTransformer", node, frame)
        said = given.get("device")
        found.device = machine.asked(said.value) if said else Device("cuda", 0, home=True)
        return found
    if last == "from_data_list" and given.listed:
        return _collated(_item(machine, given.listed[0].value, node, frame), machine, node, frame)
    if root == "torch_geometric" and last in ("Data", "HeteroData", "Batch"):
        tensors = [t for one in given.every() for t in tensors_in(one.value)]
        inner = (
            tensors[0]
            if tensors
            else Tensor(CPU, "batch", machine.step("made", node, frame, CPU), frame)
        )
        return Batch(inner)
    if last == "load_file":
        return _loaded(machine, given.get("device"), node, frame)
    if root in vocabulary.MODEL_LIBRARIES and (
        last[:1].isupper() or last in ("create_model",) or dotted.startswith("torchvision.models.")
    ):
        if _PLAIN.search(last) or dotted.startswith(
            ("torchvision.transforms", "torchvision.datasets", "transformers.trainer")
        ):
            return Object("plain")
        if last.endswith("Pipeline"):
            return _pipeline(machine, f"{root}.{last}", given, node, frame)
        if last[:1].islower() or _MODEL_CLASS.search(last) or root in ("torchmetrics", "monai"):
            return _module(machine, f"{root}.{last}", node, frame)
        if root in ("torch_geometric",) and ".nn" in dotted:
            return _module(machine, f"{root}.{last}", node, frame)
    sides = [Meets(one.node, t, t) for one in given.every() for t in tensors_in(one.value)]
    if last[:1].isupper():  # an object that keeps what it is given
        made = Object("library")
        made.steps, made.frame = machine.step("made", node, frame), frame
        made.attributes[methods.HELD] = Items(
            [side.tensor.like(side.tensor.device) for side in sides]
        )
        return made
    if len(sides) > 1 and root in (
        "einops",
        "torchvision",
        "torch_scatter",
        "kornia",
        "torchaudio",
    ):
        machine.meet("join", node, frame, sides)
    if sides and root in (*vocabulary.MODEL_LIBRARIES, "einops", "torch_scatter"):
        return sides[0].tensor.like(sides[0].tensor.device)
    return methods.library_call(machine, None, given, node, frame)


def _pipeline(machine: Machine, kind: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A pipeline that is put together from modules moves them."""
    found = _module(machine, kind, node, frame)
    found.weights = False
    for name, one in given.named.items():
        if isinstance(one.value, Module):
            found.children[name] = one.value
    return found


def _mapped(machine: Machine, found: Module, given: Arguments, node: ast.AST, frame: Frame) -> None:
    """``device_map=`` of from_pretrained."""
    said = given.named.get("device_map")
    if said is None:
        return
    device: Device | None = None
    if isinstance(said.value, Const) and isinstance(said.value.value, str):
        device = machine.asked(said.value) or SPLIT
    elif isinstance(said.value, Table):
        places = [machine.asked(value) for value in said.value.every()]
        device = places[0] if len(set(places)) == 1 else SPLIT
    elif isinstance(said.value, Const) and said.value.value is None:
        return
    else:
        device = machine.asked(said.value)
    found.move(device, Step("moved", machine.spot(said.node, frame), device))
    found.device = device


def _trainer(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    model = given.get("model", 0)
    if (
        model is not None
        and isinstance(model.value, Module)
        and model.value.where() not in (SPLIT, META)
    ):
        home = machine.home()
        model.value.move(home, Step("moved", machine.spot(node, frame), home))
    return Object("trainer")


# --- Python's own -------------------------------------------------------------------------------------


#: A range of at most so many numbers is followed number by number.
_UNROLLED = 4


def _builtin(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    from diagnose.placement.statements import element

    values = [one.value for one in given.listed]
    first = values[0] if values else None
    match last:
        case (
            "len"
            | "int"
            | "float"
            | "bool"
            | "abs"
            | "round"
            | "id"
            | "ord"
            | "hash"
            | "isinstance"
            | "hasattr"
            | "callable"
            | "issubclass"
            | "any"
            | "all"
        ):
            if (
                last in ("int", "float")
                and isinstance(first, Const)
                and isinstance(first.value, int | float)
            ):
                return (
                    Const(int(first.value) if last == "int" else float(first.value))
                    if abs(first.value) < 1e15
                    else Number()
                )
            if last in ("abs", "round") and isinstance(first, Tensor):
                return first.like(first.device)
            if last in ("isinstance", "hasattr", "callable", "issubclass", "any", "all", "bool"):
                return Unknown()
            if last == "int" and isinstance(first, Unknown | Number):
                found_ = Number(first.word)
                found_.steps = machine.step("made", node, frame)
                return found_
            return Number()
        case "range":
            if len(values) == 1 and isinstance(first, Const) and isinstance(first.value, int):
                if 0 < first.value <= _UNROLLED:
                    return Items([Const(number) for number in range(first.value)])
            return Items([], Number())
        case "enumerate":
            if (
                isinstance(first, Items)
                and first.more is None
                and len(first.items) <= 2 * _UNROLLED
            ):
                return Items([Items([Const(n), item]) for n, item in enumerate(first.items)])
            return Items([], Items([Number(), element(first) if first else Unknown()]))
        case "zip":
            if values and all(isinstance(v, Items) and v.more is None for v in values):
                rows = zip(*(v.items for v in values if isinstance(v, Items)), strict=False)
                return Items([Items(list(row)) for row in rows])
            return Items([], Items([element(value) for value in values]))
        case "list" | "tuple" | "set" | "sorted" | "reversed":
            if isinstance(first, Items):
                return Items(list(first.items), first.more)
            return Items([], element(first)) if first is not None else Items([])
        case "iter":
            return first or Unknown()
        case "next":
            return element(first) if first is not None else Unknown()
        case "dict":
            found = Table({key: one.value for key, one in given.named.items() if key != "**"})
            if isinstance(first, Table):
                found.items = dict(first.items) | found.items
                found.more = first.more
            elif isinstance(first, Items):
                pair = element(first)
                found.more = (
                    pair.items[1] if isinstance(pair, Items) and len(pair.items) > 1 else Unknown()
                )
            return found
        case "map" if len(values) > 1:
            given_ = Arguments([given.listed[1]._replace(value=element(values[1]))])
            return Items([], machine.invoke(machine, values[0], given_, node, frame))
        case "sum":
            inner = element(first) if first is not None else Unknown()
            return inner.like(inner.device) if isinstance(inner, Tensor) else Unknown()
        case "max" | "min":
            if isinstance(first, Tensor):
                return first.like(first.device)
            return (
                Number()
                if values and all(isinstance(v, Const | Number) for v in values)
                else Unknown()
            )
        case "getattr" if len(values) > 1:
            name = given.text("", 1)
            if name is not None and first is not None:
                return machine.attribute(machine, first, name, node, frame)
            return Unknown()
        case "setattr" if len(values) > 2:
            name = given.text("", 1)
            if isinstance(first, Module):
                modules.put(machine, first, name or "?", values[2], node, frame)
            elif isinstance(first, Object) and name is not None:
                first.attributes[name] = values[2]
            return Const(None)
        case "super":
            return _super(frame)
        case "str":
            return first if isinstance(first, Const) and isinstance(first.value, str) else Unknown()
    return Unknown()


def _super(frame: Frame) -> Value:
    """``super()``: the members of the bases, bound to the object."""
    found = Object("super")
    owner = frame.owner
    if isinstance(owner, Class) and frame.this is not None:
        for base in owner.bases:
            for name in {name for one in base.line() for name in one.members}:
                member = base.find(name)
                if isinstance(member, Function) and name not in found.attributes:
                    found.attributes[name] = member.bound(frame.this)
    if isinstance(frame.this, Module):
        for name in methods.MODULE - set(found.attributes):
            found.attributes[name] = Method(frame.this, name)
    return found


_ = (External, modules_in)
