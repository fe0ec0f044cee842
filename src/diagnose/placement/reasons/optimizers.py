"""Why the state of an optimizer of the user's, or of another keeper of weights, is where it is."""

from __future__ import annotations

from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Step
from diagnose.placement.reasons.building import built_for
from diagnose.placement.steps import Reason, born_at, called, device_argument, on_cpu
from diagnose.placement.tensors import Tensor, tensors_in
from diagnose.placement.values import Object, Unknown


def of_optimizer(stray: Meets, meeting: Meeting) -> Reason | None:
    """State that an optimizer of the user's has made of weights before they were moved."""
    this = meeting.frame.this
    if not isinstance(this, Object) or this.kind != "optimizer" or not on_cpu(stray.tensor):
        return None
    made = born_at(stray.tensor.steps)
    frame = stray.tensor.frame
    own = made is not None and frame is not None and frame.this is this
    if made is not None and own and not _resembles(made):
        return Reason("optimizer-state", made.spot, frame)
    weights = next(tensors_in(this.attributes.get("param_groups", Unknown())), None)
    module = weights.module if weights is not None else None
    return built_for(module, frame) if module is not None else None


def is_of_step(made: Step, meeting: Meeting) -> bool:
    """Whether the step that failed makes a state itself, where no weight tells it a device."""
    own = (
        made.what == "made" and not called(made.spot.node)[:1].isupper()
    )  # torch's are made with it
    return own and made.spot.function == meeting.spot.function and not _resembles(made)


def _resembles(made: Step) -> bool:
    """Whether a factory makes a tensor where another is."""
    named = called(made.spot.node).endswith(("_like", "clone"))
    return named or device_argument(made.spot) is not None


def of_keeper(tensor: Tensor, meeting: Meeting) -> Reason | None:
    """Where an object is made that keeps copies of weights, before these moved; None for an optimizer: it
    steps."""
    keeper = meeting.frame.this
    if not isinstance(keeper, Object) or keeper.made is None or keeper.made.find("step"):
        return None
    made = born_at(keeper.steps)
    copied_once = any(step.what == "copied" for step in tensor.steps)
    return Reason("unregistered-tensor", made.spot, keeper.frame) if made and copied_once else None
