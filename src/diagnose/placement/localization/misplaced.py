"""Which operands of a meeting may be the misplaced ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.devices import differ, is_gpu, is_host, is_said
from diagnose.placement.localization.availability import has_device
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.provenance import (
    born_at,
    device_argument,
    has,
    is_literal,
    is_on,
    last_move,
    last_of,
    on_cpu,
    replicated,
)
from diagnose.placement.semantics import called
from diagnose.placement.tensors import Module, Tensor


def names_cpu(device: str) -> bool:
    """Whether a device is no accelerator."""
    return device.partition(":")[0].casefold() in ("cpu", "meta")


def agree(meeting: Meeting) -> bool:
    """Whether all operands are known to be on one device, of which there may be copies."""
    if meeting.what == ConstraintKind.GENERATOR and len(meeting.sides) == 1:
        return False  # what it draws for is not seen
    first = meeting.sides[0].tensor.device
    same = all(differ(first, side.tensor.device) is False for side in meeting.sides)
    return same and not any(_of_replica(side) for side in meeting.sides)


def _of_replica(side: Meets) -> bool:
    """Whether an operand is kept by a module that is copied to several GPUs, and is not copied with it."""
    last = last_of(side.tensor.steps, EventKind.KEPT, EventKind.HELD, EventKind.MOVED)
    if last is None or last.what == EventKind.MOVED:
        return False  # what is moved where it is used is a replica's own
    return not is_host(side.tensor.device) and replicated(side.tensor.module)


def _loaded(sides: Sequence[Meets]) -> Iterator[tuple[Meets, Meets]]:
    """What was loaded and comes back where it was saved, and an operand that is known to be on a GPU."""
    there = next((side for side in sides if is_gpu(side.tensor.device)), None)
    for side in sides:
        free = side.tensor.device is None and last_move(side.tensor.steps) is None
        if there is not None and free and side.tensor.maker == Origin.LOAD:
            yield side, there


def _shared(sides: Sequence[Meets]) -> tuple[Meets, Meets] | None:
    """What the replicas of a module share, and an operand of each replica's own GPU that it meets."""
    stays = [side for side in sides if _of_replica(side) and is_gpu(side.tensor.device)]
    moves = [side for side in sides if side not in stays and is_gpu(side.tensor.device)]
    return (stays[0], moves[0]) if stays and moves else None


def strays(meeting: Meeting, devices: Sequence[str]) -> Iterator[tuple[Meets, Meets | None]]:
    """The operands that may be misplaced, each with one that it met."""
    sides, what = meeting.sides, meeting.what
    host = what == ConstraintKind.INDEX and is_host(sides[0].tensor.device)
    if what == ConstraintKind.HOST:
        yield from ((side, None) for side in sides if _is_off_the_host(side, meeting, devices))
    elif what == ConstraintKind.META:
        if devices or is_on(sides[0], DeviceType.META):
            yield sides[0], None
    elif what == ConstraintKind.INDEX and _is_brought_along(meeting):
        return
    elif host and not is_host(sides[1].tensor.device):
        if devices or is_gpu(sides[1].tensor.device):
            yield (sides[0], sides[1]) if _is_table(meeting) else (sides[1], sides[0])
    elif what == ConstraintKind.HOME and is_on(sides[0], DeviceType.SPLIT):
        yield sides[0], sides[-1]
    elif not devices:
        yield from _apart(meeting)
    else:
        yield from _of_cpu(meeting) if any(map(names_cpu, devices)) else _of_gpus(meeting, devices)


def _is_off_the_host(side: Meets, meeting: Meeting, devices: Sequence[str]) -> bool:
    device = side.tensor.device
    if is_gpu(device):
        # Whoever calls what nothing calls may have brought it to the host.
        return bool(devices) or (meeting.because is None and not _may_be_elsewhere(side.tensor))
    return bool(devices) and device is None


def _is_brought_along(meeting: Meeting) -> bool:
    """Whether an index is one number, or of the host and in brackets: a tensor of a GPU takes it along."""
    table, index = (one.tensor for one in meeting.sides[:2])
    brought = is_gpu(table.device) and is_host(index.device)
    return index.scalar or (brought and isinstance(meeting.spot.node, ast.Subscript))


def _is_table(meeting: Meeting) -> bool:
    """Whether a table of the host is misplaced, and not the index of another device into it."""
    table = meeting.sides[0].tensor
    move = last_move(table.steps)
    if move is not None and is_literal(move):
        return False  # brought to the host on purpose
    kept = table.maker == Origin.WEIGHT or has(table.steps, EventKind.KEPT, EventKind.HELD)
    return (
        (kept and table.module is not None)  # it should have moved with its module
        or (_is_given(meeting.sides[1], meeting) and _made_where_known(table))
        or _is_counted_here(table, meeting)
    )


def _apart(meeting: Meeting) -> Iterator[tuple[Meets, Meets | None]]:
    """Operands that are known to be apart, though nothing failed."""
    sides = meeting.sides
    if meeting.what == ConstraintKind.GENERATOR and sides[-1].tensor.maker == Origin.ORDER:
        if differ(sides[0].tensor.device, sides[-1].tensor.device):
            yield sides[0], sides[-1]
        return
    # of the wrapper itself there is one alone
    shared = _shared(sides) if meeting.what != ConstraintKind.HOME else None
    if shared is not None:
        yield shared
        return
    for stray, other in _pairs(sides):
        if differ(stray.tensor.device, other.tensor.device) and not _mixes(stray, meeting):
            yield stray, other
            return
    yield from _loaded(sides)


def _made_where_known(table: Tensor) -> bool:
    """Whether an object keeps a table that was made where a device was known."""
    made = born_at(table.steps)
    if made is None or table.frame is None or not has(table.steps, EventKind.STORED):
        return False
    return on_cpu(table) and has_device(table.frame, made.spot)


#: Factories of what a function computes with, and no data.
_COUNTING = frozenset({"arange", "linspace", "logspace", "eye"})


def _is_counted_here(table: Tensor, meeting: Meeting) -> bool:
    """Whether the function that picks from a table has counted it out itself, for lack of ``device=``."""
    made = born_at(table.steps)
    if made is None or meeting.frame.function is None or device_argument(made.spot) is not None:
        return False
    return (
        made.spot.is_beside(meeting.spot)
        and table.maker == Origin.FACTORY
        and called(made.spot.node) in _COUNTING
    )


def _is_given(index: Meets, meeting: Meeting) -> bool:
    """Whether a function is given an index as its parameter: what it computes itself, it can place."""
    node, frame = index.node, meeting.frame
    return isinstance(node, ast.Name) and node.id in frame.given and node.id not in frame.bound


def _may_be_elsewhere(tensor: Tensor) -> bool:
    """Whether a tensor is on an accelerator only where a name or a parameter stands for one, or may be no
    tensor at all."""
    device = tensor.device
    named = device is not None and device.number is None and not device.ranked
    return named or tensor.guessed or tensor.maker in (Origin.GIVEN, Origin.LIBRARY)


def _of_cpu(meeting: Meeting) -> Iterator[tuple[Meets, Meets | None]]:
    """Between cpu and accelerator the operands on the cpu, then those of which nothing is known."""
    sides = meeting.sides
    known = [s for s in sides if is_host(s.tensor.device) or is_on(s, DeviceType.META)]
    known = [s for s in known if not _mixes(s, meeting)] or known
    rest = [s for s in sides if s not in known]
    if meeting.what == ConstraintKind.GENERATOR:
        known = [s for s in sides if s.tensor.maker == Origin.GENERATOR]
    for stray in known:
        yield stray, next((s for s in rest if s is not stray), None)
    for stray in () if known else _unseen(rest, meeting):
        yield stray, next((s for s in rest if s is not stray), None)


def _unseen(sides: Sequence[Meets], meeting: Meeting) -> Iterator[Meets]:
    """Operands that may be on the cpu, where none is known to be; then what a line alone puts on a GPU, for
    the others may be where they should be, but for a module: that is to be where its input is."""
    open_ = [s for s in sides if s.tensor.device is None and not _is_told(s.tensor)]
    open_ = [s for s in open_ if not _is_of_moved(s.tensor)]
    # A weight that a library has spread, and may have left on the host.
    open_ += [
        s
        for s in sides
        if is_on(s, DeviceType.SPLIT) and s.tensor.maker in (Origin.WEIGHT, Origin.COMPUTED)
    ]
    yield from sorted(open_, key=_is_bare_loss)
    if meeting.what != ConstraintKind.CALL and not any(map(_is_of_module, sides)):
        yield from (s for s in sides if is_gpu(s.tensor.device) and _is_fixed(s.tensor))


def _is_of_module(side: Meets) -> bool:
    return isinstance(side.value, Module) or side.tensor.maker == Origin.WEIGHT


def _is_told(tensor: Tensor) -> bool:
    """Whether the program says where a tensor is, though not as a literal."""
    made = born_at(tensor.steps)
    told = made is not None and device_argument(made.spot) is not None
    return told or last_move(tensor.steps) is not None


def _is_fixed(tensor: Tensor) -> bool:
    """Whether the line that put a tensor where it is writes the device down."""
    last = last_move(tensor.steps) or born_at(tensor.steps)
    return last is not None and is_literal(last)


def _is_bare_loss(side: Meets) -> bool:
    """Whether an operand is a library's loss that was given nothing when it was made: it keeps no tensors,
    most often."""
    value = side.value
    made = born_at(value.steps) if isinstance(value, Module) and value.made is None else None
    node = made.spot.node if made is not None else None
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return ast.unparse(node.func).endswith(("Loss", "CrossEntropy"))


def _is_of_moved(tensor: Tensor) -> bool:
    """Whether a tensor comes out of a module that is on an accelerator."""
    where = tensor.module.where() if tensor.module is not None else None
    return tensor.maker == Origin.OUTPUT and is_gpu(where)


def _of_gpus(meeting: Meeting, devices: Sequence[str]) -> Iterator[tuple[Meets, Meets | None]]:
    """Between two accelerators: what a line fixes by number, what was loaded, what was kept."""
    sides = meeting.sides
    told = [s for s in sides if _suspicion(s) > 0]
    for stray in sorted(told, key=lambda s: (_is_alone(s, sides), _suspicion(s)), reverse=True):
        here = stray.tensor.device
        if here is not None and not any(is_said(here, device) for device in devices):
            continue
        replica = _of_replica(stray)
        other = next(
            (
                s
                for s in sides
                if s is not stray and (replica or differ(s.tensor.device, here) is not False)
            ),
            None,
        )
        if other is not None:
            yield stray, other


def _is_alone(side: Meets, sides: Sequence[Meets]) -> bool:
    """Whether two or more others are known to be on one accelerator, and an operand on another one; the
    weights of a layer count as one."""
    rest = [one for one in sides if one is not side]
    others = [one.tensor.device for one in rest]
    apart = {id(one.tensor.module if one.tensor.maker == Origin.WEIGHT else one) for one in rest}
    if len(apart) < 2 or any(differ(others[0], one) is not False for one in others):
        return False
    return differ(side.tensor.device, others[0]) is True


def _suspicion(side: Meets) -> int:
    """How much speaks for an operand being the misplaced one of two on accelerators."""
    tensor = side.tensor
    if tensor.maker in (Origin.OUTPUT, Origin.WEIGHT, Origin.COMPUTED) and not has(
        tensor.steps, EventKind.KEPT, EventKind.HELD
    ):
        move = last_move(tensor.steps)
        if move is None and tensor.maker != Origin.OUTPUT and _is_loaded(tensor):
            return 5
        if move is None and tensor.maker == Origin.OUTPUT and tensor.module is not None:
            move = last_move(tensor.module.steps)
        return 2 if tensor.maker != Origin.COMPUTED and move is not None and is_literal(move) else 0
    if tensor.maker == Origin.LOAD and last_move(tensor.steps) is None:
        return 5
    if has(tensor.steps, EventKind.KEPT, EventKind.HELD):
        return 4
    last = last_move(tensor.steps) or born_at(tensor.steps)
    if last is not None and is_gpu(last.device):
        if is_literal(last):
            return 3
        if last.of is not None:
            return 0 if last.device.ranked else 1
    return 1 if tensor.maker in (Origin.HOME, Origin.GENERATOR, Origin.STATE) else 0


def _is_loaded(tensor: Tensor) -> bool:
    """Whether a weight is of a model that was loaded as a whole."""
    return has(tensor.steps, EventKind.LOADED)


def _pairs(sides: Sequence[Meets]) -> Iterator[tuple[Meets, Meets]]:
    """Two operands at a time, the one that is likelier misplaced first."""
    ordered = sorted(sides, key=_rank)
    for position, stray in enumerate(ordered):
        for other in ordered[position + 1 :]:
            yield stray, other


#: On which type of device a stray likelier is.
_LIKELIEST = (DeviceType.META, DeviceType.CPU, DeviceType.CUDA, DeviceType.SPLIT)


def _rank(side: Meets) -> tuple[int, int]:
    """The likelier stray comes first: what is on meta, on the cpu, where a line fixes it."""
    device = side.tensor.device
    kind = _LIKELIEST.index(device.type) if device is not None else 9
    return (kind, -_suspicion(side))


def _is_layers_input(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand is what a layer of torch computes on: that has dimensions."""
    layer = meeting.sides[0].value
    known = isinstance(layer, Module) and layer.made is None and layer.kind.isidentifier()
    return known and meeting.what == ConstraintKind.CALL and side is meeting.sides[1]


def _mixes(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand may be on the cpu: one without dimensions that is only read, or an index."""
    if isinstance(meeting.spot.node, ast.AugAssign) and side is meeting.sides[0]:
        return False
    if side.tensor.scalar and not is_gpu(side.tensor.device):
        return not _is_layers_input(side, meeting)
    if meeting.what == ConstraintKind.INDEX:
        return side is not meeting.sides[0] and called(meeting.spot.node) not in _PICKING
    return False


#: Functions and methods that pick by an index, and take none of the cpu, as ``x[index]`` does.
_PICKING = frozenset({"index_select", "gather", "take", "masked_select"})
