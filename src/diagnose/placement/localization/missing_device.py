"""A device that a factory leaves out: a call does not tell it, or others beside it are told one."""

from __future__ import annotations

import ast
from functools import lru_cache

from diagnose.placement.localization.context import classes_of
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import device_argument
from diagnose.placement.semantics import Function, argument, calls
from diagnose.placement.values import Frame


def left_out(made: Step, frame: Frame | None) -> tuple[Spot, Frame] | None:
    """The call that leaves out the device for which a factory has a parameter; None where there is none."""
    said = device_argument(made.spot)
    if frame is None or frame.function != made.spot.function:
        return None
    spot = made.spot
    while isinstance(said, ast.Name) and frame.lines.get(said.id) == 0 and frame.call is not None:
        caller = frame.caller
        if caller is None or not isinstance(frame.call.node, ast.Call):
            return None
        spot, given, frame = frame.call, frame.given.get(said.id), caller
        if given is None:
            return spot, frame
        said = given
    return None


def is_forgotten_beside(made: Step) -> bool:
    """Whether a factory leaves out the device that another one of the same function, or of the other
    methods of its class, is given."""
    function = made.spot.enclosing
    owner = (made.spot.function or "").rpartition(".")[0]
    around = [*classes_of(made.spot.source.tree).get(owner, ()), *([function] if function else [])]
    return any(_makes_on_device(one) for one in around)


@lru_cache(maxsize=8)
def _makes_on_device(scope: ast.ClassDef | Function) -> bool:
    """Whether torch makes a tensor on a device that a variable holds."""
    torchs = (one for one in calls(scope) if ast.unparse(one.func).startswith("torch."))
    return any(not isinstance(argument(one, "device"), ast.Constant | None) for one in torchs)
