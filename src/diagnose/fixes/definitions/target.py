"""The expression for the device that is wanted, as it may be written at a suspect's spot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from diagnose.fixes.definitions.expressions import expression
from diagnose.fixes.definitions.places import ancestors, class_around, functions_around
from diagnose.fixes.definitions.reach import within_reach
from diagnose.fixes.editing import Refused
from diagnose.kinds import DeviceType
from diagnose.placement.model import Source, Suspect
from diagnose.placement.reasons.knowing import main_lines
from diagnose.placement.semantics import walk
from diagnose.scene import sourceline


def target_device(suspect: Suspect, otherwise: str | None = None) -> str:
    """The expression for the device that is wanted, in scope at the suspect's spot.

    Args:
        suspect: what is misplaced, and where it is mended.
        otherwise: what is written where no such expression is in scope.

    Raises:
        Refused: none is in scope, the device has no name that is sure on another machine, and nothing is
            to be written otherwise.
    """
    for device in suspect.devices:
        try:
            written = expression(device)
        except Refused:
            continue
        if not _is_in_scope(written, suspect):
            continue
        # A name that the function moves others by is read more easily than a model's weights.
        named = _by_neighbours(suspect) if device.startswith("next(") else None
        return named if named is not None and not named.startswith('"') else device
    wanted = suspect.wanted
    neighbours = _by_neighbours(suspect)
    unbound = _unbound_yet(suspect.spot.source, suspect.spot.node)
    told = (_by_name(suspect), neighbours, _by_model(suspect))
    known = [one for one in told if one is not None and one.partition(".")[0] not in unbound]
    if known:
        # What is written down comes last, as the function's others are written.
        return min(known, key=lambda device: device.startswith('"'))
    gpu = wanted is not None and wanted.type != DeviceType.CPU
    gpu_else = otherwise is not None and "cuda" in otherwise
    if not unbound and (gpu or gpu_else) and (seen := within_reach(suspect)) is not None:
        return seen  # a GPU's number is another one on another machine
    if wanted is not None and (not gpu or wanted.number is not None):
        return f'"{wanted}"'
    if otherwise is not None:
        return otherwise
    raise Refused("no expression for the device is in scope")


def _is_in_scope(written: ast.expr, suspect: Suspect) -> bool:
    """Whether the plain name that an expression is may be read at a suspect's spot: it is not bound in
    other functions alone. What is longer was found there."""
    source, node = suspect.spot.source, suspect.spot.node
    root = next((one.id for one in walk(written) if isinstance(one, ast.Name)), None)
    around = functions_around(source, node)
    if root is not None and (root in _unbound_yet(source, node) or _is_mains(root, source, around)):
        return False
    if not isinstance(written, ast.Name):
        return True
    scopes = (one for each in around for one in walk(each))
    if any(_binds(one, written.id) for one in (*scopes, *walk_top(source))):
        return True
    return not any(_binds(one, written.id) for one in walk(source.tree))


def _is_mains(name: str, source: Source, around: Sequence[ast.AST]) -> bool:
    """Whether only ``if __name__ == "__main__"`` binds a name, and no function reads it from there: who
    imports the file has none."""
    if not around or any(_binds(one, name) for each in around for one in walk(each)):
        return False
    lines = main_lines(source.tree)
    bound = [one.lineno for one in walk_top(source) if _binds(one, name) and hasattr(one, "lineno")]
    read = any(
        isinstance(one, ast.Name) and one.id == name and one.lineno not in lines
        for top in source.tree.body
        for one in _outside(top, name)
    )
    return bool(bound) and lines.issuperset(bound) and not read


def _outside(node: ast.AST, name: str) -> Iterator[ast.AST]:
    """What a node is made of but for the functions that bind a name of their own."""
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    if isinstance(node, functions) and any(_binds(one, name) for one in walk(node)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside(child, name)


def _unbound_yet(source: Source, node: ast.AST) -> set[str]:
    """The parameters of a function of which a node is a default: that is computed before they are bound."""
    for outer, inner in pairwise(ancestors(source, node)):
        if isinstance(outer, ast.arguments) and inner in (*outer.defaults, *outer.kw_defaults):
            return {one.arg for one in walk(outer) if isinstance(one, ast.arg)}
    return set()


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.arg(arg=bound) | ast.Name(id=bound, ctx=ast.Store()):
            return bound == name
        case ast.alias():
            return name == (node.asname or node.name)
    return False


def _by_name(suspect: Suspect) -> str | None:
    """What programs call the device they compute on, if the spot sees it: ``device``, or that of the
    object's own library or weights. None where another GPU than the first is meant."""
    wanted, source, node = suspect.wanted, suspect.spot.source, suspect.spot.node
    if wanted is not None and (
        wanted.type != DeviceType.CUDA or (wanted.number and not wanted.home)
    ):
        return None
    functions, line = functions_around(source, node), getattr(node, "lineno", 0)
    for function in functions if wanted is not None else ():
        if any(isinstance(one, ast.arg) and one.arg == "device" for one in walk(function)):
            return "device"
        for name in _devices(walk(function)):
            if name.lineno < line:
                return name.id
    if (own := _of_object(source, node)) is not None:
        return own
    for name in _devices(walk_top(source)) if wanted is not None else ():
        if functions or name.lineno < line:
            return name.id
    return None


def _devices(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """The names among nodes that programs give their device."""
    for node in nodes:
        match node:
            case ast.Name(id="device" | "DEVICE", ctx=ast.Store()):
                yield node


def _of_object(source: Source, node: ast.AST) -> str | None:
    """The device that the classes of libraries tell in their methods."""
    owner, functions = class_around(source, node), functions_around(source, node)
    if owner is None or not functions or functions[-1] not in owner.body:
        return None
    bases = [ast.unparse(base).rpartition(".")[2] for base in owner.bases]
    made = functions[-1].name != "__init__"
    if any(base.endswith("Trainer") for base in bases):
        return "self.args.device"  # transformers' and what derives from it
    if "LightningModule" in bases and made:
        return "self.device"
    return "next(self.parameters()).device" if "Module" in bases and made else None


#: torch's own layers that always have a weight; a normalization may be built without.
_WEIGHTED = re.compile(r"(?:.+\.)?(Linear|Conv(Transpose)?[123]d|Embedding(Bag)?)")


def of_weight(source: Source, node: ast.AST) -> str | None:
    """The device of a layer's weight that the class around a node builds: replicas
    have those, and no ``parameters()``."""
    owner = class_around(source, node)
    for one in walk(owner) if owner is not None else ():
        match one:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call(func=built),
            ):
                if _WEIGHTED.fullmatch(sourceline.dotted(built) or ""):
                    return f"self.{name}.weight.device"
    return None


def given_beside(source: Source, node: ast.AST) -> str | None:
    """The parameter of the function around a node that is an operand of the same call or operator."""
    functions = functions_around(source, node)
    if not functions:
        return None
    names = {one.arg for one in walk(functions[0]) if isinstance(one, ast.arg)} - {"self"}
    for outer in reversed(ancestors(source, node)[:-1]):
        match outer:
            case ast.List(elts=beside) | ast.Tuple(elts=beside):
                pass
            case ast.BinOp(left=left, right=right):
                beside = [left, right]
            case ast.stmt():
                return None
            case _:
                continue
        for one in beside:
            if isinstance(one, ast.Name) and one.id in names:
                return one.id
    return None


def _is_main(suspect: Suspect) -> bool:
    """Whether the device that the program computes on is wanted, and no other GPU than that."""
    wanted = suspect.wanted
    return (
        wanted is not None and wanted.type == DeviceType.CUDA and (not wanted.number or wanted.home)
    )


def _by_neighbours(suspect: Suspect) -> str | None:
    """The expression by which others are moved in the same function, such as ``args.device``, if all are
    moved by one and what it begins with is bound above."""
    if not _is_main(suspect):
        return None
    inside = _function(suspect)
    at_fault = suspect.cause in ("hardcoded-device", "rank-device")  # the current device itself
    told = set[str]()
    for one in inside:
        match one:
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Attribute() as given, *_]):
                if given.attr == "device" and sourceline.dotted(given):
                    told.add(ast.unparse(given))
            case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]) if not at_fault:
                told.add('"cuda"')
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cuda")]):
                told |= set() if at_fault else {'"cuda"'}
    if len(told) != 1:
        return None
    [device] = told
    return device if device.startswith('"') or _is_bound(device, suspect, inside) else None


_MODELS = re.compile(
    r"(\w+_)?(model|net|network|encoder|decoder|backbone|unet|vae|student|actor|critic|classifier)"
)


def _by_model(suspect: Suspect) -> str | None:
    """The device of the one model that the function calls."""
    if not _is_main(suspect):
        return None
    inside = _function(suspect)
    models = {
        one.func.id
        for one in inside
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Name)
        and _MODELS.fullmatch(one.func.id)
        and _is_bound(one.func.id, suspect, inside)
    }
    return f"next({models.pop()}.parameters()).device" if len(models) == 1 else None


def _function(suspect: Suspect) -> list[ast.AST]:
    """The nodes of the function around a suspect's spot, or of the file outside of functions."""
    source, node = suspect.spot.source, suspect.spot.node
    functions = functions_around(source, node)
    return list(walk(functions[0]) if functions else walk_top(source))


def _is_bound(name: str, suspect: Suspect, inside: Iterable[ast.AST]) -> bool:
    """Whether what a dotted name begins with is a parameter or was set above a suspect's spot."""
    root, line = name.partition(".")[0], getattr(suspect.spot.node, "lineno", 0)
    above = functions_around(suspect.spot.source, suspect.spot.node)
    return any(
        (isinstance(one, ast.arg) and one.arg == root)
        or (
            isinstance(one, ast.Name)
            and isinstance(one.ctx, ast.Store)
            and one.id == root
            and one.lineno < line
        )
        for one in [*inside, *(walk_top(suspect.spot.source) if above else ())]
    )


def walk_top(source: Source) -> Iterator[ast.AST]:
    """The nodes of a file outside of functions and classes."""
    for statement in source.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from walk(statement)
