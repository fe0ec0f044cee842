"""What an edit takes from those who call the edited function, or from another mode of the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from diagnose.hooks.scopes import given_to, parameters
from diagnose.placement.semantics import around, bound, functions, holds, names, nodes
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, Transfer, goes_to_cpu
from diagnose.repair.scopes import FUNCTION, spans
from diagnose.repair.validation.callee_moves import runs
from diagnose.repair.validation.optional import none_by_default

#: Where something is made, and the number that a process is bound to.
_MADE_ON = re.compile(r"\bdevice=([\w.]+)")
_BOUND_TO = re.compile(r"\bset_device\((\w+)\)")
#: A remark that something is kept out of what a module registers.
_KEPT_OUT = re.compile(r"#.*(?:state_?dict|checkpoint|regist|parameters|on purpose)")


def alike(patch: Patch) -> Iterator[Sentence]:
    """No edit makes a choice between one thing and the same: who chooses gets no other."""
    known = {ast.unparse(one) for one in _same_either_way(patch.old)}
    for node in _same_either_way(patch.new):
        if ast.unparse(node) not in known:
            yield said("alike", line=node.lineno)


def _same_either_way(tree: ast.Module) -> Iterator[ast.IfExp | ast.If]:
    """The choices of which either branch gives the same, or does, as what follows it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) and ast.dump(node.body) == ast.dump(node.orelse):
            yield node
        for _, block in ast.iter_fields(node):
            for one, then in pairwise([*block, None]) if isinstance(block, list) else ():
                other = getattr(one, "orelse", None) or [then]
                if isinstance(one, ast.If) and None not in other:
                    returns = isinstance(one.body[-1], ast.Return)
                    if (one.orelse or returns) and _dumped(one.body) == _dumped(other):
                        yield one


def _dumped(block: list[ast.stmt]) -> list[str]:
    return [ast.dump(one) for one in block]


def made_to_fit(patch: Patch) -> Iterator[Sentence]:
    """What the program makes on a device that it names there is not made on another one, to be moved to
    where it was: what asks for the other one is wrong."""
    for hunk in patch.hunks:
        named, told = set(_MADE_ON.findall(hunk.was)), set(_MADE_ON.findall(hunk.now))
        if named and told - named and hunk.now.count(".to(") > hunk.was.count(".to("):
            device = min(named - told, default="")
            if device and "cpu" not in device:
                yield said("made-to-fit", line=hunk.made.start + 1, device=device)


def by_global_rank(patch: Patch) -> Iterator[Sentence]:
    """No edit binds a process to a GPU by its rank among all machines where the program knows that on its
    own."""
    for line, row in patch.added if "LOCAL_RANK" in patch.before else ():
        for name in _BOUND_TO.findall(row):
            if re.search(rf"""\b{re.escape(name)}\s*=[^\n]*["']RANK["']""", patch.before):
                yield said("global-rank", line=line, name=name)


def kept_out(patch: Patch) -> Iterator[Sentence]:
    """No edit registers what a remark in its line says is kept out of the module's state."""
    for hunk in patch.hunks:
        if _KEPT_OUT.search(hunk.was) and "Module" in hunk.now and "Module" not in hunk.was:
            yield said("kept-out", line=hunk.gone.start + 1)


def never_found(patch: Patch) -> Iterator[Sentence]:
    """No edit asks a table for a key under which nothing is kept there: all would be made each time."""
    for function in functions(patch.new):
        for node in nodes(function, ast.Compare):
            match node:
                case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[table]):
                    stores = {
                        ast.unparse(one.slice): one.lineno
                        for one in nodes(function, ast.Subscript)
                        if isinstance(one.ctx, ast.Store)
                        and ast.unparse(one.value) == ast.unparse(table)
                    }
                    changed_here = patch.edited & {node.lineno, *stores.values()}
                    if stores and changed_here and ast.unparse(key) not in stores:
                        yield said("never-found", line=node.lineno, key=ast.unparse(key))


def picked(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What an object keeps is not brought to a GPU as a whole, at each use, to pick from it."""
    whole = next(around(patch.new, one.call, ast.Subscript), None)
    kept = isinstance(one.moved, ast.Attribute | ast.Subscript) and not goes_to_cpu(one.call)
    match whole:
        case ast.Subscript(value, ast.Name() | ast.Subscript() | ast.Attribute() as index):
            if kept and value is one.call:
                yield said("indexed", line=whole.lineno, index=ast.unparse(index))


def of_arrays(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """A function that computes in NumPy alone, and takes what that takes, asks its argument for no method
    of tensors: the caller brings it."""
    function = one.scope
    if not isinstance(function, FUNCTION) or not goes_to_cpu(one.call):
        return
    inner: ast.expr = one.moved
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    given = {arg.arg for arg in function.args.args}
    looped = {
        gen.target.id: gen.iter
        for node in nodes(function, ast.ListComp)
        for gen in node.generators
        if isinstance(gen.target, ast.Name)
    }
    if isinstance(inner, ast.Name) and inner.id in looped:
        inner = looped[inner.id]
    around = [node for node in patch.new.body if isinstance(node, ast.ClassDef)]
    whole = next((node for node in around if spans(node, one.line)), function)
    own = names(whole)
    if isinstance(inner, ast.Name) and inner.id in given and "np" in own and "torch" not in own:
        yield said("of-arrays", line=one.line, name=inner.id)


def each_time(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What an object keeps in a list is not copied one by one in each call of it."""
    function = one.scope
    if not isinstance(function, FUNCTION) or function.name not in ("__call__", "forward"):
        return
    for node in nodes(function, ast.For):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Attribute(value=ast.Name(id="self"))):
                if isinstance(one.moved, ast.Name) and one.moved.id == name:
                    yield said("copied", line=one.line)


def by_what_is_left_out(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """No edit asks an argument that may be None for its device, where the function has not asked."""
    function = one.scope
    if not isinstance(function, FUNCTION):
        return
    none = none_by_default(function)
    questions = list(nodes(function, ast.If, ast.IfExp))
    for device in one.call.args:
        match device:
            case ast.Attribute(value=ast.Name(id=name), attr="device") if name in none:
                asking = [node for node in questions if name in ast.unparse(node.test)]
                if asking and not any(holds(node, one.call) for node in asking):
                    yield said("absent", line=one.line, name=name)


def untold(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What the program's own class or function makes, which takes a device and is not told it, is told it,
    and not moved at each use."""
    root: ast.expr = one.moved
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    for made in bound(one.scope, root.id) if isinstance(root, ast.Name) else ():
        match made.value:
            case ast.Call(func=ast.Name(id=kind)) as call if _leaves_out(call, kind, patch.new):
                yield said("untold", line=one.line, name=kind)


def _leaves_out(call: ast.Call, kind: str, tree: ast.Module) -> bool:
    """Whether a call leaves out the device that a class or function of the file takes."""
    if any(word.arg is None for word in call.keywords):
        return False
    return any(
        "device" in parameters(function) and "device" not in given_to(function, call)
        for _, function in runs(tree, kind)
    )
