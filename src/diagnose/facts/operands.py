"""Which devices met, and which operand of the op is on the wrong one: by the message, as the suspect of
`diagnose.placement` tells, and by the tensors that a live hook saw.

Those are named by the hook (see `diagnose.hooks.live`); here an expert's eye looks over them: which one
is not where its kind is, and which of those the failing line mentions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.facts.rules import at
from diagnose.model import Fact, Report, SeenTensor
from diagnose.paths import place
from diagnose.patterns import lazy
from diagnose.scene import Scene
from diagnose.scene.meeting import kind
from diagnose.scene.provenance import is_own


def gpu_numbers(scene: Scene) -> Iterator[Fact]:
    """Whether a GPU other than the first takes part, and what it met."""
    report = scene.report
    devices = [d.lower() for d in report.mismatch.devices] if report.mismatch else []
    line = report.error.at if report.error else None
    later = [d for d in devices if kind(d) == "gpu" and d.partition(":")[2] not in {"", "0"}]
    first = [d for d in devices if kind(d) == "gpu" and d.endswith(":0")]
    if later and "cpu" in devices:
        yield Fact("later-gpu-and-cpu", line, scene.values)
    if later and first:
        yield Fact("default-gpu-and-later", line, scene.values)
    if len(set(later)) > 1 and not first:
        yield Fact("two-later-gpus", line, scene.values)


def on_gpus(scene: Scene) -> Iterator[Fact]:
    """On which of two GPUs a named operand is, where one of them is the default one."""
    met, site = scene.met, scene.site
    if met is None or site is None:
        return
    for one in met.strays:
        if one.layer or one.device is None or kind(one.device) != "gpu" or _WEIGHT.search(one.text):
            continue  # of a split model the weights are everywhere
        default = one.device.lower() in _DEFAULT
        yield at(_ON[is_own(one.node), default], site.frame, name=one.text, device=one.device)
        if not default and scene.knowledge.words.tables.search(one.text):
            yield at("table-on-later-gpu", site.frame, name=one.text, device=one.device)


_WEIGHT = lazy(r"\.(weight|bias)\b")
_DEFAULT = frozenset({"cuda", "cuda:0"})
#: By whether an operand is the object's own, and is on the default GPU.
_ON = {
    (True, True): "own-on-default-gpu",
    (True, False): "own-on-later-gpu",
    (False, True): "local-on-default-gpu",
    (False, False): "local-on-later-gpu",
}


def elementwise(scene: Scene) -> Iterator[Fact]:
    """An elementwise operation failed: a message without a method name, and not because it was cut."""
    innermost, report = scene.innermost, scene.report
    if not scene.elementwise:
        return
    in_layer = innermost is not None and "torch/nn/" in innermost.file.replace("\\", "/")
    line = report.error.at if report.error else None
    if not in_layer:
        yield Fact("says-elementwise", line, scene.values)
    elif innermost is not None and innermost.function == "embedding" and scene.pair == "gpu-gpu":
        yield Fact("ids-across-gpus", line, scene.values)


def misplaced_operand(scene: Scene) -> Iterator[Fact]:
    """Which operand of the op is on the wrong side."""
    where, error = scene.roles, scene.report.error
    line = error.at if error else None

    def fact(name: str, other: str) -> Fact:
        return Fact(name, line, {**scene.values, "other": other})

    def apart(one: str, two: str) -> bool:
        return one in where and two in where and where[one] != where[two]

    cpu = {role for role, device in where.items() if kind(device) == "cpu"}
    for role, other, name in (
        ("weight", "input", "weight-on-cpu"),
        ("input", "weight", "input-on-cpu"),
        ("index", "weight", "index-on-cpu"),
        ("weight", "index", "table-on-cpu"),
        ("index", "tensor", "index-argument-on-cpu"),
        ("tensor", "index", "indexed-on-cpu"),
        ("target", "input", "target-on-cpu"),
    ):
        if role in cpu and other in where and other not in cpu:
            yield fact(name, where[other])
    if apart("class-weight", "input"):
        yield fact("class-weight-elsewhere", where["input"])
    if cpu:
        return
    if apart("target", "input"):
        yield fact("target-elsewhere", where["input"])
    if apart("input", "weight") and not _plain_product(scene):
        yield fact("layer-across-gpus", where["input"])
    if apart("index", "weight"):
        yield fact("ids-across-gpus", where["weight"])


def _plain_product(scene: Scene) -> bool:
    """True where a line multiplies two variables: what the schema calls the weight is no layer's."""
    met = scene.met
    return (
        met is not None
        and not scene.in_layer
        and len(met.strays) == 2
        and not any(one.layer or is_own(one.node) or _WEIGHT.search(one.text) for one in met.strays)
    )


#: The causes that the analysis tells, and the facts that say so.
_FACTS = {
    "input-not-moved": "source-input-not-moved",
    "module-not-moved": "source-module-not-moved",
    "submodule-added-after-move": "source-submodule-added-after-move",
    "unregistered-submodule": "source-unregistered-submodule",
    "unregistered-tensor": "source-unregistered-tensor",
    "created-without-device": "source-created-without-device",
    "hardcoded-device": "source-hardcoded-device",
    "dataparallel-home-device": "source-dataparallel-home-device",
    "optimizer-state": "source-optimizer-state",
    "loss-or-metric-state": "source-loss-or-metric-state",
    "generator-device": "source-generator-device",
    "index-device": "source-index-device",
    "checkpoint-location": "source-checkpoint-location",
    "meta-tensor": "source-meta-tensor",
    "host-copy-needed": "source-host-copy-needed",
    "rank-device": "source-rank-device",
    "low-memory-mode": "source-low-memory-mode",
    "device-map-under-training": "source-device-map-under-training",
    "kernel-needs-gpu": "source-kernel-needs-gpu",
    "offloaded-to-cpu": "source-offloaded-to-cpu",
    "zero-offload": "source-zero-offload",
    "input-on-wrong-shard": "source-input-on-wrong-shard",
    "cross-shard-op": "source-cross-shard-op",
    "dataparallel-replica-state": "source-dataparallel-replica-state",
}


def origin(scene: Scene) -> Iterator[Fact]:
    """Why the likeliest suspect is where it is, or the first of a description's code; its fact is named for
    its cause."""
    for suspect in (scene.suspects or scene.described)[:1]:
        name = _FACTS.get(suspect.cause)
        if name is not None:
            known = {
                "name": suspect.name,
                "place": place(scene.printed(suspect.line.file), suspect.line.line),
                "code": suspect.line.code,
                "device": str(suspect.device) if suspect.device else "",
                "other": str(suspect.wanted) if suspect.wanted else "",
            }
            yield Fact(name, None, {key: value for key, value in known.items() if value})


_SHOWN = 3
#: Causes of tensors that are where they were made, whoever keeps them since.
_MADE = frozenset({"checkpoint-location", "created-without-device"})
#: A device that holds this share of a model is one of its shards, not a stray.
_SHARD = 0.1


class Placement(NamedTuple):
    """Where the registered tensors of one model are: how many on each device, and the usual one."""

    tensors: tuple[SeenTensor, ...]
    counts: Counter[str]

    @property
    def usual(self) -> str:
        """The device of most."""
        return self.counts.most_common(1)[0][0]

    @property
    def shards(self) -> tuple[str, ...]:
        """The GPUs that hold a good part of it."""
        total = sum(self.counts.values())
        return tuple(
            device
            for device, count in sorted(self.counts.items())
            if _gpu(device) and count >= _SHARD * total
        )

    @property
    def strays(self) -> tuple[SeenTensor, ...]:
        """Tensors that are neither on the usual device nor on another shard; the failing first."""
        home = {self.usual, *(self.shards if len(self.shards) > 1 else ())}
        odd = [tensor for tensor in self.tensors if tensor.device not in home]
        return tuple(sorted(odd, key=lambda tensor: -(tensor.frame or 0)))


def seen_tensors(scene: Scene) -> Iterator[Fact]:
    """What the tensors show; no line of the input does, so the facts have none."""
    report = scene.report
    suspects = scene.seen.suspects[:1]
    strays = [suspect.name.rpartition(".")[2] for suspect in suspects]
    causes = {suspect.cause for suspect in scene.suspects[:1]} if suspects else set[str]()
    for name, values in _shown(report) if report.tensors else ():
        # Where it is known which tensor was the stray, what else lies about says nothing; nor does it
        # matter where something is kept that was restored or made there.
        told = not strays or any(stray in values.get("names", "") for stray in strays)
        if told and not (causes & _MADE and name == "attribute-seen"):
            yield Fact(name, None, values)


def _shown(report: Report) -> Iterator[tuple[str, dict[str, str]]]:
    model = _failing_model(report.tensors)
    if model is not None:
        yield from _model(model, report)
    yield from _strangers(report, model)
    if stale := [t for t in report.tensors if t.kind == "state"]:
        yield "state-seen", _values(stale)


def _failing_model(tensors: Sequence[SeenTensor]) -> Placement | None:
    """The model that was running where it failed: the one with the innermost running layer."""
    registered = [t for t in tensors if t.kind in {"parameter", "buffer"}]
    if not registered:
        return None
    root = max(registered, key=lambda t: -1 if t.frame is None else t.frame).root
    own = tuple(t for t in registered if t.root == root)
    return Placement(own, Counter(t.device for t in own))


def _model(model: Placement, report: Report) -> Iterator[tuple[str, dict[str, str]]]:
    if absent := [t for t in model.tensors if t.device == "meta"]:
        yield "meta-seen", _values(absent, model.usual)
    for sort in ("parameter", "buffer"):
        if strays := [t for t in model.strays if t.kind == sort and t.device != "meta"]:
            yield f"{sort}-seen", _values(strays, model.usual)
    if len(model.shards) > 1:
        yield "shards-seen", {"devices": ", ".join(model.shards), "count": str(len(model.shards))}
    met = set(report.mismatch.devices) if report.mismatch else set[str]()
    elsewhere = next((d for d in met if _gpu(d) and d != model.usual), None)
    if set(model.counts) == {"cpu"} and elsewhere:
        name, count = model.tensors[0].root or "the model", str(len(model.tensors))
        values = {"names": name, "count": count, "device": model.usual, "other": elsewhere}
        yield "module-seen", values


def _strangers(report: Report, model: Placement | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Tensors outside the registered ones that are where the model, or their company, is not."""
    if model is not None and not _gpu(model.usual):
        return
    for sort in ("attribute", "unregistered", "local"):
        of_kind = [t for t in report.tensors if t.kind == sort]
        mentioned = [t for t in of_kind if _mentioned(t, report)]
        company = mentioned or of_kind
        usual = model.usual if model else _on_gpu(mentioned)
        if usual is None or (model and len(model.counts) > 1 and sort == "local"):
            continue
        if odd := [t for t in company if t.device != usual]:
            yield f"{sort}-seen", _values(odd, usual)


def _on_gpu(tensors: Sequence[SeenTensor]) -> str | None:
    """The GPU that some of several tensors are on; None where all are together."""
    devices = {t.device for t in tensors}
    return next((d for d in sorted(devices) if _gpu(d)), None) if len(devices) > 1 else None


def _mentioned(tensor: SeenTensor, report: Report) -> bool:
    """Whether the line of the tensor's frame names it, or the container that it is in."""
    if tensor.frame is None or tensor.frame >= len(report.frames):
        return False
    code = report.frames[tensor.frame].code or ""
    name = tensor.name.partition("[")[0]
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", code) is not None


def _values(tensors: Sequence[SeenTensor], usual: str | None = None) -> dict[str, str]:
    device = tensors[0].device
    same = [t.name for t in tensors if t.device == device]
    more = f" (+{len(same) - _SHOWN})" if len(same) > _SHOWN else ""
    values = {"names": ", ".join(same[:_SHOWN]) + more, "device": device}
    return values | {"other": usual} if usual is not None else values


def _gpu(device: str) -> bool:
    return device.partition(":")[0] not in {"cpu", "meta", "disk"}
