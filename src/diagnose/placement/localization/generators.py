"""Why a generator draws elsewhere: where it was made, or what it draws for."""

from __future__ import annotations

import ast

from diagnose.kinds import Origin
from diagnose.placement.localization.device_parameters import left_out
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting
from diagnose.placement.provenance import Reason, born_at, device_argument, made_as, on_cpu
from diagnose.placement.semantics import loads
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import Frame, Generator


def of_generator(asked: Question) -> Reason | None:
    """The reason for a generator that draws elsewhere; None where it was not seen being made."""
    meeting, value, tensor, born = asked.meeting, asked.stray.value, asked.tensor, asked.made
    agreed = isinstance(value, Generator) and value.agreed
    made = made_as("generator-device", tensor.steps, tensor.frame)
    told = _told_for_it(made, tensor.frame) if made is not None else None
    if born is not None and (call := left_out(born, tensor.frame)) is not None and not agreed:
        return Reason("generator-device", *call)
    if agreed or (told is made and _is_chosen(tensor, meeting)):
        return Reason("generator-device", meeting.spot, meeting.frame)
    return told


def _is_chosen(tensor: Tensor, meeting: Meeting) -> bool:
    """Whether a generator is on an accelerator that a program has chosen, and draws for what is not told
    any device."""
    made, drawn = born_at(tensor.steps), meeting.spot
    if made is None or on_cpu(tensor) or not isinstance(drawn.node, ast.Call):
        return False
    said = device_argument(made.spot)
    told = said is not None and not isinstance(said, ast.Constant)
    factory = any(one.tensor.maker == Origin.FACTORY for one in meeting.sides)
    return told and factory and device_argument(drawn) is None


def _told_for_it(found: Reason, frame: Frame | None) -> Reason:
    """Where a device is told that a parameter hands on to a generator, and to nothing else."""
    said = device_argument(found.spot)
    if frame is None or not isinstance(said, ast.Name) or said.id not in frame.given:
        return found
    other = len(loads(found.spot.source.tree, said.id)) > 1
    if other or frame.call is None or not isinstance(frame.given[said.id], ast.Constant):
        return found
    return Reason(found.cause, frame.call._replace(node=frame.given[said.id]), frame.caller)
