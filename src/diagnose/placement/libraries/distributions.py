"""Distributions of ``torch.distributions``: they are where what they are made of is, and ask values to be
there."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Meets, operands
from diagnose.placement.tensors import Distribution, Tensor
from diagnose.placement.values import Unknown, Value

#: Methods that compute with a value that they are given.
_OF_A_VALUE = frozenset({"log_prob", "cdf", "icdf"})
#: Methods that give the same distribution in another shape.
_SAME = frozenset({"expand"})
#: Methods that draw numbers, or tell of the distribution.
_OWN = frozenset({"sample", "rsample", "sample_n", "entropy", "enumerate_support", "perplexity"})
#: What it tells of itself: tensors of its own.
_TOLD = frozenset({"mean", "stddev", "variance", "mode", "loc", "scale", "probs", "logits"})


def distribution_of(call: CallSite) -> Value | None:
    """A distribution of tensors; None for other calls, and where it is made of numbers.

    It stays where its tensors were, but for parameters, which move with their module: what else it is made
    of then stands for it.
    """
    parts = [side.tensor for side in operands(call.given)]
    if call.last not in call.machine.torch.distributions or not parts:
        return None
    wide = [part for part in parts if not part.scalar] or parts
    inner = next((part for part in wide if part.maker != Origin.WEIGHT), wide[0])
    together = all(part.device == inner.device for part in wide)
    return Distribution(inner if together else inner.like(None))


def has_method(name: str) -> bool:
    """Whether distributions have a method of a name that is known."""
    return name in _OF_A_VALUE or name in _SAME or name in _OWN


def told(owner: Distribution, name: str) -> Tensor | None:
    """A tensor that a distribution has as an attribute; None for other names."""
    return owner.inner.computed(owner.inner.device) if name in _TOLD else None


def distribution_method(owner: Distribution, call: CallSite) -> Value:
    """What a method of a distribution gives: it meets the value that it is given."""
    own = owner.inner
    if call.name in _SAME:
        return owner
    if call.name in _OWN:
        return own.computed(own.device)
    sides = operands(call.given)
    if not sides or not isinstance(call.node, ast.Call):
        return Unknown()
    asked = call.node.func.value if isinstance(call.node.func, ast.Attribute) else call.node
    call.meet(ConstraintKind.JOIN, [Meets(asked, owner, own), *sides])
    there: Tensor = next((side.tensor for side in sides if not side.tensor.scalar), own)
    return there.computed(there.device if there.device == own.device else None)
