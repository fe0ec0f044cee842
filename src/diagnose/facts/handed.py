"""What was handed on to the failing line: by a trainer, out of a checkpoint, or out of the object."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice, pairwise

from diagnose.facts.values import at
from diagnose.model import Fact
from diagnose.patterns import lazy
from diagnose.placement.semantics import dotted
from diagnose.scene import Scene, provenance

#: The steps that a library's loop calls with a batch that it has moved.
_STEPS = frozenset(
    {"compute_loss", "training_step", "validation_step", "test_step", "predict_step"}
)
_TRAINERS = lazy(
    r"(^|[\\/])(transformers[\\/]trainer|trl[\\/]trainer[\\/]|(pytorch_)?lightning[\\/])"
)
#: What a file that was read is kept as.
_READ = lazy(r"(?i)^(self\.)?(\w+_)?(ckpt|checkpoint|snapshot|state_dict|saved|payload|blob)$")
#: How many calls away from the failing line something may have been taken out of a checkpoint.
_HOPS = 2


def by_trainer(scene: Scene) -> Iterator[Fact]:
    """The step fails that a library's loop called with a batch that it had moved, and no operand is an
    attribute of the object."""
    met, site = scene.met, scene.site
    if met is None or site is None or not site.frame.own or site.frame.function not in _STEPS:
        return
    strays = [one for one in met.strays if not one.layer]
    if not strays or any(_root(one.node) == "self" for one in strays):
        return
    for caller, inner in pairwise(scene.report.frames):
        if inner is site.frame and caller.library and _TRAINERS.search(caller.file):
            yield at("batch-was-moved", inner, name=strays[0].text)
            return


def from_checkpoint(scene: Scene) -> Iterator[Fact]:
    """A call on the way hands on an entry of a checkpoint, or the failing line takes one."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None:
        return
    for one in met.strays:
        if _is_entry(one.node):
            yield at("handed-from-checkpoint", site.frame, name=one.text)
            return
    for inner, caller in islice(pairwise((site, *scene.above)), _HOPS):
        for given in provenance.arguments(caller, inner, torch) or ():
            if _is_entry(given.node):
                yield at("handed-from-checkpoint", caller.frame, name=ast.unparse(given.node))
                return


def kept_table(scene: Scene) -> Iterator[Fact]:
    """What is indexed belongs to something that the caller passed out of its object:
    ``self.codes`` came in as ``codes``."""
    site, torch = scene.site, scene.knowledge.torch
    if site is None or not scene.above:
        return
    given = provenance.arguments(scene.above[0], site, torch) or ()
    kept = [one for one in given if provenance.is_own(one.node)]
    for node in site.nodes:
        if not isinstance(node, ast.Subscript):
            continue
        root = _root(node.value)
        for one in kept:
            name = provenance.name(one.node)
            if root and root != "self" and (name == root or name.endswith(f"_{root}")):
                yield at("indexes-handed-attribute", site.frame, name=ast.unparse(one.node))
                return


def _is_entry(node: ast.AST) -> bool:
    """True for ``ckpt["mean"]``, whatever is done with it."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        match node:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str())):
                if _READ.search(dotted(owner) or ""):
                    return True
                node = owner
            case ast.Call(func=function):
                node = function
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                node = value
    return False


def _root(node: ast.AST) -> str:
    """The variable that an expression begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.UnaryOp)):
        match node:
            case ast.Call(func=ast.Attribute(value=value)):
                node = value
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                node = value
            case ast.UnaryOp(operand=value):
                node = value
            case _:
                return ""
    return node.id if isinstance(node, ast.Name) else ""
