"""Whose line failed, how deep inside, and in which processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from diagnose.facts.values import CALLING, ENTERED, at
from diagnose.model import Fact, TorchNames, Words
from diagnose.patterns import lazy
from diagnose.placement.semantics import dotted
from diagnose.scene import Place, Scene, calls


def ranks(scene: Scene) -> Iterator[Fact]:
    """Which processes failed."""
    report = scene.report
    line = report.error.at if report.error else None
    known = {"ranks": ", ".join(map(str, report.ranks[:8]))} if report.ranks else {}
    if report.alike > 1 or len(report.ranks) > 1:
        yield Fact("several-ranks", line, known)
    elif report.ranks and report.ranks[0] > 0:
        yield Fact("later-rank", line, {"rank": str(report.ranks[0])})
    if report.ranks or report.alike > 1:
        yield Fact("in-ranks", line, known)


def whose_line(scene: Scene) -> Iterator[Fact]:
    """Whether the line that called the failing op is the user's own; a line that was pasted without its
    file may be anybody's."""
    if scene.site is not None and scene.site.frame.file:
        frame = scene.site.frame
        yield at("fails-in-own-code" if frame.own else "fails-in-library", frame)


def depth(scene: Scene) -> Iterator[Fact]:
    """How many modules are entered before it fails."""
    entered = [
        frame
        for frame in scene.report.frames
        if frame.function in {"forward", "_conv_forward"}
        and "torch/nn/modules/module" not in frame.file
    ]
    if entered:
        name = "shallow" if len(entered) <= 2 else "deep"
        yield at(name, entered[-1], depth=str(len(entered)))


_CRITERION = lazy(
    r"(?i)\b(self\.)?(criterion\w*|objective|loss_(fn|fct|func|function|net)|compute_loss(?:_func)?|(?!forward_)\w*loss)\("
)
#: The losses of torch that are made of layers.
_LAYERED_LOSS = lazy(r"torch[\\/]nn[\\/]modules[\\/]adaptive\.py$")


def inside_criterion(scene: Scene) -> Iterator[Fact]:
    """A line calls a loss object, whose own ``forward``, not one of torch's, is entered next."""
    frames = [frame for frame in scene.report.frames if frame.function not in CALLING]
    for caller, inner in pairwise(frames):
        entered = inner.function in ENTERED and (
            inner.library != "torch" or bool(_LAYERED_LOSS.search(inner.file))
        )
        if entered and (
            _calls_criterion(scene.place(caller), scene.knowledge.torch)
            or (inner.own and _gives_loss(scene.place(caller), scene.knowledge.words))
        ):
            yield at("inside-criterion", inner)
            return


def _calls_criterion(place: Place, torch: TorchNames) -> bool:
    """True where the call that the carets underline, else the only one of the line that may enter
    somebody's code, is a loss's: in ``loss_fn(net(x), y)`` it may be the network that failed."""
    if not _CRITERION.search((place.frame.code or "")[:1000]):
        return False
    if isinstance(place.part, ast.Call):
        return _is_criterion(place.part)
    entering = [call for call in calls.calls(place.nodes) if not calls.of_tensors(call, torch)]
    return bool(entering) and all(map(_is_criterion, entering))


def _gives_loss(place: Place, words: Words) -> bool:
    """True where the result of the call that the carets underline is part of what is called a loss, and
    labels are handed to it beside something else: ``loss = margin(z, y) + pull(z, y)``. What two such
    calls are alike handed are labels by whatever name."""
    call = place.part
    if place.line is None or not isinstance(call, ast.Call) or len(call.args) < 2:
        return False
    labelled = bool(words.labels.search(getattr(call.args[-1], "id", "")))
    for node in place.line.tree.body:
        if not isinstance(node, (ast.Assign, ast.AugAssign)):
            continue
        added = _addends(node.value)
        if call in added and (labelled or any(_alike(call, other) for other in added)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return any(_LOSS.search(dotted(target) or "") for target in targets)
    return False


def _alike(call: ast.Call, other: ast.expr) -> bool:
    """Whether two calls are given the same."""
    return (
        isinstance(other, ast.Call)
        and other is not call
        and [ast.dump(one) for one in call.args] == [ast.dump(one) for one in other.args]
    )


def _addends(node: ast.expr) -> list[ast.expr]:
    """What a sum of products is made of."""
    if isinstance(node, ast.BinOp):
        return [*_addends(node.left), *_addends(node.right)]
    return [node]


_LOSS = lazy(r"(?i)^(\w+_)?loss(es)?(_\w+)?$")


def _is_criterion(call: ast.Call) -> bool:
    return _CRITERION.search(f"{dotted(call.func) or ''}(") is not None


#: What an optimizer's step enters to compute the loss anew, and with it the model.
_CLOSURES = frozenset({"closure", "forward", "training_step", "<lambda>", "_wrap_closure"})


def own_optimizer(scene: Scene) -> Iterator[Fact]:
    """The step of an optimizer of the user's own leads to the failing line."""
    frames = [f for f in scene.report.frames if f.library != "torch"]
    for number, (caller, inner) in enumerate(pairwise(frames)):
        if inner.function == "step" and inner.own and _STEPS.search((caller.code or "")[:1000]):
            if not any(f.function in _CLOSURES for f in frames[number + 1 :]):
                yield at("own-optimizer", inner)
            return


_STEPS = lazy(r"(?i)\b(?:self\.)?\w*(?:opt|optim|optimi[sz]er|lookahead|sam)\.step\(")
