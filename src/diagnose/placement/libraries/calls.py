"""What calls of torch, of model libraries and of Python's own functions give."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind
from diagnose.placement.device_guards import assumed
from diagnose.placement.libraries.copies import copied_by
from diagnose.placement.libraries.functional import functional_call
from diagnose.placement.libraries.models import model_call
from diagnose.placement.libraries.options import environment
from diagnose.placement.libraries.python import builtin
from diagnose.placement.libraries.standard import standard_call
from diagnose.placement.libraries.torch_calls import torch_call
from diagnose.placement.machine import Arguments, Machine, operands
from diagnose.placement.tensors import Module
from diagnose.placement.values import Const, Frame, Object, Unknown, Value


def library_call_of(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a name of a library."""
    root, _, last = dotted.partition(".")[0], "", dotted.rpartition(".")[2]
    if (made := standard_call(machine, dotted, given, node, frame)) is not None:
        return made
    if root == "builtins":
        return builtin(machine, last, given, node, frame)
    if last in machine.torch.asking_for_tracing:
        return Const(False)
    if (copy := copied_by(machine, dotted, given, node, frame)) is not None:
        return copy
    if (called := functional_call(machine, dotted, given, node, frame)) is not None:
        return called
    if root == "torch":
        return torch_call(machine, dotted, last, given, node, frame)
    on_host = root in machine.torch.host_libraries
    if dotted in machine.torch.row_picking:
        return Unknown()
    if on_host or root in ("cv2", "PIL"):
        # What a solver hands on to the function that it is given stays what it is.
        read = {name: one for name, one in given.named.items() if name != "args"}
        sides = operands(given._replace(named=read))
        if not dotted.startswith(tuple(machine.torch.reading)):
            sides = [side._replace(tensor=assumed(side.tensor)) for side in sides]
        if sides and on_host and last not in ("shape", "ndim"):  # which ask, and read nothing
            machine.meet(ConstraintKind.HOST, node, frame, sides)
        return Object("host") if last[:1].isupper() and on_host else Unknown("array")
    if last in machine.torch.model_wrappers:
        models = (one.value for one in given.every() if isinstance(one.value, Module))
        return next(models, given.listed[0].value if given.listed else Unknown())
    if dotted == "adapters.init" and given.listed and isinstance(given.listed[0].value, Module):
        given.listed[0].value.plain["<adapters>"] = Const(True)
        return Const(None)
    if root == "argparse":
        return Object("parser")
    if dotted.endswith("getLogger"):
        return Unknown()
    if dotted in ("os.environ.get", "os.getenv"):
        return environment(machine, given)
    return model_call(machine, dotted, root, last, given, node, frame)
