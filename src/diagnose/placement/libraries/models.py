"""What is known of model libraries by the names that they use."""

from __future__ import annotations

import ast
import re

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.device_guards import kind_of
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.accelerators import prepared, preparing_call
from diagnose.placement.libraries.checkpoints import loaded_from
from diagnose.placement.libraries.datasets import collated, item_of
from diagnose.placement.libraries.device_maps import mapped, place, put
from diagnose.placement.libraries.diffusers import drawn_noise, noise_scheduler
from diagnose.placement.libraries.layers import built, library_loss, parallel
from diagnose.placement.libraries.meta_modules import filled_elsewhere
from diagnose.placement.libraries.modules import SENTENCES, is_array, searching, sentences
from diagnose.placement.libraries.object_methods import HELD, library_call
from diagnose.placement.libraries.offload import offloaded_by
from diagnose.placement.libraries.processes import gaussian
from diagnose.placement.libraries.tensor_methods import unknown_arguments
from diagnose.placement.libraries.torch_calls import optimizer, wrapped_optimizer
from diagnose.placement.libraries.trainers import training_call
from diagnose.placement.machine import Arguments, Given, Machine, Meets, operands
from diagnose.placement.model import Step
from diagnose.placement.provenance import on_cpu
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Frame, Loader, Object, Place, Unknown, Value

_MODEL_CLASS = re.compile(
    r"(Model|For[A-Z]\w*|Net\w*|Pipeline|Encoder\w*|Decoder|Autoencoder\w*|AutoencoderKL|Module|Conv|Layer|VAE|UNet\w*)$"
)


#: The packages of libraries whose classes are layers, whatever they are called; some have no weights.
_PACKAGES_OF_LAYERS = {
    "diffusers": frozenset({"models"}),
    "transformers": frozenset({"models"}),
    "timm": frozenset({"layers", "models"}),
    "monai": frozenset({"blocks", "nets"}),
}


#: The packages whose classes are parts of models, with weights but for a few; sentence-transformers calls
#: them modules from version 6 on.
_PARTS = {"torch_geometric": (".nn",), "sentence_transformers": (".models", ".modules")}


_LOSS_CLASS = re.compile(r"(Loss|Criterion|CrossEntropy|LPIPS|SSIM)$")


_TOKENIZER = re.compile(r"(Tokenizer(Fast)?|Processor|FeatureExtractor)$")


#: Metrics that keep in lists what they are given, wherever that is.
_LISTING = re.compile(
    r"AUROC|AveragePrecision|ROC|Curve|^Cat|Retrieval|Spearman|Kendall|MeanAveragePrecision"
)


#: Classes of files that are not at hand that are models, most often: where their weights are is not known.
_OWN_MODEL = re.compile(r"[a-z0-9A-Z](Model|Net|Transformer|Classifier|Encoder|Decoder)$")


#: Transforms that end in a tensor, most often.
_MAKES_TENSORS = re.compile(r"^torchvision\.transforms\.(v2\.)?(Compose|ToTensor|PILToTensor)$")


_PLAIN = re.compile(
    r"(Config|Scheduler|Arguments|Args|Collator\w*|Criteria|Streamer|Logger|Callback|Dataset|Transform|Output|"
    r"AttnProcessor\w*)$"
)


def model_call(
    machine: Machine,
    dotted: str,
    root: str,
    last: str,
    given: Arguments,
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Model libraries: what is known of their names."""
    for one in given.every() if last[:1].islower() else ():
        if isinstance(one.value, Module):
            step = Step(EventKind.FILLED, machine.spot(node, frame))  # by whom, nobody knows
            if one.value.where() == META:
                one.value.move(None, step)
            filled_elsewhere(one.value, step)
    owner = dotted.rpartition(".")[0].rpartition(".")[2]
    if last.startswith("DataParallel"):  # those of other packages scatter what they are given, too
        whole = given.get("module", 0)
        if last != "DataParallel" and (whole is None or not isinstance(whole.value, Module)):
            return Unknown()
        last = "DataParallel"
        return parallel(machine, built(machine, last, node, frame), last, given, node, frame)
    torch = machine.torch
    if last in torch.model_loaders:
        if root == "diffusers" and owner.endswith("Scheduler"):
            return noise_scheduler(machine, owner, node, frame)
        if _TOKENIZER.search(owner):
            return Object("tokenizer")
        if _PLAIN.search(owner):
            return Object("plain")
        if given.listed and isinstance(given.listed[0].value, Module):
            return given.listed[0].value  # an adapter put on a model
        found = built(machine, f"{root}.{owner}", node, frame)
        mapped(machine, found, given, node, frame)
        if "device" in given.named and root not in torch.model_libraries:
            found.device = machine.asked(given.named["device"].value)
        return found
    if _TOKENIZER.search(last):
        return Object("tokenizer")
    if (made := preparing_call(machine, last, given, node, frame)) is not None:
        return made
    if (made := training_call(machine, root, last, given, node, frame)) is not None:
        return made
    if (made := drawn_noise(machine, last, given, node, frame)) is not None:
        return made
    if dotted == "deepspeed.initialize" and (whole := given.get("model", 1)) is not None:
        engine = prepared(machine, whole.value, machine.home(), node, frame)
        return Items([engine, *map(Unknown, ("optimizer", "loader", "scheduler"))])
    if last in torch.datasets or dotted.startswith("datasets.Dataset.from_"):
        rows = Tensor(CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame)
        return Loader(Batch(rows, mutable=root == "torch_geometric"))
    if last.endswith("Loader") and last[:1].isupper():
        first = given.listed[0].value if given.listed else None
        item = item_of(machine, first, node, frame)
        if isinstance(item, Unknown) and not last.endswith("DataLoader"):
            return Loader(item)  # of parts of what may be anywhere
        return Loader(collated(item, machine, node, frame))
    if last == "dispatch_model" or last == "load_checkpoint_and_dispatch":
        model = given.listed[0].value if given.listed else None
        if isinstance(model, Module):
            said = given.get("device_map", 1 if last == "dispatch_model" else None)
            written = said is not None and isinstance(said.value, Table) and said.value.more is None
            where = (place(machine, said.value) if said and written else None) or SPLIT
            step = Step(EventKind.MOVED, machine.spot(node, frame), where)
            put(machine, model, said.value if said is not None else Unknown(), where, step)
        return model or Unknown()
    if (kept := offloaded_by(machine, last, given, node, frame)) is not None:
        return kept
    if (process := gaussian(machine, dotted, given, node, frame)) is not None:
        return process
    if root == "transformers" and last in torch.generation_lists:
        first = given.listed[0].value if given.listed else None
        return first if isinstance(first, Items) else Items([])
    if f"{root}.{last}" in SENTENCES:
        return sentences(machine, last, given, node, frame)
    if last == "from_data_list" and given.listed:
        return collated(item_of(machine, given.listed[0].value, node, frame), machine, node, frame)
    tensors = [t for one in given.every() for t in tensors_in(one.value)]
    # Settings are called Data, too: of an unknown package it is a batch if it is given tensors.
    known = root in torch.model_libraries or bool(tensors)
    if last in torch.batches and known and root != "torch":
        inner = (
            tensors[0]
            if tensors
            else Tensor(CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame)
        )
        if (told := given.named.get("device")) is not None:  # it brings there what it is given
            return Batch(inner.like(machine.asked(told.value)))
        if len(tensors) > 1 and all(
            on_cpu(one) for one in tensors
        ):  # which field it is, none tells
            inner = Tensor(CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame)
        return Batch(inner, mutable=root == "torch_geometric")
    if last == "load_file":  # of safetensors: on the cpu where it is told nothing
        there = given.get("device", 1)
        if there is None and root == "safetensors":
            there = Given(ast.Name("cpu"), Place(CPU))
        return loaded_from(machine, there, node, frame)
    if root == "diffusers" and last.endswith("Scheduler"):
        return noise_scheduler(machine, last, node, frame)
    if dotted.endswith("create_transform") or _MAKES_TENSORS.search(dotted):
        return Object("transform")
    if last in ("ToPILImage", "to_pil_image"):  # pictures, wherever the tensors were
        return Object("plain") if last[:1].isupper() else Unknown()
    if ".transforms" in dotted and last[:1].isupper() and root != "torchvision":
        return Object("passing")
    if last in ("MixUp", "CutMix", "Mixup"):
        return Object("passing")
    if root in torch.model_libraries and (
        last[:1].isupper() or last in ("create_model",) or dotted.startswith("torchvision.models.")
    ):
        if _PLAIN.search(last) or dotted.startswith(
            ("torchvision.transforms", "torchvision.datasets", "transformers.trainer")
        ):
            return Object("passing" if ".transforms." in dotted else "plain")
        if last.endswith("Pipeline"):
            return _pipeline(machine, f"{root}.{last}", given, node, frame)
        held = next((one.value for one in given.every() if isinstance(one.value, Module)), None)
        if held is not None and last[:1].islower():
            return held  # made of the parts that it has, where they are
        own = any(part in dotted for part in _PARTS.get(root, ()))
        of_layers = not _PACKAGES_OF_LAYERS.get(root, frozenset()).isdisjoint(dotted.split("."))
        named = last[:1].islower() or _MODEL_CLASS.search(last) or root == "torchmetrics" or own
        if named or of_layers:
            found = built(machine, f"{root}.{last}", node, frame)
            # Of curves at given thresholds it keeps counts, and the thresholds.
            curve = root == "torchmetrics" and _LISTING.search(last)
            listing = curve and given.told("thresholds") is None
            if last in machine.torch.weightless_layers or listing or not named:
                found.weights, found.device = False, None
            return found
    if searching(last):
        return Unknown()
    if _OWN_MODEL.search(last) and root not in torch.model_libraries and root != "builtins":
        found = built(machine, f"{root}.{last}", node, frame)
        found.device = None
        return found
    sides = operands(given)
    if last in torch.similarities:
        arrays = [one for one in given.every() if is_array(one.value)]
        made = Tensor(CPU, Origin.ARRAY, machine.step(EventKind.MADE, node, frame, CPU), frame)
        sides += [Meets(one.node, one.value, made) for one in arrays]
    if sides and root in machine.torch.gpu_libraries:
        machine.meet(ConstraintKind.KERNEL, node, frame, sides)
    if (made_around := wrapped_optimizer(machine, dotted, given, node, frame)) is not None:
        return made_around
    if last[:1].isupper() and _of_parameters(given) and "EMA" not in last and "Average" not in last:
        return optimizer(machine, last, given, node, frame)
    if last[:1].isupper() and _LOSS_CLASS.search(last):
        return library_loss(machine, f"{root}.{last}", given, node, frame)
    if last[:1].isupper():  # an object that keeps what it is given
        made = Object("library")
        made.steps, made.frame = machine.step(EventKind.MADE, node, frame), frame
        made.attributes[HELD] = Items([side.tensor.like(side.tensor.device) for side in sides])
        return made
    if sides and (root in torch.model_libraries or root in torch.function_libraries):
        known = last in torch.library_refusing or last in torch.similarities
        refuses = known or kind_of(machine, last) == ConstraintKind.JOIN
        what = (
            ConstraintKind.JOIN
            if root in torch.function_libraries and refuses
            else ConstraintKind.LIBRARY
        )
        if any("length" in ast.unparse(side.node) for side in sides):
            what = ConstraintKind.LIBRARY  # which stay on the host, most often
        machine.meet(what, node, frame, [*sides, *unknown_arguments(given)])
        result = sides[0].tensor.like(sides[0].tensor.device)
        result.guessed |= not known
        return result
    for one in given.every() if root not in torch.model_libraries else ():
        if isinstance(one.value, Module):
            one.value.handed = True
    return library_call(machine, None, given, node, frame)


def _of_parameters(given: Arguments) -> bool:
    """Whether a class is given the parameters of a module first, as optimizers are."""
    first = given.listed[0].value if given.listed else None
    if isinstance(first, Items) and isinstance(first.more, Table):
        first = first.more.items.get("params")  # groups of them
    held = first.more if isinstance(first, Items) else None
    return isinstance(held, Tensor) and held.maker == Origin.WEIGHT and held.module is not None


def _pipeline(machine: Machine, kind: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A pipeline that is put together from modules moves them."""
    found = built(machine, kind, node, frame)
    found.weights = False
    for name, one in given.named.items():
        if isinstance(one.value, Module):
            found.children[name] = one.value
    if not found.children:  # given by position, or loaded by the pipeline itself
        found.weights = True
    return found
