"""Which devices met, and which operand of the op is on the wrong one."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.values import at
from diagnose.model import Fact
from diagnose.patterns import lazy
from diagnose.scene import Scene
from diagnose.scene.devices import kind
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
