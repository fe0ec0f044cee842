"""A GPU that an edit writes down, told by what is at hand instead: a device's name, a tensor's device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.placement.semantics import Binding, bindings, calls, dotted, nodes, parameters, stored
from diagnose.repair.patch import Patch
from diagnose.repair.scopes import FUNCTION, spans
from diagnose.repair.validation.patch_edits import LITERAL

_BARE = re.compile(r"\.cuda\(\s*\)")
#: What a program calls the number of its GPU.
_NUMBER = re.compile(
    r"(?i)^(?:(?:main|local)_)?(?:gpu(?:_?(?:id|index|no))?|device_?(?:id|index|no))$|^local_rank$"
)
#: So many expressions are tried.
_MOST = 8
#: What tells torch where tensors are made that no line says it of.
_SETS_DEFAULT = "torch.set_default_device"


class General(NamedTuple):
    """An edited text with another expression of the device, and the row that this changes."""

    text: str
    row: str
    told: str


def general(patch: Patch, *, told: bool = False) -> Iterator[General]:
    """The edited text with other expressions of the device, likeliest first.

    Args:
        patch: a file, before and after; where not just one line writes down a GPU, nothing comes.
        told: only expressions that the program calls a device, unless it writes down no GPU itself.
    """
    known, rows = patch.before.splitlines(), patch.after.splitlines(keepends=True)
    told = told and bool(LITERAL.search(patch.before) or _BARE.search(patch.before))
    added = [
        line
        for line, row in patch.added
        if (LITERAL.search(row) or _BARE.search(row)) and row not in known
    ]
    if len(added) != 1:
        return
    at, row = added[0] - 1, rows[added[0] - 1]
    devices = [one for one in _devices(patch.new, added[0], told=told) if one not in row]
    for device in devices[:_MOST]:
        other = LITERAL.sub(lambda _, device=device: device, row)  # type: ignore[misc]
        other = _BARE.sub(lambda _, device=device: f".to({device})", other)  # type: ignore[misc]
        yield General("".join([*rows[:at], other, *rows[at + 1 :]]), row, other)


def _devices(tree: ast.Module, line: int, *, told: bool) -> Iterator[str]:
    """Expressions that may tell the device in a line: those that the program calls one first, then, unless
    it has to be ``told``, what has one."""
    around = [node for node in nodes(tree, ast.stmt) if spans(node, line)]
    functions = [node for node in around if isinstance(node, FUNCTION)]
    classes = [node for node in around if isinstance(node, ast.ClassDef)]
    scope = functions[-1] if functions else tree
    seen = dict.fromkeys(text for text, _, at in _asked(scope) if at <= line)
    for one in (*reversed(functions), *classes, tree):
        seen |= dict.fromkeys(_named(one, line))
    arguments = [one.arg for function in reversed(functions) for one in parameters(function)]
    own_names = (one.id for each in functions for one in stored(each) if one.lineno < line)
    reached = {*arguments, *own_names, *_bound(tree)} - {"self"}
    own = (found for one in classes for found in _asked(one) if found[1] == "self")
    elsewhere = (found for found in _asked(tree) if found[1] in reached)
    seen |= dict.fromkeys(text for text, _, _ in (*own, *elsewhere))
    kept = {name for one in classes for name in _kept(one)}
    seen |= {f"self.{text}": None for text, owner, _ in _asked(tree) if owner in kept}
    seen |= {f"{name}.device": None for name in _instances(tree, line)}
    if any(dotted(one.func) == _SETS_DEFAULT for one in calls(tree)):
        seen["torch.get_default_device()"] = None
    numbers = [name for name in reached if _NUMBER.search(name)]
    seen |= {f'f"cuda:{{{name}}}"': None for name in sorted(numbers)}
    models = (name for function in reversed(functions) for name in _called(function))
    seen |= {f"next({name}.parameters()).device": None for name in models}
    if not told:
        holding = [*(_holders(around[-1]) if around else ())]
        holding += [one for one in arguments if one not in ("self", "cls")]
        seen |= {f"{one}.device": None for one in holding}
        if classes:
            seen["next(self.parameters()).device"] = None
    yield from seen


def _asked(scope: ast.AST) -> Iterator[tuple[str, str, int]]:
    """The attributes and items that are called a device and asked for in a scope (``self.args.device``,
    ``config["device"]``), the names that they begin with, and their lines."""
    for node in nodes(scope, ast.Attribute, ast.Subscript):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                pass
            case ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load()):
                pass
            case _:
                continue
        owner: ast.expr = node
        while isinstance(owner, ast.Attribute | ast.Subscript):
            owner = owner.value
        if _is_device(name) and isinstance(owner, ast.Name) and owner.id != "torch":
            yield ast.unparse(node).replace("'", '"'), owner.id, node.lineno


def _is_device(name: str) -> bool:
    return re.search("(?i)(device|^dev)$", name) is not None


def _called(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The arguments of a function that it calls: models."""
    called = {node.func.id for node in calls(function) if isinstance(node.func, ast.Name)}
    return (one.arg for one in parameters(function) if one.arg in called)


def _instances(tree: ast.Module, line: int) -> Iterator[str]:
    """The names that the file binds above a line to objects of its classes that have a device."""
    kinds = {
        node.name
        for node in nodes(tree, ast.ClassDef)
        if any(map(_is_of_device, nodes(node, ast.Attribute, ast.FunctionDef)))
    }
    for one in nodes(tree, ast.Assign):
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind))
            ) if kind in kinds and one.lineno < line:
                yield name


def _is_of_device(node: ast.AST) -> bool:
    """Whether this gives an object of a class its ``device``."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr="device", ctx=ast.Store()):
            return True
        case ast.FunctionDef(name="device"):
            return True
    return False


def _kept(kind: ast.ClassDef) -> Iterator[str]:
    """The names under which the objects of a class keep what they are given by the same name."""
    for one in bindings(kind):
        match one:
            case Binding(ast.Attribute(ast.Name("self"), name), ast.Name(given)) if name == given:
                yield name


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a module's own statements bind."""
    return (one.id for one in _top(tree) if isinstance(one, ast.Name))


def _named(scope: ast.AST, line: int) -> Iterator[str]:
    """What is called a device and bound before a line in a scope, or in the object that it belongs to."""
    for node in nodes(scope, ast.expr, ast.arg):
        bound = isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)
        name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        name = node.arg if isinstance(node, ast.arg) else name
        if not bound or not _is_device(name.rpartition(".")[2]):
            continue
        own = isinstance(scope, FUNCTION) and getattr(node, "lineno", line) < line
        kept = isinstance(scope, ast.ClassDef) and name.startswith("self.")
        if own or kept or (isinstance(scope, ast.Module) and node in _top(scope)):
            yield name


def _top(tree: ast.Module) -> list[ast.AST]:
    """What the statements of a module bind, not those of its functions."""
    return [target for one in tree.body if isinstance(one, ast.Assign) for target in one.targets]


def _holders(statement: ast.stmt) -> Iterator[str]:
    """Expressions of a statement that may be tensors."""
    called = {id(node.func) for node in calls(statement)}
    inner = {id(n.value) for n in nodes(statement, ast.Attribute)}
    for node in nodes(statement, ast.Name, ast.Attribute, ast.Subscript):
        if isinstance(node.ctx, ast.Load) and id(node) not in called | inner:
            yield ast.unparse(node)
