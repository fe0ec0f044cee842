"""What a program's own check refused: ``if not x.is_cuda: raise ...``, ``assert a.device == b.device``.

No call of torch fails there, so no recorder notes operands; they are the tensors that the check asked where
they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from diagnose.hooks import operand_expressions
from diagnose.hooks.introspection import attributes, device_of, entries, is_a, items, shape_of
from diagnose.hooks.live_values import Lives
from diagnose.hooks.non_dispatch import Operand, Running
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Text
from diagnose.kinds import ConstraintKind
from diagnose.placement import Spot
from diagnose.placement.device_guards import ASKED
from diagnose.placement.machine import Meets
from diagnose.placement.semantics import around, nodes

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
    text = lives.texts.of(inner.line.code.co_filename)
    raised = _raised(text, inner.line.number) if text is not None else None
    if text is None or raised is None or text.source.path.startswith(_OURS):
        return None
    found: dict[int, tuple[ast.expr, Any]] = {}
    for asked in _asked(raised, text):
        for node, thing in _tensors(asked, text, inner.frame, lives):
            found.setdefault(id(thing), (node, thing))
    if not found:
        return None
    operands = [
        _operand(node, thing, lives, spot, own=spot.file == text.source.path)
        for node, thing in list(found.values())[:_MOST]
    ]
    if all(one.device == "cpu" for one in operands):
        beside = next(_beside(inner.frame, lives), None)
        if beside is None:
            return ConstraintKind.KERNEL, operands
        operands.append(_operand(*beside, lives, spot, own=spot.file == text.source.path))
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
    named = node if own else operand_expressions.node_of(lives, thing, spot)
    exact = named is not None and value(named, lives.alive[-1][0]) is thing
    life = lives.recorder.tensors.get(thing)
    side = Meets(named or spot.node, tensor, tensor)
    return Operand(side, device_of(thing) or "?", shape_of(thing), thing, life, exact=exact)


def _raised(text: Text, line: int) -> ast.stmt | None:
    """The statement that raises in a line."""
    inside = [
        node
        for node in nodes(text.source.tree, ast.Raise, ast.Assert)
        if node.lineno <= line <= (node.end_lineno or 0)
    ]
    return inside[-1] if inside else None


def _asked(raised: ast.stmt, text: Text) -> Iterator[ast.expr]:
    """The conditions under which a statement runs, innermost first."""
    if isinstance(raised, ast.Assert):
        yield raised.test
        return
    for one in around(text.source.tree, raised, ast.AST):
        if not isinstance(one, _BLOCKS):
            return
        if isinstance(one, ast.If | ast.While):
            yield one.test


def _tensors(
    test: ast.expr, text: Text, frame: FrameType, lives: Lives
) -> Iterator[tuple[ast.expr, Any]]:
    """The tensors that a condition asks where they are, each with its expression; a variable that holds
    somebody's device stands for what it was read from."""
    loops = {
        one.target.id: one.iter
        for one in nodes(test, ast.comprehension)
        if isinstance(one.target, ast.Name)
    }
    function = text.function(test)
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
        for slot in ("_parameters", "_buffers"):
            for name, one in entries(attributes(thing).get(slot)):
                if is_a(one, lives.tensor):
                    yield ast.Attribute(node, name), one
    else:
        yield from ((node, one) for _, one in items(thing) if is_a(one, lives.tensor))
