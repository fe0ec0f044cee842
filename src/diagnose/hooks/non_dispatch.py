"""Failures that are no call of torch's: which expression of the failing line stands for an operand, and
what met there by the frames.

Where a program's own check refused (``if not x.is_cuda: raise ...``, ``assert a.device == b.device``)
no call of torch fails, so no recorder notes operands; they are the tensors that the check asked where
they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from diagnose.hooks.introspection import attributes, device_of, entries, is_a, items, shape_of
from diagnose.hooks.live_values import Lives
from diagnose.hooks.modules import located, registered, states
from diagnose.hooks.operands import assigned, standing_for, value
from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import Source, Spot, Step
from diagnose.placement.devices import SPLIT, written
from diagnose.placement.machine import ASKED, Meets
from diagnose.placement.provenance import has
from diagnose.placement.semantics import around, nodes, scope_of
from diagnose.placement.tensors import Module, Tensor
from diagnose.tracing.lives import Life
from diagnose.tracing.stacks import Line, is_own


def bound(node: ast.AST | None, spot: Spot) -> Step | None:
    """The assignment that gave the failing function's variable what it holds."""
    found = assigned(node, scope_of(spot.source.tree, spot.node), spot.line)
    return Step(EventKind.BOUND, spot._replace(node=found)) if found is not None else None


def looped(lives: Lives, tensor: Tensor, node: ast.AST | None, spot: Spot) -> None:
    """Takes for a batch what a loop of the failing function binds and another function made."""
    scope = lives.scopes.around(spot)
    loop = scope.bound.get(node.id) if isinstance(node, ast.Name) else None
    made = next((step.spot for step in tensor.steps if step.what == EventKind.MADE), None)
    if (
        made is None
        or not isinstance(loop, ast.For)
        or tensor.maker not in (Origin.FACTORY, Origin.ARRAY)
    ):
        return
    if not made.is_beside(spot):
        tensor.maker = Origin.BATCH
        tensor.steps = (*tensor.steps, Step(EventKind.BOUND, spot._replace(node=loop)))


def constructed(lives: Lives, tensor: Tensor, node: ast.AST, spot: Spot) -> None:
    """Records where ``torch.Tensor(...)`` created a tensor, which no hook of torch reports."""
    if tensor.maker != Origin.OTHER or has(tensor.steps, EventKind.MADE):
        return
    given = bound(node, spot)
    made = given.spot.node if given is not None else node
    if isinstance(made, ast.Call) and ast.unparse(made.func).endswith("Tensor"):
        tensor.maker = Origin.FACTORY
        tensor.steps = (Step(EventKind.MADE, spot._replace(node=made), tensor.device),)
        tensor.frame = lives.scopes.around(spot)


def node_of(lives: Lives, thing: Any, spot: Spot) -> ast.expr | None:
    """The part of an expression that stands for an object."""
    if not lives.alive:
        return None
    return standing_for(spot.node, lives.alive[-1][0], lambda value: value is thing)


def node_of_module(lives: Lives, module: Module, spot: Spot) -> ast.expr | None:
    """The part of an expression that stands for a module or one around it."""
    family = list(module.owners())

    def wanted(value: Any) -> bool:
        return is_a(value, lives.torch.nn.Module) and lives.module_value(value) in family

    return standing_for(spot.node, lives.alive[-1][0], wanted) if lives.alive else None


class Running(NamedTuple):
    """A frame of the traceback, and the instruction that it stands at."""

    frame: FrameType
    line: Line


class Operand(NamedTuple):
    """What met: its side of the meeting, where it is as torch prints it, its sizes; the live thing and its
    life, where that is known; ``exact``: the side's expression is known to hold it."""

    side: Meets
    device: str
    shape: tuple[int, ...]
    thing: Any = None
    life: Life | None = None
    exact: bool = False


def _of_live(side: Meets, tensor: Any, lives: Lives) -> Operand:
    life = lives.recorder.tensors.get(tensor)
    return Operand(side, device_of(tensor) or "?", shape_of(tensor), tensor, life)


def of_optimizer(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """An optimizer's state that is not with its parameter."""
    for one in reversed(frames):
        owner = (
            one.frame.f_locals.get("self") if "/torch/optim/" in one.line.code.co_filename else None
        )
        if owner is None or not is_a(owner, lives.torch.optim.Optimizer):
            continue
        for parameter, _, state in states(owner):
            if shape_of(state) and located(state) != located(parameter):
                weight = lives.tensor_value(parameter)
                stray = lives.tensor_value(state)
                stray.maker, stray.module = Origin.STATE, weight.module and weight.module.whole()
                return ConstraintKind.STATE, [
                    _of_live(Meets(spot.node, stray, stray), state, lives),
                    _of_live(Meets(spot.node, weight, weight), parameter, lives),
                ]
    return None


def of_own_optimizer(frames: Sequence[Running], lives: Lives, operands: Sequence[Operand]) -> bool:
    """Marks operands that the optimizer whose step fails keeps as its state; whether there are such."""
    owner = _optimizer_of(frames, lives)
    if owner is None:
        return False
    parameters: list[Any] = []
    kept: list[Any] = []
    for _, group in items(attributes(owner).get("param_groups")):
        for name, held in entries(group):
            (parameters.extend if name == "params" else kept.extend)(one for _, one in items(held))
            kept.append(held)
    kept += [tensor for _, _, tensor in states(owner)]
    state = {id(one) for one in kept if is_a(one, lives.tensor)}
    module = next((lives.tensor_value(one).module for one in parameters), None)
    found = False
    for one in operands:
        sharing = {id(value) for value in lives.graph.alike(one.thing, one.life)}
        if module is not None and sharing & state and not any(one.thing is p for p in parameters):
            one.side.tensor.maker, one.side.tensor.module = Origin.STATE, module.whole()
            found = True
    return found


def _optimizer_of(frames: Sequence[Running], lives: Lives) -> Any:
    """The optimizer whose own method fails: within its step a model may run, too."""
    for one in reversed(frames):
        owner = one.frame.f_locals.get("self")
        if is_a(owner, lives.torch.optim.Optimizer):
            return owner
        if is_a(owner, lives.torch.nn.Module):
            return None
    return None


def of_generator(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """A generator that a function of a library refuses before it draws with it."""
    innermost = frames[-1].frame
    for one in innermost.f_locals.values() if not is_own(innermost.f_code) else ():
        if is_a(one, lives.torch._C.Generator):
            node = node_of(lives, one, spot)
            return ConstraintKind.GENERATOR, [generator(lives, one, str(one.device), node, spot)]
    return None


def generator(lives: Lives, thing: Any, device: str, node: ast.expr | None, spot: Spot) -> Operand:
    """A generator as an operand: it has no shape."""
    made = lives.generator(device, thing, node)
    drawn = Tensor(made.device, Origin.GENERATOR, made.steps, made.frame)
    side = Meets(node or spot.node, made, drawn)
    return Operand(side, device, (), thing, exact=node is not None)


def of_wrapper(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """A DataParallel whose module is not on its first device."""
    innermost = frames[-1].frame
    owner = innermost.f_locals.get("self")
    if innermost.f_code.co_name != "forward" or not is_a(owner, lives.torch.nn.DataParallel):
        return None
    inner = dict(entries(attributes(owner).get("_modules"))).get("module")
    devices = attributes(owner).get("device_ids") or [0]
    wrapper = lives.module_value(owner)
    if inner is None or wrapper is None:
        return None
    home = written(f"cuda:{devices[0]}")
    whole = lives.module_value(inner)
    split = whole is not None and whole.device == SPLIT
    for parameter in inner.parameters():
        if located(parameter) != home:
            weight = lives.tensor_value(parameter)
            if split:  # no move of it all would help
                weight.device = SPLIT
            made = tuple(
                Step(EventKind.WRAPPED, s.spot) for s in wrapper.steps if s.what == EventKind.MADE
            )
            there = Tensor(home, Origin.HOME, made, wrapper.frame)
            return ConstraintKind.HOME, [
                _of_live(Meets(spot.node, weight.module or weight, weight), parameter, lives),
                Operand(Meets(spot.node, wrapper, there), str(home), ()),
            ]
    return None


#: What code asks a tensor for, to know where it is.
_ASKED = ASKED | {"get_device"}
_BLOCKS = ast.If | ast.For | ast.While | ast.Assert
#: What simulates GPUs raises where torch would.
_OURS = str(Path(__file__).parents[1])
#: So many tensors of a list that a check looked through are told.
_MOST = 8


def of_check(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]] | None:
    """The tensors that a check asked before it raised: a ``join`` of those that are apart, or of those on
    the cpu with something beside them that is not; else ``kernel`` where all are on the cpu and ``host``
    where none is; None where the innermost frame checks nothing.

    Args:
        frames: of the traceback, outermost first; the check is in the innermost, maybe a library's.
        lives: what is known of tensors.
        spot: the user's innermost line.
    """
    inner = frames[-1]
    source = lives.texts.of(inner.line.code.co_filename)
    raised = _raised(source, inner.line.number) if source is not None else None
    if source is None or raised is None or source.path.startswith(_OURS):
        return None
    found: dict[int, tuple[ast.expr, Any]] = {}
    for asked in _asked(raised, source):
        for node, thing in _tensors(asked, source, inner.frame, lives):
            found.setdefault(id(thing), (node, thing))
    if not found:
        return None
    operands = [
        _operand(node, thing, lives, spot, own=spot.file == source.path)
        for node, thing in list(found.values())[:_MOST]
    ]
    if all(one.device == "cpu" for one in operands):
        beside = next(_beside(inner.frame, lives), None)
        if beside is None:
            return ConstraintKind.KERNEL, operands
        operands.append(_operand(*beside, lives, spot, own=spot.file == source.path))
    apart = len({one.device for one in operands}) > 1
    return ConstraintKind.JOIN if apart else ConstraintKind.HOST, operands


def _beside(frame: FrameType, lives: Lives) -> Iterator[tuple[ast.expr, Any]]:
    """What a function has at hand that is on an accelerator."""
    for name in list(frame.f_locals):
        for node, thing in _held(ast.Name(name, lineno=frame.f_lineno), frame, lives):
            if (device_of(thing) or "").startswith("cuda"):
                yield node, thing


def _operand(node: ast.expr, thing: Any, lives: Lives, spot: Spot, *, own: bool) -> Operand:
    """A tensor that was asked: under the check's own expression where that is the user's, else under what
    stands for it in the user's line."""
    tensor = lives.tensor_value(thing)
    named = node if own else node_of(lives, thing, spot)
    exact = named is not None and value(named, lives.alive[-1][0]) is thing
    return _of_live(Meets(named or spot.node, tensor, tensor), thing, lives)._replace(exact=exact)


def _raised(source: Source, line: int) -> ast.stmt | None:
    """The statement that raises in a line."""
    inside = [
        node
        for node in nodes(source.tree, ast.Raise, ast.Assert)
        if node.lineno <= line <= (node.end_lineno or 0)
    ]
    return inside[-1] if inside else None


def _asked(raised: ast.stmt, source: Source) -> Iterator[ast.expr]:
    """The conditions under which a statement runs, innermost first."""
    if isinstance(raised, ast.Assert):
        yield raised.test
        return
    for one in around(source.tree, raised, ast.AST):
        if not isinstance(one, _BLOCKS):
            return
        if isinstance(one, ast.If | ast.While):
            yield one.test


def _tensors(
    test: ast.expr, source: Source, frame: FrameType, lives: Lives
) -> Iterator[tuple[ast.expr, Any]]:
    """The tensors that a condition asks where they are, each with its expression; a variable that holds
    somebody's device stands for what it was read from."""
    loops = {
        one.target.id: one.iter
        for one in nodes(test, ast.comprehension)
        if isinstance(one.target, ast.Name)
    }
    function = scope_of(source.tree, test)
    for node in nodes(test, ast.Attribute, ast.Name):
        if isinstance(node, ast.Attribute) and node.attr in _ASKED:
            whole = loops.get(node.value.id) if isinstance(node.value, ast.Name) else None
            yield from _held(whole or node.value, frame, lives)
        elif (
            isinstance(node, ast.Name)
            and (given := assigned(node, function, test.lineno)) is not None
        ):
            for part in nodes(given, ast.Attribute):
                if part.attr in _ASKED:
                    yield from _held(part.value, frame, lives)


def _held(node: ast.expr, frame: FrameType, lives: Lives) -> Iterator[tuple[ast.expr, Any]]:
    """A tensor that an expression stands for, or those of a list."""
    thing = value(node, frame)
    if is_a(thing, lives.tensor):
        yield node, thing
    elif is_a(thing, lives.torch.nn.Module):
        yield from ((ast.Attribute(node, name), one) for name, _, one in registered(thing))
    else:
        yield from ((node, one) for _, one in items(thing) if is_a(one, lives.tensor))
