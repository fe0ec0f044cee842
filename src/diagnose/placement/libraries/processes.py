"""Gaussian processes of gpytorch: kernels, means and likelihoods are modules with weights of their own."""

from __future__ import annotations

from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.layers import built
from diagnose.placement.tensors import Batch, Module, tensors_in
from diagnose.placement.values import Value


def objective(call: CallSite) -> Value | None:
    """An objective runs the likelihood that it is given, and not the model."""
    said = call.given.get("likelihood", 0)
    return said.value if said is not None and isinstance(said.value, Module) else None


def process_distribution(call: CallSite) -> Value | None:
    """A distribution is where its mean is."""
    mean = next((t for one in call.given.every() for t in tensors_in(one.value)), None)
    return Batch(mean.like(mean.device)) if mean is not None else None


def layer_of_library(call: CallSite) -> Value:
    """A layer of another library, with weights of its own unless the row says that it has none."""
    found = built(call, f"{call.root}.{call.last}")
    if call.effect.gives == "weightless":
        found.weights, found.device = False, None
    return found
