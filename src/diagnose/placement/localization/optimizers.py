"""Why the state of an optimizer of the user's, or of another keeper of weights, is where it is."""

from __future__ import annotations

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.localization.module_builds import built_for
from diagnose.placement.localization.question import Question
from diagnose.placement.model import Step
from diagnose.placement.provenance import (
    Reason,
    device_argument,
    on_cpu,
)
from diagnose.placement.semantics import called
from diagnose.placement.tensors import tensors_in
from diagnose.placement.values import Object, Unknown


def of_optimizer(asked: Question) -> Reason | None:
    """State that an optimizer of the user's has made of weights before they were moved."""
    tensor, made, this = asked.tensor, asked.made, asked.meeting.frame.this
    if not isinstance(this, Object) or this.kind != "optimizer" or not on_cpu(tensor):
        return None
    own = tensor.frame is not None and tensor.frame.this is this
    if made is not None and own and not _resembles(made):
        return asked.at(made, "optimizer-state")
    weights = next(tensors_in(this.attributes.get("param_groups", Unknown())), None)
    module = weights.module if weights is not None else None
    return built_for(module) if module is not None else None


def of_state(asked: Question) -> Reason | None:
    """State that an optimizer keeps: of a library's, where its model is built, if it is made or loaded too
    early."""
    module = asked.tensor.module
    if not asked.meets(ConstraintKind.STATE, Origin.STATE):
        stored = asked.first(EventKind.STORED) if asked.meets(ConstraintKind.STATE) else None
        return asked.at(stored, "optimizer-state")
    built = built_for(module) if module is not None else None
    return built or asked.at(asked.first(EventKind.LOADED) or asked.made, "optimizer-state")


def _resembles(made: Step) -> bool:
    """Whether a factory makes a tensor where another is."""
    named = called(made.spot.node).endswith(("_like", "clone"))
    return named or device_argument(made.spot) is not None
