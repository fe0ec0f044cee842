"""What an edit leaves of what users choose, and what it asks for that only a run of the file binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.fixes.destinations import is_unbound
from diagnose.placement.semantics import (
    Function,
    binds,
    functions,
    loads,
    nodes,
    path_to,
    stored,
    top,
)
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch


def unread(patch: Patch) -> Iterator[Sentence]:
    """No edit takes away the only place that asks an option, a field of a configuration, or a variable that
    is bound to one thing or another: whoever sets it chooses nothing any more."""
    old, new = patch.old, patch.new
    gone = _asked(old) - _asked(new)
    names = [*(gone & set(_declared(old)) & set(_declared(new))), *(_choices(old) & _idle(new))]
    for name in sorted(names):
        yield said("unread", name=name)


def unbound(patch: Patch) -> Iterator[Sentence]:
    """No edit asks in a function for a name that is not bound there: one that only
    ``if __name__ == "__main__":`` binds, who imports the file has not; nor in a class for one that the file
    binds below it."""
    known = {one.id for each in functions(patch.old) for one in loads(each)}
    for node in (one for each in functions(patch.new) for one in loads(each)):
        if node.lineno not in patch.edited or node.id in known:
            continue
        path = path_to(patch.new, node)
        if is_unbound(node.id, path, node.lineno) or _is_bound_below(node, path):
            yield said("absent-name", line=node.lineno, name=node.id)


def _is_bound_below(node: ast.Name, path: Sequence[ast.AST]) -> bool:
    """Whether a class asks for a name that its file binds only below it."""
    tree, within = path[0], [one for one in path if isinstance(one, Function)]
    if not isinstance(tree, ast.Module) or not any(isinstance(one, ast.ClassDef) for one in path):
        return False
    held = [one.lineno for one in top(tree) if binds(node.id, one)]
    return min(held, default=0) > node.lineno and not binds(node.id, *within)


def _choices(tree: ast.Module) -> set[str]:
    """The variables that are bound to one thing or another, and asked for."""
    return {
        target.id
        for node in nodes(tree, ast.Assign)
        if isinstance(node.value, ast.IfExp | ast.BoolOp)
        for target in node.targets
        if isinstance(target, ast.Name)
    } - _idle(tree)


def _idle(tree: ast.Module) -> set[str]:
    """The variables that are bound, and not asked for."""
    read = {node.id for node in nodes(tree, ast.Name) if not isinstance(node.ctx, ast.Store)}
    return {one.id for one in stored(tree)} - read


def _asked(tree: ast.Module) -> set[str]:
    """The names of the attributes, and of the items, that are read: not what an object reads that it has
    set itself, nor what is only handed on under its name."""
    found, own = set[str](), _own(tree)
    for node in nodes(tree, ast.Attribute, ast.Subscript, ast.Call):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()) if id(node) not in own:
                found.add(name)
            case ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load()):
                found.add(name)
            case ast.Call(
                func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as name), *_]
            ):
                found.add(name)
    return found


def _own(tree: ast.Module) -> set[int]:
    """The attributes that a class reads of what it has set, those that become the field of a class by their
    name, and functions, as ``torch.device`` is one."""
    found = set[int]()
    classes = {node.name for node in nodes(tree, ast.ClassDef)}
    for node in nodes(tree, ast.Call, ast.ClassDef):
        match node:
            case ast.Call(func=ast.Attribute() as function):
                found.add(id(function))
            case ast.Call(func=ast.Name(id=made), keywords=words) if made in classes:
                for word in words:
                    if isinstance(word.value, ast.Attribute) and word.value.attr == word.arg:
                        found.add(id(word.value))
            case ast.ClassDef():
                of_self = [
                    one
                    for one in nodes(node, ast.Attribute)
                    if isinstance(one.value, ast.Name) and one.value.id == "self"
                ]
                held = {one.attr for one in of_self if isinstance(one.ctx, ast.Store)}
                found |= {id(one) for one in of_self if one.attr in held}
    return found


def _declared(tree: ast.Module) -> Iterator[str]:
    """The options of a command line, the fields of the classes that are all fields, and the keys of the
    dicts that a file's own names hold."""
    for one in tree.body:
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Dict):
            for key in one.value.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value
    for node in nodes(tree, ast.Call, ast.ClassDef):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=given, keywords=words):
                told = [word.value for word in words if word.arg == "dest"]
                for flag in told or given:
                    if isinstance(flag, ast.Constant) and isinstance(flag.value, str):
                        yield flag.value.lstrip("-").replace("-", "_")
            case ast.ClassDef(bases=bases, decorator_list=marks, body=body):
                if any("dataclass" in ast.unparse(one) for one in marks) or any(
                    ast.unparse(one).endswith("NamedTuple") for one in bases
                ):
                    for one in body:
                        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                            yield one.target.id
