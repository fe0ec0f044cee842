"""What an edit takes from those who call the edited function, or from another mode of the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from diagnose.hooks.calls import given_to, parameters
from diagnose.model import Lang
from diagnose.placement.semantics import bound, functions, holds, names, nodes
from diagnose.repair.comparison import changed, edited_lines
from diagnose.repair.model import Guard
from diagnose.repair.scopes import FUNCTION, spans
from diagnose.repair.syntax import tree_of
from diagnose.repair.validation.callee_moves import runs
from diagnose.repair.validation.optional import none_by_default
from diagnose.repair.validation.redundant_moves import Added, added, goes_to_cpu
from diagnose.repair.words import say

#: Where something is made, and the number that a process is bound to.
_MADE_ON = re.compile(r"\bdevice=([\w.]+)")
_BOUND_TO = re.compile(r"\bset_device\((\w+)\)")
#: A remark that something is kept out of what a module registers.
_KEPT_OUT = re.compile(r"#.*(?:state_?dict|checkpoint|regist|parameters|on purpose)")


def contracts(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """What each of the moves that an edit adds tells against it, one at most of a kind."""
    tree = tree_of(after)
    for one in added(before, tree, after):
        yield from _picked(one, tree, lang)
        yield from _of_arrays(one, tree, lang)
        yield from _each_time(one, lang)
        yield from _untold(one, tree, lang)
        yield from _by_what_is_left_out(one, lang)


def alike(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit makes a choice between one thing and the same: who chooses gets no other."""
    known = {ast.unparse(one) for one in _same_either_way(tree_of(before))}
    for node in _same_either_way(tree_of(after)):
        if ast.unparse(node) not in known:
            yield Guard("gives-up", False, say(lang, "alike", line=node.lineno))
            return


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


def made_to_fit(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """What the program makes on a device that it names there is not made on another one, to be moved to
    where it was: what asks for the other one is wrong."""
    old, new = before.splitlines(), after.splitlines()
    for gone, made in changed(before, after):
        was, now = ("\n".join(rows[i] for i in lines) for rows, lines in ((old, gone), (new, made)))
        named, told = set(_MADE_ON.findall(was)), set(_MADE_ON.findall(now))
        if named and told - named and now.count(".to(") > was.count(".to("):
            device = min(named - told, default="")
            if device and "cpu" not in device:
                told_so = say(lang, "made-to-fit", line=made.start + 1, device=device)
                yield Guard("back", False, told_so)
                return


def by_global_rank(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit binds a process to a GPU by its rank among all machines where the program knows that on its
    own."""
    rows = after.splitlines()
    for line in sorted(edited_lines(before, after)) if "LOCAL_RANK" in before else ():
        for name in _BOUND_TO.findall(rows[line - 1]):
            if re.search(rf"""\b{re.escape(name)}\s*=[^\n]*["']RANK["']""", before):
                yield Guard("counted", False, say(lang, "global-rank", line=line, name=name))
                return


def kept_out(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit registers what a remark in its line says is kept out of the module's state."""
    old, new = before.splitlines(), after.splitlines()
    for gone, made in changed(before, after):
        was, now = ("\n".join(rows[i] for i in lines) for rows, lines in ((old, gone), (new, made)))
        if _KEPT_OUT.search(was) and "Module" in now and "Module" not in was:
            yield Guard("gives-up", False, say(lang, "kept-out", line=gone.start + 1))
            return


def never_found(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit asks a table for a key under which nothing is kept there: all would be made each time."""
    edited = edited_lines(before, after)
    for function in functions(tree_of(after)):
        for node in nodes(function, ast.Compare):
            match node:
                case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[table]):
                    stores = {
                        ast.unparse(one.slice): one.lineno
                        for one in nodes(function, ast.Subscript)
                        if isinstance(one.ctx, ast.Store)
                        and ast.unparse(one.value) == ast.unparse(table)
                    }
                    changed_here = edited & {node.lineno, *stores.values()}
                    if stores and changed_here and ast.unparse(key) not in stores:
                        told = say(lang, "never-found", line=node.lineno, key=ast.unparse(key))
                        yield Guard("cached", False, told)
                        return


def _picked(one: Added, tree: ast.Module, lang: Lang) -> Iterator[Guard]:
    """What an object keeps is not brought to a GPU as a whole, at each use, to pick from it."""
    for node in nodes(tree, ast.Subscript):
        if node.value is one.call and not goes_to_cpu(one.call):
            kept = isinstance(one.moved, ast.Attribute | ast.Subscript)
            if kept and isinstance(node.slice, ast.Name | ast.Subscript | ast.Attribute):
                index = ast.unparse(node.slice)
                yield Guard("indexed", False, say(lang, "indexed", line=node.lineno, index=index))
                return


def _of_arrays(one: Added, tree: ast.Module, lang: Lang) -> Iterator[Guard]:
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
    around = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    whole = next((node for node in around if spans(node, one.call.lineno)), function)
    own = names(whole)
    if isinstance(inner, ast.Name) and inner.id in given and "np" in own and "torch" not in own:
        said = {"line": one.call.lineno, "name": inner.id}
        yield Guard("strayed", False, say(lang, "of-arrays", **said))


def _each_time(one: Added, lang: Lang) -> Iterator[Guard]:
    """What an object keeps in a list is not copied one by one in each call of it."""
    function = one.scope
    if not isinstance(function, FUNCTION) or function.name not in ("__call__", "forward"):
        return
    for node in nodes(function, ast.For):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Attribute(value=ast.Name(id="self"))):
                if isinstance(one.moved, ast.Name) and one.moved.id == name:
                    yield Guard("copied", False, say(lang, "copied", line=one.call.lineno))
                    return


def _by_what_is_left_out(one: Added, lang: Lang) -> Iterator[Guard]:
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
                    told = say(lang, "absent", line=one.call.lineno, name=name)
                    yield Guard("absent", False, told)
                    return


def _untold(one: Added, tree: ast.Module, lang: Lang) -> Iterator[Guard]:
    """What the program's own class or function makes, which takes a device and is not told it, is told it,
    and not moved at each use."""
    root: ast.expr = one.moved
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    for made in bound(one.scope, root.id) if isinstance(root, ast.Name) else ():
        match made.value:
            case ast.Call(func=ast.Name(id=kind)) as call if _leaves_out(call, kind, tree):
                yield Guard("deaf", False, say(lang, "untold", line=one.call.lineno, name=kind))
                return


def _leaves_out(call: ast.Call, kind: str, tree: ast.Module) -> bool:
    """Whether a call leaves out the device that a class or function of the file takes."""
    if any(word.arg is None for word in call.keywords):
        return False
    return any(
        "device" in parameters(function) and "device" not in given_to(function, call)
        for _, function in runs(tree, kind)
    )
