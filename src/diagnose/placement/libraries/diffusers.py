"""What diffusers keeps beside its models: schedulers of noise, pipelines, and noise that it draws."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.model import Device
from diagnose.placement.tensors import Batch, Tensor
from diagnose.placement.values import Const, Frame, Object, Unknown, Value


def noise_scheduler(machine: Machine, last: str, node: ast.AST, frame: Frame) -> Object:
    """A noise scheduler: its tables are on the cpu."""
    found = Object("scheduler")
    found.attributes = {
        name: _table(machine, CPU, node, frame) for name in machine.torch.noise_tables
    }
    found.attributes["<class>"] = Const(last)
    return found


def _table(machine: Machine, device: Device | None, node: ast.AST, frame: Frame) -> Tensor:
    step = machine.step(EventKind.MADE, node, frame, device)
    return Tensor(device, Origin.LIBRARY, step, frame, name="row")


def scheduler(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A noise scheduler: samples and noise meet, its timesteps it brings there itself."""
    if name == "set_timesteps":
        said = given.told("device", 1)
        device = CPU if said is None else machine.asked(said.value)
        owner.attributes["timesteps"] = _table(machine, device, node, frame)
        kind = owner.attributes.get("<class>")
        if isinstance(kind, Const) and str(kind.value).startswith("FlowMatch"):
            owner.attributes["sigmas"] = _table(machine, device, node, frame)
        return Const(None)
    second = given.get("sample", 2) if name == "step" else given.get("noise", 1)
    sides = [
        Meets(one.node, one.value, one.value)
        for one in (given.listed[0] if given.listed else None, second)
        if one is not None and isinstance(one.value, Tensor)
    ]
    if name not in ("step", "add_noise", "get_velocity", "scale_model_input") or not sides:
        return Unknown()
    machine.meet(ConstraintKind.JOIN, node, frame, sides)
    if name in ("add_noise", "get_velocity"):  # they bring its table to the sample
        table = owner.attributes.get("alphas_cumprod")
        if isinstance(table, Tensor):
            owner.attributes["alphas_cumprod"] = table.like(sides[0].tensor.device)
    found = sides[-1].tensor.like(sides[-1].tensor.device)
    return Batch(found) if name == "step" else found


def drawn_noise(
    machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """Noise that a helper draws, on the device that it is told, by whatever generator; None for others."""
    if last != "randn_tensor":
        return None
    said = given.told("device", 2)
    device = CPU if said is None else machine.asked(said.value)
    return Tensor(device, Origin.FACTORY, machine.step(EventKind.MADE, node, frame, device), frame)


def pictures(
    machine: Machine, device: Device | None, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a pipeline gives: pictures of the host, or tensors where it was told to give these. It brings
    its inputs itself."""
    if given.text("output_type") not in ("latent", "pt"):
        return Unknown("array") if given.text("output_type") == "np" else Unknown()
    step = machine.step(EventKind.MADE, node, frame, device)
    return Batch(Tensor(device, Origin.OUTPUT, step, frame))


def distribution(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """Latents of a distribution: they are where it is, whatever generator draws them."""
    mean = owner.attributes["mean"]
    return mean.like(mean.device) if isinstance(mean, Tensor) else Unknown()
