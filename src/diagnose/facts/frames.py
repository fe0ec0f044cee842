"""Whose line failed, how deep inside, and in which processes; what the lines on the way show to have run
before it failed, and what they were fed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from diagnose.facts.rules import CALLING, ENTERED, at
from diagnose.model import Fact, TorchNames, Words
from diagnose.patterns import lazy
from diagnose.placement.semantics import dotted, holds, names
from diagnose.scene import Place, Scene, calls, provenance
from diagnose.scene.meeting import kind


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


def earlier_layer(scene: Scene) -> Iterator[Fact]:
    """Weights are on the cpu, and another layer of the same object had run before in the statement:
    ``self.head(self.trunk(x))``, ``self.atoms(z), self.bonds(e)``. The model was moved."""
    roles = scene.roles
    if not scene.in_layer or kind(roles.get("weight", "")) != "cpu":
        return
    for frame in reversed(scene.report.frames):
        if not frame.own or frame.function != "forward" or frame.statement is None:
            continue
        part = scene.place(frame).part if frame.statement.carets else None
        line = scene.place(frame).line
        if line is None or not isinstance(part, ast.Call) or _layer(part) is None:
            continue
        for node in calls.calls(line.nodes):
            name = _layer(node)
            if name is not None and name != _layer(part) and _before(node, part):
                yield at("earlier-layer-ran", frame, name=name)
                return


def _layer(call: ast.Call) -> str | None:
    """The name of an attribute of ``self`` that is called, or taken from a list there."""
    function = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    name = dotted(function) or ""
    return name if name.startswith("self.") and name.count(".") == 1 else None


def _before(node: ast.Call, part: ast.Call) -> bool:
    """Whether a call ends before another begins, or is among what that is given."""
    if any(holds(one, node) for one in part.args):
        return True
    ends = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return ends <= (part.lineno, part.col_offset)


def fed_from_cpu(scene: Scene) -> Iterator[Fact]:
    """Two GPUs met in a model that was given what the caller's line made on the cpu: the model moves its
    input, and parts of its own are on both."""
    if scene.pair != "gpu-gpu":
        return
    torch = scene.knowledge.torch
    frames = [frame for frame in scene.report.frames if frame.function not in CALLING]
    for caller, inner in pairwise(frames):
        if not (caller.own and inner.own) or inner.function != "forward":
            continue
        given = provenance.arguments(scene.place(caller), scene.place(inner), torch) or ()
        tensors = [one.node for one in given if not calls.is_number(one.node, torch)]
        if tensors and all(calls.makes_tensor(node, torch) for node in tensors):
            yield at("fed-from-cpu", caller)
        return


def made_by_own_call(scene: Scene) -> Iterator[Fact]:
    """The operand on the cpu came to a library by its name, and is what a function of the user's own
    gave: ``net(ids, position_ids=self.places(ids))``."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or site.frame.own or len(met.strays) != 1:
        return
    node: ast.AST = calls.root(met.strays[0].node, torch)
    for inner, caller in pairwise((site, *scene.above)):
        if not isinstance(node, ast.Name) or not caller.frame.own:
            continue  # a library hands a keyword on under its name
        for one in provenance.arguments(caller, inner, torch) or ():
            if one.keyword == node.id and _is_own_call(one.node, torch):
                yield at("made-by-own-call", caller.frame, name=node.id)
        return


def _is_own_call(call: ast.expr, torch: TorchNames) -> bool:
    """True for a method of the object and for a function that is called by its name alone."""
    if not isinstance(call, ast.Call):
        return False
    name = dotted(call.func) or ""
    return name.startswith("self.") or (
        isinstance(call.func, ast.Name) and name not in torch.numbers
    )


def handed_in_on_cpu(scene: Scene) -> Iterator[Fact]:
    """All variables that met on the cpu and a GPU are what the caller passes by these names."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or not scene.above or "cpu" not in (scene.pair or ""):
        return
    given = provenance.arguments(scene.above[0], site, torch) or ()
    met_names = {name for one in met.strays if not one.layer for name in names(one.node)}
    if len(met.strays) < 2 or len(met_names) < 2 or any(one.spread for one in given):
        return
    if all(any(one.is_called(name) for one in given) for name in met_names):
        yield at("handed-in-on-cpu", site.frame)
