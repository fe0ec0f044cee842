"""The operands of a failing call as an answer shows them: the strays first, each by the name that the
program has for it, with the lines of its life."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from diagnose.hooks.introspection import device_of, shape_of
from diagnose.hooks.live_values import Lives
from diagnose.hooks.modules import dotted, registered
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.positions import statement_of
from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.model import At, LiveOperand
from diagnose.placement import Spot, Step, Suspect
from diagnose.placement.devices import META
from diagnose.placement.localization.misplaced import strays
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.provenance import first_of, has
from diagnose.placement.tensors import Module, Tensor

_MADE = (Origin.FACTORY, Origin.ARRAY, Origin.LOAD)
#: What a life begins with, and what it is told by where nobody saw that.
_BIRTHS = frozenset({EventKind.MADE, EventKind.LOADED, EventKind.WRAPPED})
_BIRTHS_ELSE = frozenset({EventKind.COMPUTED, EventKind.PUT})


class Misplaced(NamedTuple):
    """An operand that is a stray, and the device where it should be."""

    side: Meets
    expected: str


def absent_from(meeting: Meeting) -> tuple[Meets | None, Meets | None]:
    """The operand that is on meta, and one that is not."""
    on_meta = [side for side in meeting.sides if side.tensor.device == META]
    rest = [side for side in meeting.sides if side.tensor.device != META]
    return next(iter(on_meta), None), next(iter(rest), None)


def misplaced_in(
    meeting: Meeting, suspects: Sequence[Suspect], devices: Sequence[str], asked: str | None
) -> Iterator[Misplaced]:
    """The strays of a meeting: whom the first suspect accuses, else who cannot be where the others are.

    Args:
        meeting: what met.
        suspects: likeliest first.
        devices: those that the message names.
        asked: the device that the failing call named.
    """
    stray, other = absent_from(meeting)
    if meeting.what == ConstraintKind.HOME:
        stray, other = meeting.sides[0], meeting.sides[-1]
    if stray is None and suspects:
        stray, other = _accused(meeting, suspects[0])
    if stray is None:
        stray, other = next(iter(strays(meeting, devices or ("?", "cpu"))), (None, None))
    across = bool(suspects) and suspects[0].cause == "cross-shard-op"
    if across and stray is not None and other is not None:  # either may be brought to the other
        yield Misplaced(stray, str(other.tensor.device))
        yield Misplaced(other, str(stray.tensor.device))
        return
    if stray is not None:
        expected = _expected(stray, other, meeting, devices, asked)
        if expected is not None:
            yield Misplaced(stray, expected)
        return
    first, *rest = meeting.sides
    for side in rest:
        if None not in (first.tensor.device, side.tensor.device) and (
            first.tensor.device != side.tensor.device
        ):
            yield Misplaced(side, str(first.tensor.device))


def _accused(meeting: Meeting, suspect: Suspect) -> tuple[Meets | None, Meets | None]:
    """The operand that a suspect is about, and one that is elsewhere; of what was restored to where it was
    saved, the restored one."""
    sides = [
        side
        for side in meeting.sides
        if side.tensor.device == suspect.device and side.tensor.steps == suspect.steps
    ]
    stray = next(iter(sides), None)
    where = stray.tensor.device if stray is not None else None
    other = next((s for s in meeting.sides if s.tensor.device not in (where, None)), None)
    if suspect.cause == "checkpoint-location" and other is not None and not _restored(stray):
        return other, stray
    return stray, other


def _restored(side: Meets | None) -> bool:
    return side is not None and has(side.tensor.steps, EventKind.LOADED)


def _expected(
    stray: Meets, other: Meets | None, meeting: Meeting, devices: Sequence[str], asked: str | None
) -> str | None:
    """Where a stray should be, as far as anybody knows."""
    if meeting.what == ConstraintKind.HOST:
        return "cpu"
    if other is not None and other.tensor.device is not None:
        return str(other.tensor.device)
    if asked is not None and asked != str(stray.tensor.device):
        return asked
    return next((device for device in devices if device != str(stray.tensor.device)), None)


def told(
    operands: Sequence[Operand], meeting: Meeting, misplaced: Sequence[Misplaced], lives: Lives
) -> Iterator[LiveOperand]:
    """The operands, the strays first."""
    wanted = {id(one.side): one.expected for one in misplaced}
    for one in sorted(operands, key=lambda one: id(one.side) not in wanted):
        tensor = one.side.tensor
        # What was only taken for an input has no birth, what a layer gives that of its computing.
        taken = (EventKind.MADE, one.side.node) if tensor.maker == Origin.BATCH else None
        steps = [s for s in computed(tensor) if (s.what, s.spot.node) != taken]
        if tensor.maker == Origin.STATE:
            steps = list(lives.steps.of(one.life.events)) if one.life is not None else []
            steps = steps or [Step(EventKind.SEEN, meeting.spot)]
        name = _name(one, meeting.spot, lives)
        expected = wanted.get(id(one.side))
        root = _root(one, name, lives) if expected is not None else None
        shown = _shown(name, tensor.maker, steps, one.device, one.shape)
        yield shown._replace(expected=expected, root=root)


def computed(tensor: Tensor) -> tuple[Step, ...]:
    """The steps of a tensor's own life: of what a layer gives without those of the layer."""
    if tensor.maker != Origin.OUTPUT:
        return tensor.steps
    at = next((n for n, step in enumerate(tensor.steps) if step.what == EventKind.COMPUTED), 0)
    return tensor.steps[at:]


def _born(steps: Sequence[Step], maker: Origin) -> At | None:
    """The line that an answer calls the birth; of a batch, of whatever it was made, its loader's."""
    made = [step for step in steps if step.what in _BIRTHS]
    made = made[-1 if maker == Origin.BATCH else 0 :]
    made += [step for step in steps if step.what in _BIRTHS_ELSE]
    made += [step for step in steps if step.what == EventKind.SEEN]
    return _at(made[0].spot) if made else None


def _only_seen(steps: Sequence[Step]) -> bool:
    """Whether nobody saw how something was made."""
    whats = {step.what for step in steps}
    return EventKind.SEEN in whats and not whats & (_BIRTHS | _BIRTHS_ELSE)


def _at(spot: Spot) -> At:
    return At(spot.file, spot.line, spot.function, spot.code)


def _name(one: Operand, spot: Spot, lives: Lives) -> str:
    """What the program calls an operand: a weight by its path, else as the innermost line writes it that
    holds it."""
    tensor = one.side.tensor
    if tensor.maker == Origin.WEIGHT and tensor.module is not None and tensor.name:
        return _path(tensor.module, tensor.name, lives)
    node = one.side.node
    said = ast.unparse(node) if isinstance(node, ast.expr) and node is not spot.node else ""
    if one.exact and said:
        return said
    return lives.graph.name(one.thing) or said or _assigned(one) or lives.graph.borrowed(one.thing)


def _assigned(one: Operand) -> str:
    """What the statement that made a tensor assigned it to, in a function that is over."""
    made = first_of(one.side.tensor.steps, EventKind.MADE, EventKind.LOADED)
    if made is None or one.side.tensor.maker not in _MADE:
        return ""
    match statement_of(made.spot):
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
            return ast.unparse(target) if value is made.spot.node else ""
    return ""


def _path(module: Module, name: str, lives: Lives) -> str:
    """How a weight is reached from the outermost module that has a name."""
    *parts, whole = module.owners()
    start = whole.word or lives.held_as(whole)
    return dotted(start, *(one.word for one in reversed(parts)), name)


def _root(one: Operand, name: str, lives: Lives) -> LiveOperand | None:
    """What the program keeps of an operand under another name."""
    tensor = one.side.tensor
    if tensor.maker == Origin.WEIGHT or isinstance(one.side.value, Module):
        return None
    keeper = lives.graph.keeper(one.thing, one.life)
    if keeper is not None:
        return _kept(keeper.name, keeper.tensor, lives) if keeper.name != name else None
    if (weight := _weight(one, lives)) is not None:
        return weight
    source = lives.graph.source(one.thing, one.life) or lives.graph.outermost(one.thing)
    return _kept(source.name, source.tensor, lives) if source and source.name != name else None


def _weight(one: Operand, lives: Lives) -> LiveOperand | None:
    """The weight that an operand was computed with, where it is on the same device."""
    life = one.life
    module = life.module.module() if life is not None and life.module is not None else None
    value = lives.module_of(life.module) if life is not None else None
    if life is None or value is None:
        return None
    for name, _, tensor in registered(module):
        if name == life.name and device_of(tensor) == one.device:
            return _kept(_path(value, name, lives), tensor, lives)
    return None


def _kept(name: str, thing: Any, lives: Lives) -> LiveOperand:
    tensor = lives.tensor_value(thing)
    return _shown(name, tensor.maker, tensor.steps, device_of(thing) or "?", shape_of(thing))


def _shown(
    name: str, maker: Origin, steps: Sequence[Step], device: str, shape: tuple[int, ...]
) -> LiveOperand:
    return LiveOperand(
        name=name,
        kind=maker.value,
        device=device,
        shape=shape,
        born=_born(steps, maker),
        seen=_only_seen(steps),
        moved=tuple(_at(s.spot) for s in steps if s.what == EventKind.MOVED),
    )
