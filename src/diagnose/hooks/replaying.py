"""From what a recorder saw of a failure to a meeting of placement analysis, which tells cause and line.

The analysis runs a program on abstract values (docs/placement.md). Where the program really ran, the values
are known: here they are put in the form in which `diagnose.placement` reasons about them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

from diagnose.hooks.exceptions import related, traceback_of
from diagnose.hooks.lives import Lives
from diagnose.hooks.operands import at_position, listed, only_other
from diagnose.hooks.peeking import attributes, device_of, entries, is_a, items, shape_of
from diagnose.hooks.positions import Texts
from diagnose.model import At, LiveOperand
from diagnose.placement import Spot, Step, Suspect
from diagnose.placement.devices import META, written
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.strays import strays
from diagnose.placement.suspects import of_meeting
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Generator, Value
from diagnose.scene import Scene
from diagnose.tracing.failures import Failed
from diagnose.tracing.lives import Life
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import Line, is_own

#: Frames of a traceback, and modules above each other, that are looked at.
_FRAMES, _DEEPEST = 2_000, 40
_HOST = frozenset({"numpy", "__array__", "tolist"})
_COPIES = frozenset({"to", "cuda", "cpu"})
#: Functions that take from a table by an index: both are the first two tensors of their arguments.
_INDEX = frozenset(
    {
        *("__getitem__", "__setitem__", "index_put_", "index_put", "index_select"),
        *("take", "take_along_dim", "gather"),
    }
)


class Running(NamedTuple):
    """A frame of the traceback, and the instruction that it stands at."""

    frame: FrameType
    line: Line


class Known(NamedTuple):
    """What a recorder knows of a failure."""

    operands: tuple[LiveOperand, ...]
    suspects: tuple[Suspect, ...]


class _Operand(NamedTuple):
    side: Meets
    device: str
    shape: tuple[int, ...]


def known(recorder: Recorder, error: BaseException, scene: Scene) -> Known | None:
    """The operands of the failing call and the suspects; None where the recorder saw nothing of the
    failure.

    Args:
        recorder: what was running.
        error: the live exception.
        scene: of its report.
    """
    mismatch = scene.report.mismatch
    devices = mismatch.devices if mismatch is not None else ()
    failed, frames = _of(recorder, error)
    own = [one for one in frames if is_own(one.line.code)]
    lines = [one.line for one in own] or list(reversed(failed.stack if failed is not None else ()))
    texts = Texts()
    spot = texts.spot(lines[-1]) if lines else None
    if spot is None:
        return None
    lives = Lives(recorder, texts, own, spot)
    calls = tuple(one for line in lines[:-1] if (one := texts.spot(line)) is not None)
    what, operands = _met(failed, frames, lives, spot)
    around = lives.scopes.frame(lines[::-1])
    if not operands or around is None:
        return None
    meeting = Meeting(what, spot, tuple(one.side for one in operands), calls, around)
    found: dict[tuple[str, str, int], Suspect] = {}
    split = any(_is_split(one.side.value) for one in operands)
    for suspect in of_meeting(meeting, devices or ("?", "cpu"), split=split):
        found.setdefault((suspect.cause, suspect.spot.file, suspect.spot.line), suspect)
    return Known(tuple(_told(operands, meeting, devices)), tuple(found.values()))


def _of(recorder: Recorder, error: BaseException) -> tuple[Failed | None, list[Running]]:
    """The recorded call that an exception, or one behind it, comes from, and that exception's frames."""
    failed = recorder.failed
    for one in related(error):
        if failed is not None and failed.is_of(one):
            return failed, _frames(one)
    # Raised again in another thread (DataParallel): its words hold the first one's, its frames are not
    # those.
    again = failed is not None and failed.is_within(error)
    return (failed, []) if again else (None, _frames(error))


def _frames(error: BaseException) -> list[Running]:
    frames: list[Running] = []
    trace = traceback_of(error)
    while trace is not None and len(frames) < _FRAMES:
        line = Line(trace.tb_frame.f_code, trace.tb_lasti, trace.tb_lineno)
        frames.append(Running(trace.tb_frame, line))
        trace = trace.tb_next
    return frames


def _met(
    failed: Failed | None, frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[str, list[_Operand]]:
    """What kind of meeting it was, and what met."""
    for special in (_optimizer, _wrapper):
        if frames and (found := special(frames, lives, spot)) is not None:
            return found
    if failed is None:
        return "join", []
    operands = _operands(failed, lives, spot)
    what = _what(failed, [one.side for one in operands])
    if what == "call":  # the module first, then what it is given
        operands.sort(key=lambda one: one.side.tensor.maker != "weight")
    return what, operands


def _told(
    operands: Sequence[_Operand], meeting: Meeting, devices: Sequence[str]
) -> Iterator[LiveOperand]:
    """The operands as an answer shows them, the stray first."""
    stray, other = next(iter(strays(meeting, devices or ("?", "cpu"))), (None, None))
    expected = other.tensor.device if other is not None else None
    for one in sorted(operands, key=lambda one: one.side is not stray):
        tensor = one.side.tensor
        made = [s for s in tensor.steps if s.what in ("made", "loaded")]
        # A batch is what its loader gave, whatever that was made of.
        born = made[-1 if tensor.maker == "batch" else 0] if made else None
        born = born or next((s for s in tensor.steps if s.what in ("put", "computed")), None)
        yield LiveOperand(
            name=_name(one.side, meeting.spot),
            kind=tensor.maker,
            device=one.device,
            expected=str(expected) if one.side is stray and expected is not None else None,
            shape=one.shape,
            born=_at(born.spot) if born is not None else None,
            moved=tuple(_at(s.spot) for s in tensor.steps if s.what == "moved"),
        )


def _at(spot: Spot) -> At:
    return At(spot.file, spot.line, spot.function, spot.code)


def _name(side: Meets, spot: Spot) -> str:
    """How the failing line calls an operand, of a weight which it is of which module."""
    tensor = side.tensor
    if tensor.maker == "weight" and tensor.module is not None and tensor.name:
        path, module = [tensor.name], tensor.module
        for _ in range(_DEEPEST):
            if module.word:
                path.append(module.word)
            if module.owner is None:
                break
            module = module.owner
        return ".".join(reversed(path))
    node = side.node
    return ast.unparse(node) if isinstance(node, ast.expr) and node is not spot.node else ""


def _what(failed: Failed, sides: Sequence[Meets]) -> str:
    if failed.function in _HOST:
        return "host"
    if any(isinstance(side.value, Generator) for side in sides):
        return "generator"
    if failed.function in _COPIES and any(side.tensor.device == META for side in sides):
        return "meta"
    if failed.function in _INDEX and len(sides) > 1:
        return "index"
    return "call" if any(side.tensor.maker == "weight" for side in sides) else "join"


def _operands(failed: Failed, lives: Lives, spot: Spot) -> list[_Operand]:
    """The operands of the call, each with the expression that stands for it."""
    found: list[_Operand] = []
    unplaced: list[int] = []
    taken: set[ast.AST] = set()
    for operand in failed.operands:
        thing = operand.tensor()
        node = lives.node_of(thing, spot) if thing is not None else None
        if operand.shape is None:
            made = lives.generator(operand.device)
            drawn = Tensor(made.device, "generator", made.steps, made.frame)
            found.append(_Operand(Meets(node or spot.node, made, drawn), operand.device, ()))
            continue
        device, scalar = written(operand.device), operand.shape == ()
        tensor = lives.lived(operand.life or Life("other"), device, thing, scalar=scalar)
        value: Value = tensor
        if node is None and tensor.maker == "weight" and tensor.module is not None:
            node, value = lives.node_of_module(tensor.module, spot), tensor.module
        if node is None and value is tensor:
            node = at_position(spot.node, failed.function, operand.name)
            if node is None:
                unplaced.append(len(found))
        if node is not None:
            taken.add(node)
        if failed.function in _HOST and (item := listed(spot.node, spot.source.tree)) is not None:
            tensor.steps = (*tensor.steps, Step("listed", spot._replace(node=item), device))
        if tensor.maker == "batch" and (bound := lives.bound(node, spot)) is not None:
            tensor.steps = (*tensor.steps, bound)
        side = Meets(node or spot.node, value, tensor)
        found.append(_Operand(side, operand.device, operand.shape))
    if len(unplaced) == 1 and (rest := only_other(spot.node, taken)) is not None:
        at = unplaced[0]
        found[at] = found[at]._replace(side=found[at].side._replace(node=rest))
    return found


def _is_split(value: Value) -> bool:
    """Whether an operand belongs to a module that lies on several accelerators."""
    module = value if isinstance(value, Module) else getattr(value, "module", None)
    return isinstance(module, Module) and Lives.is_split(module)


def _of_live(side: Meets, tensor: Any) -> _Operand:
    return _Operand(side, device_of(tensor) or "?", shape_of(tensor))


# --- failures that are no call of torch's ---------------------------------------------------------------


def _optimizer(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[str, list[_Operand]] | None:
    """An optimizer's state that is not with its parameter."""
    for one in reversed(frames):
        owner = (
            one.frame.f_locals.get("self") if "/torch/optim/" in one.line.code.co_filename else None
        )
        if owner is None or not is_a(owner, lives.torch.optim.Optimizer):
            continue
        for parameter, values in list(dict.items(attributes(owner).get("state") or {})):
            for _, state in items(values):
                if not is_a(state, lives.tensor) or not state.dim():
                    continue
                if lives.device(state) != lives.device(parameter):
                    weight = lives.tensor_value(parameter)
                    stray = Tensor(lives.device(state), "state", (), None, module=weight.module)
                    return "state", [
                        _of_live(Meets(spot.node, stray, stray), state),
                        _of_live(Meets(spot.node, weight, weight), parameter),
                    ]
    return None


def _wrapper(
    frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[str, list[_Operand]] | None:
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
    if (whole := lives.module_value(inner)) is not None and Lives.is_split(whole):
        return None  # it is split, and no move of it all would help
    for parameter in inner.parameters():
        if lives.device(parameter) != home:
            weight = lives.tensor_value(parameter)
            made = tuple(Step("wrapped", s.spot) for s in wrapper.steps if s.what == "made")
            there = Tensor(home, "home", made, wrapper.frame)
            return "home", [
                _of_live(Meets(spot.node, weight.module or weight, weight), parameter),
                _Operand(Meets(spot.node, wrapper, there), str(home), ()),
            ]
    return None
