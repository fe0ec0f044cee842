"""What the failing line shows, read off its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from diagnose.facts.rules import CALLING, ENTERED, at
from diagnose.model import Fact, Frame, TorchNames, Words
from diagnose.patterns import lazy
from diagnose.placement.semantics import dotted, names, nodes
from diagnose.scene import Scene, calls, provenance, sourceline, strays
from diagnose.scene.sourceline import SourceLine, inside


class _Parsed(NamedTuple):
    """A place whose line is Python."""

    frame: Frame
    line: SourceLine
    nodes: tuple[ast.AST, ...]


def _parsed(scene: Scene) -> list[_Parsed]:
    """The places closest to the failing op whose lines can be parsed."""
    return [_Parsed(p.frame, p.line, p.nodes) for p in scene.near if p.line is not None]


def attributes(scene: Scene) -> Iterator[Fact]:
    """Data attributes of ``self`` among the operands, and what is indexed by what."""
    words, torch = scene.knowledge.words, scene.knowledge.torch
    for place in _parsed(scene)[:1]:
        frame, line, nodes = place.frame, place.line, place.nodes
        met = scene.met
        if met is not None and len(met.strays) == 1 and not met.strays[0].layer:
            nodes = inside(line, met.strays[0].node)
        called = {id(node.func) for node in line.nodes if isinstance(node, ast.Call)}
        sliced = _sliced(nodes)
        called |= _of_shapes(line, torch) | _of_scalars(line, torch)
        for node in nodes:
            if isinstance(node, ast.Subscript) and strays.is_index(node.slice):
                name, index = line.segment(node.value), line.segment(node.slice)
                plain = isinstance(node.value, ast.Attribute)
                own_attribute = plain and name.startswith("self.")
                fact = "indexes-attribute" if own_attribute else "indexes"
                yield at(fact, frame, name=name, index=index)
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and id(node) not in called
                and (not words.plain_attributes.search(node.attr) or id(node) in sliced)
            ):
                if _owner_is_called(node, line, torch):
                    continue
                yield at("uses-own-attribute", frame, name=f"self.{node.attr}")
                if words.heads.search(node.attr):
                    yield at("uses-added-attribute", frame, name=f"self.{node.attr}")
                if words.constants.search(node.attr):
                    yield at("uses-cached-attribute", frame, name=f"self.{node.attr}")


def _sliced(nodes: Sequence[ast.AST]) -> set[int]:
    """The attributes of which a part of several dimensions is taken, as of a table: ``self.bias[:, :n]``
    is no parameter of a layer."""
    return {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)
    }


def _of_scalars(line: SourceLine, torch: TorchNames) -> set[int]:
    """The nodes that are given as a number: ``q.add_(p, alpha=self.rate)``."""
    return {
        id(inner)
        for node in line.nodes
        if isinstance(node, ast.keyword) and node.arg in torch.number_keywords
        for inner in nodes(node.value, ast.expr)
    }


def _of_shapes(line: SourceLine, torch: TorchNames) -> set[int]:
    """The nodes that stand among the arguments of a method that takes sizes."""
    return {
        id(inner)
        for node in line.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in torch.shaping
        for argument in node.args
        for inner in nodes(argument, ast.expr)
    }


def _owner_is_called(attribute: ast.Attribute, line: SourceLine, torch: TorchNames) -> bool:
    """True where the attribute is a module or object whose method or submodule is called."""
    for node in line.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner = node.func.value
            while isinstance(inner, (ast.Attribute, ast.Subscript)):
                if inner is attribute:
                    return node.func.attr not in torch.of_tensors
                inner = inner.value
        match node:
            case ast.Call(func=ast.Subscript(value=owner)) if owner is attribute:
                return True
    return False


def made_tensors(scene: Scene) -> Iterator[Fact]:
    """Tensor factories without a device, in the failing line or in the lines shown around it."""
    torch = scene.knowledge.torch
    for place in _parsed(scene):
        if _made(place.line, place.nodes, torch):
            yield at("makes-tensor", place.frame)
    for frame, code in _shown(scene):
        parsed = sourceline.parse(code)
        if parsed and _made(parsed, parsed.nodes, torch):
            yield (
                at("makes-tensor-nearby", frame)
                if code == frame.code
                else Fact("makes-tensor-nearby", frame.at, {"code": code.strip()})
            )


def _made(line: SourceLine, nodes: Sequence[ast.AST], torch: TorchNames) -> bool:
    """True where a part of the line makes a tensor that it does not move at once."""
    moved = {
        id(calls.root(node.func.value, torch))
        for node in line.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"to", "cuda", "type_as"}
    }
    return any(calls.makes_tensor(node, torch) and id(node) not in moved for node in nodes)


def fixed_devices(scene: Scene) -> Iterator[Fact]:
    """Devices that are written into the shown lines of the user's code."""
    torch = scene.knowledge.torch
    for frame, code in _shown(scene):
        parsed = sourceline.parse(code)
        if parsed and any(calls.names_device(node, torch) for node in parsed.nodes):
            yield Fact("names-device", frame.at, {"code": code.strip()})


def _shown(scene: Scene) -> Iterator[tuple[Frame, str]]:
    """The lines of the innermost frames outside torch that the traceback shows, with their context."""
    for frame in (place.frame for place in scene.near):
        if frame.code:
            yield frame, frame.code
        for _, code in frame.context[-12:]:
            yield frame, code


def called_modules(scene: Scene) -> Iterator[Fact]:
    """What the innermost call of a module outside torch is called."""
    words, torch = scene.knowledge.words, scene.knowledge.torch
    for position, place in enumerate(_parsed(scene)):
        frame = place.frame
        listed = list(calls.calls(place.nodes))
        own = [c for c in listed if (dotted(c.func) or "").startswith("self.")]
        for node in listed:
            name = dotted(node.func)
            at_site = scene.in_layer and position == 0
            if isinstance(node.func, ast.Subscript) and at_site:
                yield at("calls-listed-module", frame)
            if name is None or calls.of_package(node.func, torch):
                continue
            if at_site and name.startswith("self."):
                yield at("calls-own-module", frame, name=name)
                if len(own) > 1:
                    continue  # which of them failed, the line does not tell
                if words.heads.search(name.rpartition(".")[2]):
                    yield at("calls-head", frame, name=name)
                elif words.first_layers.search(name.rpartition(".")[2]):
                    yield at("calls-first-layer", frame, name=name)
            # Inside forward, self.encoder is a part of the model, not a second one.
            part = name.startswith("self.") and frame.function == "forward"
            if not part and any(words.second_models.search(word) for word in name.split(".")):
                yield at("calls-second-model", frame, name=name)
    yield from _chain(scene)


def _chain(scene: Scene) -> Iterator[Fact]:
    """Second models that the calls on the way to the failing line enter, as the carets tell."""
    words = scene.knowledge.words
    for frame in reversed(scene.report.frames):
        if frame.library == "torch" or frame.statement is None or frame.function == "forward":
            continue
        call = scene.place(frame).part if frame.statement.carets else None
        name = dotted(call.func) if isinstance(call, ast.Call) else None
        if name is not None and any(words.second_models.search(word) for word in name.split(".")):
            yield at("calls-second-model", frame, name=name)


def handed_models(scene: Scene) -> Iterator[Fact]:
    """A second model that a function is given under another name, and calls: of ``scores(self.teacher,
    x)`` only ``model(x)`` stands in the line that fails."""
    words, torch = scene.knowledge.words, scene.knowledge.torch
    frames = [frame for frame in scene.report.frames if frame.function not in CALLING]
    for caller, inner, further in zip(frames, frames[1:], frames[2:], strict=False):
        if not (caller.own and inner.own) or further.function not in ENTERED:
            continue
        entered, place = scene.place(inner), scene.place(caller)
        call = provenance.call(entered, scene.place(further), torch)
        if call is None or not isinstance(call.func, ast.Name):
            continue
        given = provenance.arguments(place, entered, torch) or ()
        models = [name for one in given if (name := dotted(one.node)) and _MODEL.search(name)] + [
            name for one in given if (name := _second(one.node, words))
        ]
        if len(set(models)) == 1 and words.second_models.search(models[0].rpartition(".")[2]):
            yield at("handed-second-model", caller, name=models[0])


_MODEL = lazy(r"(?i)(^|[._])(model|net|network|module|student|policy|actor)$")


def _second(node: ast.expr, words: Words) -> str | None:
    name = dotted(node)
    last = name.rpartition(".")[2] if name else ""
    return name if words.second_models.search(last) else None


_WEIGHTS = frozenset({"self.weight", "self.bias"})
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<genexpr>", "<setcomp>")


def looped_modules(scene: Scene) -> Iterator[Fact]:
    """A layer that is called by a name of the method's own, ``block(x)``, not by one of ``self``: taken
    from a list or dict, in a loop or in a comprehension over an attribute."""
    words = scene.knowledge.words
    entering = {
        id(caller) for caller, inner in pairwise(scene.report.frames) if inner.function in CALLING
    }
    for frame in reversed(scene.report.frames):
        forward = (frame.function or "").endswith("forward") or frame.function in _COMPREHENSIONS
        # A library keeps the layers of its lists registered.
        line = scene.place(frame).line if frame.own and forward else None
        if line is None:
            continue
        bound = {
            name
            for node in line.nodes
            if isinstance(node, ast.comprehension) and "self." in ast.unparse(node.iter)
            for name in names(node.target)
        }
        for node in line.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if any(dotted(argument) in _WEIGHTS for argument in node.args):
                    continue  # a function that takes the layer's weight
                entered = id(frame) in entering and node is scene.place(frame).part
                if entered or name in bound or words.loop_names.search(name):
                    yield at("calls-loop-module", frame, name=name)
                    return


def joined_locals(scene: Scene) -> Iterator[Fact]:
    """The failing line joins nothing but local variables."""
    for place in _parsed(scene)[:1]:
        frame = place.frame
        names = [
            calls.root(node, scene.knowledge.torch)
            for node in sourceline.operands(place.line, place.nodes)
        ]
        if len(names) > 1 and all(isinstance(n, ast.Name) and n.id != "self" for n in names):
            yield at("local-operands", frame)
