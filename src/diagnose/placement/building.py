"""Where a module is built, put, moved or forgotten: why its weights are where they are."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnose.placement.devices import named_so, written
from diagnose.placement.model import Source, Spot, Step
from diagnose.placement.steps import Reason, born_at, is_literal, last_move
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Object, Place, Unknown, Value

_LOW_MEMORY = re.compile(
    r"low_?(v?ram|mem)|med_?vram|offload|keep_?on_?cpu|save_?memory", re.IGNORECASE
)


LOSSES = re.compile(
    r"(Loss|Criterion|LossNet|Metric|Meter|Accuracy|F1|AUROC|Perceptual)", re.IGNORECASE
)


def _saves_memory(source: Source) -> str | None:
    """What a program calls its saving of memory."""
    return _saving(tuple(source.lines))


@lru_cache(maxsize=8)
def _saving(lines: tuple[str, ...]) -> str | None:
    found = _LOW_MEMORY.search("\n".join(lines))
    return found[0] if found is not None else None


def of_module(
    module: Module, tensor: Tensor | None = None, said: str = "", used: Frame | None = None
) -> Reason | None:
    """Why a module's weights are where they are; ``used`` are the variables where it was called."""
    top = module
    for _ in range(12):
        if any(step.what == "held" for step in top.steps):
            break
        # Of what is built from parts the whole is late, not its parts.
        if _put_late(top) is not None and not (top.owner and _put_late(top.owner)):
            break
        if top.owner is None:
            break
        top = top.owner
    made = born_at(top.steps)
    held = next((s for s in top.steps if s.what == "held"), None)
    move = last_move(top.steps)
    if held is not None and top.owner is not None:
        return Reason("unregistered-submodule", held.spot, top.frame)
    late = _put_late(top)
    if late is not None and made is not None and top.owner is not None:
        moved = last_move(top.owner.steps)
        spot, frame = where_built(made, top.frame)
        return Reason("submodule-added-after-move", spot, frame, move=moved.spot if moved else None)
    where = tensor.device if tensor is not None else top.where()
    if move is not None and move.device is not None and move.device.type == "cpu":
        low = _saves_memory(move.spot.source)
        saving = low is not None and "offload" not in low.casefold()
        return Reason("low-memory-mode" if saving else "offloaded-to-cpu", move.spot, top.frame)
    if move is not None:
        if where is not None and where.type == "cuda" and (is_literal(move) or move.of is not None):
            return Reason(
                "hardcoded-device",
                move.spot if is_literal(move) else move.of or move.spot,
                top.frame,
            )
        return None
    if made is not None and (where is None or where.type == "cpu"):
        if module is not top and (part := _part_of_moved(module, top)) is not None:
            return part
        loss = any(map(LOSSES.search, (top.kind, top.word, said)))
        spot, frame = where_built(made, top.frame)
        cause = "loss-or-metric-state" if loss else "module-not-moved"
        if _saves_memory(made.spot.source):  # what a program does to save memory
            cause = "low-memory-mode"
        sibling = _moved_beside(top, frame, spot)
        if sibling is not None and top.word:
            return Reason(cause, sibling, frame, owner=top.word)
        if frame is None or not _has_device(frame, spot):
            # Built where nobody knows a device, and used beside one that is moved: it is to be moved there.
            while used is not None:
                name = _name_in(used, top)
                there = spot._replace(source=used.source, function=used.function)
                sibling = _moved_beside(top, used, there, after=0) if name is not None else None
                if sibling is not None:
                    return Reason(cause, sibling, used, owner=name)
                used = used.caller
        return Reason(cause, spot, frame)
    return None


def _part_of_moved(module: Module, whole: Module) -> Reason | None:
    """A part that was built on the cpu and put beside parts that were moved before."""
    places = (one.where() for one in whole.family())
    beside = any(place is not None and place.type == "cuda" for place in places)
    made = born_at(module.steps)
    if not beside or made is None:
        return None
    spot, frame = where_built(made, module.frame)
    return Reason("submodule-added-after-move", spot, frame)


def moved_within(spot: Spot, loop: ast.For) -> Spot | None:
    """The statement of a loop that moves another of the values that the loop binds."""
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    for statement in loop.body:
        if isinstance(statement, ast.Assign):
            for node in ast.walk(statement.value):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to" | "cuda")):
                        if name in names:
                            return spot._replace(node=statement)
    return None


def _name_in(frame: Frame | None, module: Module) -> str | None:
    """The variable of a call that holds a module."""
    names = frame.names.items() if frame is not None else ()
    return next((name for name, value in names if value is module), None)


def _moved_beside(
    module: Module, frame: Frame | None, spot: Spot, after: int | None = None
) -> Spot | None:
    """The statement that moves another module of the same variables, after this one was built."""
    if frame is None or module.owner is not None:
        return None
    held = dict(frame.names)
    if isinstance(frame.this, Object):
        held |= frame.this.attributes
    found: list[Spot] = []
    for other in held.values():
        if isinstance(other, Module) and other is not module and other.owner is None:
            move = last_move(other.steps)
            if move is None or move.spot.function != spot.function or move.spot.file != spot.file:
                continue
            first = spot.line if after is None else after
            if move.spot.line >= first and _is_statement(move.spot):
                found.append(move.spot)
    return max(found, key=lambda one: one.line, default=None)


def _is_statement(spot: Spot) -> bool:
    """Whether a call is all of a statement, such as ``model.to(device)``, or prepares what it is given."""
    if isinstance(spot.node, ast.Call) and ast.unparse(spot.node.func).endswith(".prepare"):
        return True
    return id(spot.node) in _statements(spot.source.tree)


@lru_cache(maxsize=8)
def _statements(tree: ast.Module) -> frozenset[int]:
    """The expressions of a file that are all of a statement."""
    return frozenset(id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr))


def where_built(made: Step, frame: Frame | None) -> tuple[Spot, Frame | None]:
    """Where something is built: the innermost call on the way to it beside which a device is known."""
    spot, around = made.spot, frame
    while around is not None:
        if _has_device(around, spot):
            return spot, around
        if around.call is None or not _gives_what_it_builds(around):
            break
        if isinstance(around.call.node, ast.ClassDef | ast.FunctionDef):
            break
        spot, around = around.call, around.caller
    return made.spot, frame


def _gives_what_it_builds(frame: Frame) -> bool:
    """Whether the result of a call can be moved in place of what is built within it."""
    if (frame.function or "").endswith((".forward", ".__call__")):
        return False
    if (frame.function or "").endswith(".__init__"):
        return isinstance(frame.this, Module)
    return any(isinstance(value, Module | Tensor | Batch | Items) for value in frame.result)


def _has_device(frame: Frame, spot: Spot) -> bool:
    """Whether a device is among the variables of a call, or of its object."""
    held: dict[str, Value] = {}
    if isinstance(frame.this, Module):
        held = frame.this.plain
    elif isinstance(frame.this, Object):
        held = frame.this.attributes
    names = (name for name in frame.names if frame.lines.get(name, 0) <= spot.line)
    values = [*((name, frame.names[name]) for name in names), *held.items()]
    return any(_tells_device(name, value) for name, value in values)


def _tells_device(name: str, value: Value) -> bool:
    if isinstance(value, Object):
        told = value.kind == "namespace" and any(
            _tells_device(*one) for one in value.attributes.items()
        )
        return told or value.kind == "accelerator"
    if isinstance(value, Const):
        return isinstance(value.value, str) and written(value.value) is not None
    return isinstance(value, Place) or (isinstance(value, Unknown) and named_so(name))


def _put_late(module: Module) -> Step | None:
    """The step that put a module into one that was moved before, and not again."""
    put = next((s for s in module.steps if s.what == "put"), None)
    if put is None or put.device is None or put.device.type != "cuda":
        return None
    return None if any(step.what == "moved" for step in module.steps) else put


def built_for(module: Module) -> Reason | None:
    """Where the module of an optimizer is built: moved there, it is where its optimizer finds it."""
    made = born_at(module.steps)
    return Reason("optimizer-state", *where_built(made, module.frame)) if made is not None else None
