"""What diffusers keeps beside its models: schedulers of noise, pipelines, and noise that it draws."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.model import Device
from diagnose.placement.tensors import Batch, Tensor
from diagnose.placement.values import Const, Frame, Object, Unknown, Value


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
