"""Expressions that name a device at a place, as the text of its file tells, best first: what the program
calls its device, what others beside the place are told, a module's weights, a tensor."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Iterable, Iterator

from diagnose.placement.devices import is_gpu, written
from diagnose.placement.model import Spot
from diagnose.placement.semantics import (
    Function,
    argument,
    around,
    bindings,
    bound,
    bound_names,
    called,
    calls,
    calls_around,
    dotted,
    holds,
    last_name,
    names,
    nodes,
    parameters,
    path_to,
    positional,
    top,
)

#: What programs call a device.
_DEVICE = re.compile(r"_?(\w+_)?dev(ice)?", re.IGNORECASE)
_MODULE = re.compile(r"(\w*Module|\w*Model|PreTrainedModel|\w+Layer)")
#: What programs call a model that they call.
_MODELS = re.compile(
    r"(\w+_)?(model|net|network|encoder|decoder|backbone|unet|vae|student|actor|critic|classifier)"
)
#: Attributes that tensors have and hardly anything else.
_OF_TENSORS = frozenset({"dtype", "shape", "ndim"})
#: What programs call their settings, and the device in them.
_SETTINGS = re.compile(r"args|cfg|conf(ig)?|opts?|options|hparams|settings|flags", re.IGNORECASE)
_OF_SETTINGS = frozenset({"device"})
#: Methods of tensors that arrays and containers lack.
_ONLY_OF_TENSORS = frozenset({"size", "unsqueeze", "permute", "detach"})
#: Methods of a tensor that are given an index, or another tensor, that has to be where it is.
_TAKING = frozenset({"index_select", "gather", "scatter", "masked_fill"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def destinations(scope: ast.AST, *keywords: str) -> Iterator[ast.expr]:
    """What the moves of a node are told, ``x.to(device)``, and what its calls are told as ``device=``, or
    by other keywords."""
    for call in calls(scope):
        moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
        given = (argument(call, one, 0 if moves else None) for one in keywords or ("device",))
        yield from dict.fromkeys(one for one in given if one is not None)


def moved_in(node: ast.AST, moves: Collection[str] = ("to", "cuda")) -> Iterator[ast.expr]:
    """What the moves of an expression, or of a function, move; ``moves`` are the methods that do."""
    for one in calls(node):
        if isinstance(one.func, ast.Attribute) and one.func.attr in moves:
            yield one.func.value


def is_written_down(name: str, tree: ast.Module) -> bool:
    """Whether a file binds a device's name to a GPU that is written down, and to nothing else."""
    said = [one.value for one in bound(tree, name) if one.value is not None]
    told = [one.args[:1] if isinstance(one, ast.Call) else [one] for one in said]
    return bool(said) and all(one and names_gpu(one[0]) for one in told)


def names_gpu(node: ast.expr) -> bool:
    """Whether an expression is the name of an accelerator, written down: ``"cuda:0"``."""
    said = node.value if isinstance(node, ast.Constant) else None
    return isinstance(said, str) and is_gpu(written(said))


#: Methods of modules that are given something, register no parameter and run no part.
_OF_MODULES = frozenset({"register_buffer", "train", "to"})
#: Functions that make no module.
_PLAIN_CALL = re.compile(
    r"(super|int|float|bool|str|len|list|tuple|dict|set|range|max|min|abs|round|sum|isinstance|getattr)"
    r"|(math|np|numpy|os)\.[\w.]+|(torch|F)\.[a-z_]\w*"
)


def told_above(scope: ast.AST, line: int) -> list[str]:
    """The names and attributes that the lines of a scope above one bind to a device, move to, or make
    something on."""
    made = (one.target for one in bindings(scope) if one.value and called(one.value) == "device")
    told = sorted(destinations(scope), key=lambda one: (one.lineno, one.col_offset))
    above = (dotted(one) for one in (*made, *told) if one.lineno < line)
    return list(dict.fromkeys(filter(None, above)))


def of_program(at: Spot, *, literal: bool = True) -> Iterator[str]:
    """Expressions for the device that a program computes on, if a place sees any.

    Args:
        at: the place.
        literal: whether others may have it written down: ``"cuda"``, which comes last.
    """
    functions = _functions(at)
    yield from _called_device(functions, at.line)
    yield from of_class(at)
    yield from _called_device(top(at.source.tree), math.inf if functions else at.line)
    others = by_neighbours(at, literal=literal)
    yield from (one for one in others if not one.startswith('"'))
    yield from _of_called_model(at)
    yield from others


def _called_device(scopes: Iterable[ast.AST], above: float) -> Iterator[str]:
    """The names that programs give their device, of those that are bound above a line."""
    known = (name for one in scopes for name in bound_names(one, above))
    return (one for one in known if one in ("device", "DEVICE"))


def of_class(at: Spot) -> Iterator[str]:
    """The device that the class of a library tells in the methods of what derives from it."""
    owner, functions = _owner(at), _functions(at)
    bases = [last_name(base) for base in owner.bases] if owner is not None else []
    built = bool(functions) and functions[-1].name != "__init__"
    if any(base.endswith("Trainer") for base in bases):
        yield "self.args.device"  # transformers' and what derives from it
    elif (
        owner is not None and built and ("LightningModule" in bases or bound(owner, "self.device"))
    ):
        yield "self.device"
    elif any(map(_MODULE.fullmatch, bases)) and built and has_parameters(owner):
        yield "next(self.parameters()).device"


def has_parameters(owner: ast.ClassDef | None) -> bool:
    """Whether a class may have parameters of its own: not one of ``nn.Module`` alone in whose methods
    nothing is registered, and nothing kept that a function makes which is none of Python's or torch's; nor
    one that runs nothing itself and keeps a model that does."""
    if owner is None:
        return True
    own = [one for one in bindings(owner) if isinstance(one.target, ast.Attribute)]
    if {last_name(base) for base in owner.bases} != {"Module"}:
        forward = any(getattr(one, "name", "") == "forward" for one in owner.body)
        return forward or not any(is_model(one.target) for one in own)
    made = (dotted(one.func) or "?" for each in own if each.value for one in calls(each.value))
    run = {
        one.func.attr
        for one in calls(owner)
        if one.args and isinstance(one.func, ast.Attribute) and dotted(one.func.value) == "self"
    }
    parts = run - {getattr(one, "name", "") for one in owner.body} - _OF_MODULES
    return bool(parts) or not all(map(_PLAIN_CALL.fullmatch, made))


def by_neighbours(at: Spot, *, literal: bool = True) -> list[str]:
    """The one expression by which others are moved in the same function, such as ``args.device``, if what
    it begins with is bound above; with ``literal`` also ``"cuda"``."""
    told = set[str]()
    for one in calls_around(at.source.tree, at.node):
        match one:
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Attribute() as given, *_]):
                if given.attr == "device" and (name := dotted(given)):
                    told.add(name)
            case (
                ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[])
                | ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cuda")])
            ) if literal:
                told.add('"cuda"')
    return [one for one in told if len(told) == 1 and (one == '"cuda"' or _is_bound(one, at))]


def _of_called_model(at: Spot) -> Iterator[str]:
    """The device of the one model that the function calls."""
    called = (dotted(one.func) or "" for one in calls_around(at.source.tree, at.node))
    models = {one for one in called if _MODELS.fullmatch(one) and _is_bound(one, at)}
    if len(models) == 1:
        yield f"next({models.pop()}.parameters()).device"


def is_model(node: ast.AST) -> bool:
    """Whether people who name a variable or an attribute so keep a model in it."""
    return _MODELS.fullmatch(last_name(node).lstrip("_")) is not None


def _is_bound(name: str, at: Spot) -> bool:
    """Whether what a dotted name begins with is a parameter or was set above a place."""
    scopes = (*_functions(at)[:1], *top(at.source.tree))
    return any(name.partition(".")[0] in bound_names(one, at.line) for one in scopes)


def nearby(at: Spot, meets: Spot | None) -> Iterator[str]:
    """Expressions for the device of what stands beside a place: what it meets there, what the functions and
    the class around move by, their weights, what it is shaped as, what all is made on."""
    yield from _of_operand(at, meets)
    yield from of_sources(at, meets)
    yield from _told(at)
    yield from of_class(at)
    yield from _shaped_as(at)
    yield from _of_given(at)
    yield from _of_settings(at)
    chosen = calls(at.source.tree, "set_default_device")
    if any(dotted(one.func) == "torch.set_default_device" for one in chosen):
        yield "torch.get_default_device()"


def _of_operand(at: Spot, meets: Spot | None) -> Iterator[str]:
    """What a value meets in the expression that it stands in."""
    for outer in nodes(meets.node, ast.Call, ast.BinOp) if meets is not None else ():
        match outer:
            case ast.Call(func=ast.Attribute(value=other, attr=name), args=args):
                if name not in _TAKING or at.node not in args:
                    continue
            case ast.BinOp(left=left, right=right) if at.node in (left, right):
                other = right if left is at.node else left
            case _:
                continue
        if (read := dotted(other)) is not None:  # which may be read once more
            yield f"{read}.device"


def of_sources(at: Spot, meets: Spot | None) -> Iterator[str]:
    """The tensors that a function is given and computes from what a value meets there."""
    function = next(iter(_functions(at)), None)
    if function is None or meets is None or not holds(function, meets.node):
        return
    given = {one.arg for one in parameters(function)}
    todo, seen = names(meets.node), set[str]()
    while todo:
        name = todo.pop(0)
        values = [one.value for one in bound(function, name) if one.value is not None]
        if name in seen or any(holds(value, at.node) for value in values):
            continue
        seen.add(name)
        for read in (one for value in values for one in nodes(value, ast.Subscript, ast.Call)):
            match read:
                case ast.Subscript(value=ast.Name(id=of), slice=ast.Tuple()) if of in given:
                    yield f"{of}.device"
                case ast.Call(func=function_of, args=[ast.Name(id=of), *_]) if of in given:
                    if (dotted(function_of) or "").startswith("torch."):
                        yield f"{of}.device"
        todo += [one for value in values for one in names(value)]


def _told(at: Spot) -> Iterator[str]:
    """The one expression by which the functions around a place, else the methods of its class, say a
    device."""
    functions, owner = _functions(at), _owner(at)
    for function in functions[:1]:
        inside, given = set(_said(function)), {one.arg for one in parameters(function)}
        if len(inside) == 1 and (name := inside.pop()).partition(".")[0] in given:
            yield name  # what is computed there may be as misplaced
    own = {one for one in _said(owner) if one.startswith("self.")} if owner is not None else set()
    if len(own) == 1 and functions and functions[-1].name != "__init__":
        yield own.pop()


def _said(scope: ast.AST) -> Iterator[str]:
    """The names and attributes that are told as a device in a scope, and called one."""
    for name in filter(None, map(dotted, destinations(scope))):
        if _DEVICE.fullmatch(name.rpartition(".")[2]):
            yield name


def _shaped_as(at: Spot) -> Iterator[str]:
    """What a function is given, or a comprehension takes one by one out of that or out of weights, by whose
    shape or type the node's call makes something."""
    given = {one.arg for each in _functions(at)[:1] for one in parameters(each)}
    for outer in path_to(at.source.tree, at.node):
        for one in outer.generators if isinstance(outer, _COMPREHENSIONS) else ():
            of = ast.unparse(one.iter)
            if isinstance(one.target, ast.Name) and (of in given or of.endswith("parameters()")):
                given.add(one.target.id)
    for read in nodes(at.node, ast.Attribute):
        if isinstance(read.value, ast.Name) and read.value.id in given and read.attr in _OF_TENSORS:
            yield f"{read.value.id}.device"


def _of_given(at: Spot) -> Iterator[str]:
    """The tensors that a function is given, by what it asks of them, and does not bind anew."""
    for function in _functions(at)[:1]:
        asked = {
            one.func.value.id
            for one in calls(function)
            if isinstance(one.func, ast.Attribute)
            and one.func.attr in _ONLY_OF_TENSORS
            and isinstance(one.func.value, ast.Name)
        }
        given = [one.arg for one in parameters(function) if one.arg in asked]
        yield from (f"{one}.device" for one in given if not bound(function, one))


def _of_settings(at: Spot) -> Iterator[str]:
    """The device of the settings that the function around reads above a place: ``config["device"]``."""
    for function in _functions(at)[:1]:
        for read in nodes(function, ast.Attribute, ast.Subscript):
            device = last_name(read) or getattr(getattr(read, "slice", None), "value", None)
            settings = _SETTINGS.fullmatch(last_name(read.value)) is not None
            above = isinstance(read.ctx, ast.Load) and read.lineno < at.line
            if settings and above and device in _OF_SETTINGS:
                yield ast.unparse(read)


def of_input(function: ast.AST | None) -> str | None:
    """The device of what a function is given: the parameter that is one, else that of its first tensor."""
    if not isinstance(function, Function):
        return None
    args = positional(function)
    if any(one.arg == "device" for one in args):
        return "device"
    numbers = len(args) - len(function.args.defaults)  # what has a default is rarely the input
    for one in args[:numbers]:
        said = ast.unparse(one.annotation) if one.annotation is not None else "Tensor"
        if one.arg not in ("self", "cls", "ctx") and said.endswith("Tensor"):
            return f"{one.arg}.device"
    return None


def _functions(at: Spot) -> list[Function]:
    """The functions around a place, innermost first."""
    return list(around(at.source.tree, at.node, ast.FunctionDef, ast.AsyncFunctionDef))


def _owner(at: Spot) -> ast.ClassDef | None:
    """The class whose method a place is in."""
    owner, functions = next(around(at.source.tree, at.node, ast.ClassDef), None), _functions(at)
    return owner if owner is not None and functions and functions[-1] in owner.body else None
