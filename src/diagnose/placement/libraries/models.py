"""What is known of model libraries by the names that they use, and what diffusers keeps beside its models:
schedulers, pipelines, and noise that it draws.
"""

from __future__ import annotations

import ast
import re

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, META
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.device_maps import mapped
from diagnose.placement.libraries.general import HELD, library_call
from diagnose.placement.libraries.layers import built, is_array, library_loss
from diagnose.placement.libraries.tensor_methods import unknown_arguments
from diagnose.placement.libraries.torch_calls import optimizer
from diagnose.placement.libraries.weights import filled_elsewhere
from diagnose.placement.machine import Arguments, Machine, Meets, kind_of, operands
from diagnose.placement.model import Device, Step
from diagnose.placement.provenance import on_cpu
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Object, Unknown, Value

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
_PARTS = {
    "torch_geometric": frozenset({"nn"}),
    "sentence_transformers": frozenset({"models", "modules"}),
}
_LOSS_CLASS = re.compile(r"(Loss|Criterion|CrossEntropy|LPIPS|SSIM)$")
#: Metrics that keep in lists what they are given, wherever that is.
_LISTING = re.compile(
    r"AUROC|AveragePrecision|ROC|Curve|^Cat|Retrieval|Spearman|Kendall|MeanAveragePrecision"
)
#: Classes of files that are not at hand that are models, most often: where their weights are is not known.
_OWN_MODEL = re.compile(r"[a-z0-9A-Z](Model|Net|Transformer|Classifier|Encoder|Decoder)$")
_PLAIN = re.compile(
    r"(Config|Scheduler|Arguments|Args|Collator\w*|Criteria|Streamer|Logger|Callback|Dataset|Transform|Output|"
    r"AttnProcessor\w*)$"
)


def may_fill(call: CallSite) -> None:
    """What a function is given on meta may have its memory then: by whom, nobody knows."""
    for one in call.given.every():
        if isinstance(one.value, Module):
            step = Step(EventKind.FILLED, call.spot)
            if one.value.where() == META:
                one.value.move(None, step)
            filled_elsewhere(one.value, step)


def loads_model(call: CallSite) -> Value:
    """A model that a class loads, or the one that an adapter is put on."""
    if isinstance(call.first, Module):
        return call.first
    found = built(call, f"{call.root}.{call.name.split('.')[-2] if '.' in call.name else ''}")
    mapped(call, found)
    if "device" in call.given.named and call.root not in call.machine.torch.model_libraries:
        found.device = call.device("device")
    return found


def batch(call: CallSite) -> Value | None:
    """A batch of the tensors that it is given; of an unknown package it is none without."""
    tensors = [t for one in call.given.every() for t in tensors_in(one.value)]
    if not tensors and call.root not in call.machine.torch.model_libraries:
        return None  # settings are called so, too
    new = call.tensor(CPU, Origin.BATCH)
    inner = tensors[0] if tensors else new
    if "device" in call.given.named:  # it brings there what it is given
        return Batch(inner.like(call.device("device")))
    if len(tensors) > 1 and all(map(on_cpu, tensors)):  # which field it is, none tells
        inner = new
    return Batch(inner, mutable=call.effect.gives == "graphs")


def generation_list(call: CallSite) -> Value:
    """A list of what a model calls while it generates."""
    return call.first if isinstance(call.first, Items) else Items([])


def adapts(call: CallSite) -> Value | None:
    """A library's adapters are put into a model, and stay on the cpu when it has moved."""
    if not isinstance(call.first, Module):
        return None
    call.first.plain["<adapters>"] = Const(True)
    return Const(None)


def unlisted(call: CallSite) -> Value:
    """What a call gives that no row names: by how its name ends, and by what it is given."""
    torch, last, root = call.machine.torch, call.last, call.root
    known, is_class = root in torch.model_libraries, last[:1].isupper()
    if not is_class:
        may_fill(call)
    if known and (found := _of_model_library(call)) is not None:
        return found
    if not known and _OWN_MODEL.search(last):
        model = built(call, f"{root}.{last}")
        model.device = None
        return model
    sides = operands(call.given)
    if last in torch.similarities:
        arrays = [one for one in call.given.every() if is_array(one.value)]
        made = call.tensor(CPU, Origin.ARRAY)
        sides += [Meets(one.node, one.value, made) for one in arrays]
    if sides and root in torch.gpu_libraries:
        call.meet(ConstraintKind.KERNEL, sides)
    if is_class:
        return _of_class(call, sides)
    if sides and (known or root in torch.function_libraries):
        return _of_functions(call, sides)
    for one in call.given.every() if not known else ():
        if isinstance(one.value, Module):
            one.value.handed = True
    return library_call(call.machine, None, call.given, call.node, call.frame)


def _of_model_library(call: CallSite) -> Value | None:
    """What a class of a model library is, or a function that makes a model; None of others."""
    torch, last, root, packages = call.machine.torch, call.last, call.root, call.name.split(".")
    is_class = last[:1].isupper()
    if not (is_class or last == "create_model" or call.name.startswith("torchvision.models.")):
        return None
    if _PLAIN.search(last):
        return Object("plain")
    held = next((one.value for one in call.given.every() if isinstance(one.value, Module)), None)
    if held is not None and not is_class:
        return held  # made of the parts that it has, where they are
    own = not _PARTS.get(root, frozenset()).isdisjoint(packages)
    of_layers = not _PACKAGES_OF_LAYERS.get(root, frozenset()).isdisjoint(packages)
    named = not is_class or _MODEL_CLASS.search(last) or root == "torchmetrics" or own
    if not (named or of_layers):
        return None
    found = built(call, f"{root}.{last}")
    # Of curves at given thresholds it keeps counts, and the thresholds.
    curve = root == "torchmetrics" and _LISTING.search(last)
    listing = curve and call.given.told("thresholds") is None
    if last in torch.weightless_layers or listing or not named:
        found.weights, found.device = False, None
    return found


def _of_class(call: CallSite, sides: list[Meets]) -> Value:
    """An object: an optimizer of parameters, a loss, or something that keeps what it is given."""
    last = call.last
    if _of_parameters(call.given) and "EMA" not in last and "Average" not in last:
        return optimizer(call)
    if _LOSS_CLASS.search(last):
        return library_loss(call)
    made = Object("library")
    made.steps, made.frame = call.step(EventKind.MADE), call.frame
    made.attributes[HELD] = Items([side.tensor.like(side.tensor.device) for side in sides])
    return made


def _of_functions(call: CallSite, sides: list[Meets]) -> Value:
    """A function of tensors gives one, where the first is; some refuse tensors of several devices."""
    torch, last = call.machine.torch, call.last
    known = last in torch.library_refusing or last in torch.similarities
    refuses = known or kind_of(call.machine, last) == ConstraintKind.JOIN
    joins = call.root in torch.function_libraries and refuses
    if any("length" in ast.unparse(side.node) for side in sides):
        joins = False  # which stay on the host, most often
    what = ConstraintKind.JOIN if joins else ConstraintKind.LIBRARY
    call.meet(what, [*sides, *unknown_arguments(call.given)])
    result = sides[0].tensor.like(sides[0].tensor.device)
    result.guessed |= not known
    return result


def _of_parameters(given: Arguments) -> bool:
    """Whether a class is given the parameters of a module first, as optimizers are."""
    first = given.listed[0].value if given.listed else None
    if isinstance(first, Items) and isinstance(first.more, Table):
        first = first.more.items.get("params")  # groups of them
    held = first.more if isinstance(first, Items) else None
    return isinstance(held, Tensor) and held.maker == Origin.WEIGHT and held.module is not None


def pipeline_of_parts(call: CallSite) -> Value:
    """A pipeline that is put together from modules moves them."""
    found = built(call, f"{call.root}.{call.last}")
    found.weights = False
    for name, one in call.given.named.items():
        if isinstance(one.value, Module):
            found.children[name] = one.value
    if not found.children:  # given by position, or loaded by the pipeline itself
        found.weights = True
    return found


def noise_scheduler(machine: Machine, kind: str, node: ast.AST, frame: Frame) -> Object:
    """A noise scheduler: its tables are on the cpu."""
    found, call = (
        Object("diffusers.SchedulerMixin"),
        CallSite(machine, "", Arguments(), node, frame),
    )
    found.attributes = {name: _table(call, CPU) for name in machine.torch.noise_tables}
    found.attributes["<class>"] = Const(kind)
    return found


def scheduler_of_class(call: CallSite) -> Object:
    """A noise scheduler, made by its class or loaded by that."""
    kind = call.effect.gives or call.last
    kind = call.name.split(".")[-2] if kind == "owner" else kind
    return noise_scheduler(call.machine, kind, call.node, call.frame)


def _table(call: CallSite, device: Device | None) -> Tensor:
    return call.tensor(device, Origin.LIBRARY, name="row")


def sets_timesteps(owner: Object, call: CallSite) -> Value:
    """A noise scheduler makes its timesteps on the device that it is told."""
    said = call.given.told("device", 1)
    device = CPU if said is None else call.machine.asked(said.value)
    owner.attributes["timesteps"] = _table(call, device)
    kind = owner.attributes.get("<class>")
    if isinstance(kind, Const) and str(kind.value).startswith("FlowMatch"):
        owner.attributes["sigmas"] = _table(call, device)
    return Const(None)


def meets_sample(call: CallSite) -> Value:
    """A noise scheduler: its first argument and the one of the row meet; it gives that, changed."""
    found = _noise(call)
    return (
        Batch(found) if found is not None and call.effect.gives == "batch" else found or Unknown()
    )


def adds_noise(owner: Object, call: CallSite) -> Value:
    """A noise scheduler adds noise to a sample, where it brings its table."""
    found, table = _noise(call), owner.attributes.get("alphas_cumprod")
    if found is not None and isinstance(table, Tensor):
        first = call.first if isinstance(call.first, Tensor) else found
        owner.attributes["alphas_cumprod"] = table.like(first.device)
    return found or Unknown()


def _noise(call: CallSite) -> Tensor | None:
    """What comes of a sample and of the other tensor that it meets; None where neither is known."""
    both = (call.given.listed[0] if call.given.listed else None, call.argument(call.effect.of))
    sides = [
        Meets(one.node, one.value, one.value)
        for one in both
        if one is not None and isinstance(one.value, Tensor)
    ]
    if not sides:
        return None
    call.meet(ConstraintKind.JOIN, sides)
    return sides[-1].tensor.like(sides[-1].tensor.device)


def pictures(call: CallSite, device: Device | None) -> Value:
    """What a pipeline gives: pictures of the host, or tensors where it was told to give these. It brings
    its inputs itself."""
    kind = call.given.text("output_type")
    if kind not in ("latent", "pt"):
        return Unknown("array") if kind == "np" else Unknown()
    return Batch(call.tensor(device, Origin.OUTPUT))


def latents(owner: Object, call: CallSite) -> Value:
    """Latents of a distribution: they are where it is, whatever generator draws them."""
    mean = owner.attributes["mean"]
    return mean.like(mean.device) if isinstance(mean, Tensor) else Unknown()
