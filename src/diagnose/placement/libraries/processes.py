"""Gaussian processes of gpytorch: kernels, means and likelihoods are modules with weights of their own."""

from __future__ import annotations

import ast

from diagnose.placement.libraries.layers import built
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.tensors import Batch, Module, tensors_in
from diagnose.placement.values import Frame, Value

#: The packages whose classes have weights, or are made of what has.
_WEIGHTED = frozenset({"kernels", "likelihoods", "means"})


def gaussian(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """A part of a Gaussian process, made here; None for other calls.

    An objective runs the likelihood that it is given, and not the model; a distribution is where its
    mean is.
    """
    packages, last = dotted.split(".")[:-1], dotted.rpartition(".")[2]
    if packages[:1] != ["gpytorch"] or not last[:1].isupper():
        return None
    if "mlls" in packages:
        said = given.get("likelihood", 0)
        return said.value if said is not None and isinstance(said.value, Module) else None
    if "distributions" in packages:
        mean = next((t for one in given.every() for t in tensors_in(one.value)), None)
        return Batch(mean.like(mean.device)) if mean is not None else None
    if not _WEIGHTED.intersection(packages):
        return None
    found = built(machine, f"gpytorch.{last}", node, frame)
    if last == "ZeroMean":
        found.weights, found.device = False, None
    return found
