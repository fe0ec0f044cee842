"""Edits of what one call hands to a class or function of the program, which moves that itself, too late."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.hooks.scopes import given_to
from diagnose.placement.semantics import Binding, bindings, calls, nodes
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, callee, goes_to_cpu, move_of


def handed_on(patch: Patch) -> Iterator[Sentence]:
    """No edit moves, in one call, what the called class or function of the program moves itself: all other
    callers meet the same failure."""
    tree = patch.new
    new = {id(one.call): one.call for one in patch.transfers}
    for node in calls(tree) if new else ():
        if not isinstance(node.func, ast.Name):
            continue
        for scope, function in runs(tree, node.func.id):
            for name, given in given_to(function, node).items():
                known = {name, *_kept(function, name)}
                if id(given) in new and _moves_one(scope, known, new[id(given)]):
                    yield said("handed-on", line=given.lineno, name=node.func.id)


def runs(tree: ast.Module, name: str) -> Iterator[tuple[ast.AST, ast.FunctionDef]]:
    """What a call by a name runs: a function, or a class's ``__init__`` with the class around it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            yield node, node
        for one in node.body if isinstance(node, ast.ClassDef) and node.name == name else ():
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                yield node, one


def _kept(function: ast.FunctionDef, name: str) -> Iterator[str]:
    """The attributes that an object keeps an argument in."""
    for one in bindings(function):
        match one:
            case Binding(ast.Attribute() as target, ast.Name(id=given)) if given == name:
                yield ast.unparse(target)


def _moves_one(scope: ast.AST, names: set[str], besides: ast.Call) -> bool:
    """Whether a statement moves what has one of the names, for good, other than to the cpu."""
    for node in nodes(scope, ast.Expr, ast.Assign):
        call = move_of(node.value)
        if call is not None and call is not besides and not goes_to_cpu(call):
            bound = [ast.unparse(one) for one in getattr(node, "targets", ())]
            name = ast.unparse(callee(call))
            if name in names and (not bound or bound == [name]):
                return True
    return False
