"""What the calls on the way to the failing line pass, and what they do not; what was handed on by a
trainer, out of a checkpoint, or out of the object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from diagnose.facts.rules import at
from diagnose.model import Fact, TorchNames
from diagnose.patterns import lazy
from diagnose.placement.semantics import argument, arguments, dotted, names
from diagnose.scene import Place, Scene, calls, provenance
from diagnose.scene.provenance import Argument

#: The origins of an argument that may bring what nobody moved, and how much of them it has to have.
_BROUGHT = (("batch", "given", "loaded", "index", "mask"), 0.5)
#: The same of the only argument: a batch that holds both of what met.
_BROUGHT_ALONE = (("batch", "loaded"), 0.15)


def passed(scene: Scene) -> Iterator[Fact]:
    """Whether the misplaced operand can have come in by the call of the function that fails."""
    site, torch = scene.site, scene.knowledge.torch
    if site is None or not scene.above:
        return
    caller = scene.above[0]
    call, name = provenance.call(caller, site, torch), _local(scene, torch)
    given = provenance.arguments(caller, site, torch)
    if call is None or not given or name is None or _may_be(name, given, caller, torch):
        return
    if not any(_may_be_tensor(one.node, scene) for one in given):
        return  # ``main(args)``: all that meets there was made there, or loaded
    yield at("not-handed-in", site.frame, name=name)
    if isinstance(call.func, ast.Name) and call.func.id == site.frame.function:
        yield at("made-in-function", site.frame, name=name)


def made_above(scene: Scene) -> Iterator[Fact]:
    """The operand was passed on by a function that was itself handed nothing but numbers."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or len(met.strays) != 1 or met.strays[0].layer:
        return
    node: ast.AST = calls.root(met.strays[0].node, torch)
    for hop, (inner, caller) in enumerate(pairwise((site, *scene.above))):
        given = provenance.arguments(caller, inner, torch)
        if not isinstance(node, ast.Name) or not given or any(one.spread for one in given):
            return
        if all(calls.is_number(one.node, torch) for one in given):
            if hop:
                yield at("made-above", inner.frame, name=node.id)
            return
        named = [one for one in given if one.is_called(node.id)] or given
        if len(named) != 1:
            return
        node = named[0].node


def made_meets_own(scene: Scene) -> Iterator[Fact]:
    """What met is an attribute of the object and a variable of its function, which was handed nothing but
    numbers."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or len(met.strays) != 2 or not scene.above:
        return
    given = provenance.arguments(scene.above[0], site, torch)
    own = [one for one in met.strays if provenance.is_own(one.node) and not one.layer]
    rest = [one for one in met.strays if one not in own]
    root = calls.root(rest[0].node, torch) if len(rest) == 1 and not rest[0].layer else None
    if given and isinstance(root, ast.Name) and all(calls.is_number(a.node, torch) for a in given):
        yield at("made-meets-own", site.frame, name=root.id)


def handed_a_file(scene: Scene) -> Iterator[Fact]:
    """The function that fails was handed a file, and none of its operands."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or not met.strays or not scene.above:
        return
    given = provenance.arguments(scene.above[0], site, torch)
    if not given or not any(_is_file(one, scene) for one in given):
        return
    for one in met.strays:
        root = calls.root(one.node, torch)
        read = set(names(root))
        if read and "self" not in read and not any(a.is_called(n) for a in given for n in read):
            yield at("handed-a-file", site.frame, name=one.text)
            return


def _is_file(one: Argument, scene: Scene) -> bool:
    words = scene.knowledge.words
    return any(
        words.files.search(text) for text in (one.keyword, provenance.name(one.node)) if text
    )


def made_on_default_gpu(scene: Scene) -> Iterator[Fact]:
    """The operand on the default GPU goes by no name that the caller passes, and so was made on the way."""
    site, met, torch = scene.site, scene.met, scene.knowledge.torch
    if site is None or met is None or not scene.above:
        return
    given = provenance.arguments(scene.above[0], site, torch)
    if not given or any(one.spread for one in given):
        return
    for one in met.strays:
        root = calls.root(one.node, torch)
        if one.device != "cuda:0" or one.layer or not isinstance(root, ast.Name):
            continue
        if root.id != "self" and not any(argument.is_called(root.id) for argument in given):
            yield at("default-gpu-not-handed-in", site.frame, name=root.id, device=one.device)


def handed_in_across_gpus(scene: Scene) -> Iterator[Fact]:
    """Both variables that met on two GPUs are what the caller passes."""
    site, met, torch = scene.site, scene.met, scene.knowledge.torch
    if (
        site is None
        or met is None
        or scene.pair != "gpu-gpu"
        or len(met.strays) != 2
        or not scene.above
    ):
        return
    given = provenance.arguments(scene.above[0], site, torch) or ()
    roots = [calls.root(one.node, torch) for one in met.strays if not one.layer]
    names = [root.id for root in roots if isinstance(root, ast.Name)]
    if len(set(names)) == 2 and all(any(one.is_called(name) for one in given) for name in names):
        yield at("handed-in-across-gpus", site.frame, name=" and ".join(names))


def placed(scene: Scene) -> Iterator[Fact]:
    """A call of the user's that leads to the failing line moves all that it passes."""
    if scene.site is None:
        return
    torch = scene.knowledge.torch
    for inner, caller in pairwise((scene.site, *scene.above)):
        given = provenance.arguments(caller, inner, torch) if caller.frame.own else None
        if given and any(_brings_placed(one.node, torch) for one in given):
            brings = (one for one in given if not calls.is_number(one.node, torch))
            if all(_brings_placed(one.node, torch) for one in brings if not one.spread):
                yield at("call-moves-arguments", caller.frame)
            return


def sized(scene: Scene) -> Iterator[Fact]:
    """An operand is what a function returns that was given nothing but sizes, and so made it."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None:
        return
    for one in met.strays:
        if isinstance(one.node, ast.Call) and _of_sizes(one.node, torch):
            yield at("operand-of-sizes", site.frame, name=one.text)
            return


def summed(scene: Scene) -> Iterator[Fact]:
    """The line adds up in a variable of the function."""
    met, site = scene.met, scene.site
    if met is None or site is None:
        return
    for node in met.nodes:
        if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
            continue
        target = node.target
        if isinstance(target, ast.Name) and any(one.node is target for one in met.strays):
            yield at("accumulates-local", site.frame, name=target.id)
            return


def _local(scene: Scene, torch: TorchNames) -> str | None:
    """The name of the one operand that may be misplaced, where it is a local variable that met another
    tensor of the function, and no layer."""
    met = scene.met
    if met is None or len(met.strays) != 1 or not met.others or met.strays[0].layer:
        return None
    other = met.others[0]
    root = calls.root(met.strays[0].node, torch)
    if other.layer or provenance.is_own(other.node) or not isinstance(root, ast.Name):
        return None
    return root.id if root.id != "self" else None


def _may_be(name: str, given: Sequence[Argument], caller: Place, torch: TorchNames) -> bool:
    """Whether one of the arguments goes by the name, or may hold what has it. Of a single one the other
    operand comes, so that it would have to be a batch that holds both."""
    needed = _BROUGHT_ALONE if len(given) == 1 else _BROUGHT
    return any(
        one.spread or one.is_called(name) or _brings(one.node, caller, torch, needed)
        for one in given
    )


def _may_be_tensor(node: ast.expr, scene: Scene) -> bool:
    """False for sizes, and for what reads like settings, a device, a model or a loader."""
    if calls.is_number(node, scene.knowledge.torch):
        return False
    owner, _, last = provenance.name(node).rpartition("_")
    if isinstance(node, ast.Call):
        owner, _, last = calls.name(node).rpartition("_")
        if not owner and last != "device":  # ``net(x)`` gives no network
            return True
    return not scene.knowledge.words.no_tensors.search(last)


def _brings(
    node: ast.expr, caller: Place, torch: TorchNames, needed: tuple[Sequence[str], float]
) -> bool:
    if calls.is_number(node, torch) or is_placed(node) or _is_of_self(node):
        return False
    shares = provenance.here(node, caller)
    origins, share = needed
    return sum(shares.get(origin, 0.0) for origin in origins) > share


def _is_of_self(node: ast.expr) -> bool:
    """True for what the object holds, and for what its layers and methods return."""
    if isinstance(node, ast.Call):
        return (dotted(node.func) or "").startswith("self.")
    return provenance.is_own(node)


def _brings_placed(node: ast.expr, torch: TorchNames) -> bool:
    """True for what is placed in the line, and for what is made of nothing else: ``net(x.to(device))``."""
    if is_placed(node) or not isinstance(node, ast.Call):
        return is_placed(node)
    brings = [one for one in arguments(node) if not calls.is_number(one, torch)]
    return bool(brings) and all(_brings_placed(one, torch) for one in brings)


def is_placed(node: ast.AST) -> bool:
    """True for what is moved, or made on a device, in the line itself."""
    match node:
        case ast.Call(func=ast.Attribute(attr="to" | "cuda")):
            return True
        case ast.Call() if argument(node, "device") is not None:
            return True
        case ast.Call(func=ast.Attribute(value=value)) | ast.Subscript(value=value):
            return is_placed(value)
        case ast.Starred(value=value):
            return is_placed(value)
    return False


def _of_sizes(call: ast.Call, torch: TorchNames) -> bool:
    given = arguments(call)
    own = calls.of_package(call.func, torch) or not isinstance(call.func, ast.Name)
    return bool(given) and not own and all(_is_size(node, torch) for node in given)


def _is_size(node: ast.expr, torch: TorchNames) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="size" | "dim" | "numel")):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_size(left, torch) and _is_size(right, torch)
        case ast.Attribute(attr="shape"):
            return True
    return calls.is_number(node, torch)


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
