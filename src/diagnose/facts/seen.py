"""What the tensors say that a live hook saw.

The tensors are named by the hook (see `diagnose.hooks.live_tensors`); here an expert's eye looks over them:
which one is not where its kind is, and which of those the failing line mentions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.model import Fact, Report, SeenTensor
from diagnose.scene import Scene

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
    for kind in ("parameter", "buffer"):
        if strays := [t for t in model.strays if t.kind == kind and t.device != "meta"]:
            yield f"{kind}-seen", _values(strays, model.usual)
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
    for kind in ("attribute", "unregistered", "local"):
        of_kind = [t for t in report.tensors if t.kind == kind]
        mentioned = [t for t in of_kind if _mentioned(t, report)]
        company = mentioned or of_kind
        usual = model.usual if model else _on_gpu(mentioned)
        if usual is None or (model and len(model.counts) > 1 and kind == "local"):
            continue
        if odd := [t for t in company if t.device != usual]:
            yield f"{kind}-seen", _values(odd, usual)


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
