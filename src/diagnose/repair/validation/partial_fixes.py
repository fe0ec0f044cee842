"""Edits that do one half of something: move one of two things that are made and given alike, bring back
what a function that the caller gives was to move, bring for one method what another reads as well, or move
what is moved again at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.placement.semantics import (
    bindings,
    bindings_by,
    calls,
    dotted,
    functions,
    functions_by_line,
    holds,
    names,
    nodes,
    parameters,
)
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, Transfer, callee, goes_to_cpu, move_of, moves, unmoved
from diagnose.repair.scopes import FUNCTION, spans

#: Methods that move an object, or are all that callers call.
_MOVING = frozenset({"__init__", "to", "cuda", "cpu", "_apply", "forward", "__call__"})


def given_back(patch: Patch) -> Iterator[Sentence]:
    """What a function makes of its argument that the caller gives (``fn(value)``) is not brought back to
    where the argument was: to move it may be what that function is for."""
    for one in patch.transfers:
        match one.moved, one.call.args:
            case (
                ast.Call(func=ast.Name(id=name), args=handed),
                [ast.Attribute(attr="device", value=where)],
            ) if name in one.given and ast.unparse(where) in map(ast.unparse, handed):
                yield said("given-back", line=one.line, name=name)


def left_alone(patch: Patch) -> Iterator[Sentence]:
    """Of what a function makes by expressions of the same form, and gives together, not only a part is
    moved."""
    tree, edited = patch.new, patch.edited
    for function in functions(tree):
        given = [
            {one.id for one in node.value.elts if isinstance(one, ast.Name)}
            for node in nodes(function, ast.Return)
            if isinstance(node.value, ast.Tuple)
        ]
        made = {
            one.target.id: one.value
            for one in bindings(function)
            if isinstance(one.target, ast.Name) and one.value is not None
        }
        for name, value in made.items():
            move = move_of(value)
            if move is None or goes_to_cpu(move) or move.lineno not in edited:
                continue
            for other, beside in made.items():
                together = any({name, other} <= names for names in given)
                if other != name and together and _form(beside) == _form(callee(move)):
                    yield said("left-alone", line=move.lineno, name=name, other=other)


def far(one: Transfer, patch: Patch) -> Iterator[Sentence]:
    """What a function gives is not moved in it, by a name that is bound below it, where the rest of what it
    gives is moved after the call; but for a model whose parameters it hands on there."""
    if _hands_parameters(one):
        return
    device = one.call.args[0] if len(one.call.args) == 1 else None
    if not isinstance(one.scope, FUNCTION) or not isinstance(device, ast.Name):
        return
    tree = patch.new
    own = (one for row in tree.body for one in bindings_by(row))
    bound = [one.target.lineno for one in own if dotted(one.target) == device.id]
    if not bound or min(bound) <= (one.scope.end_lineno or 0):
        return
    given = {
        target.id
        for node in nodes(tree, ast.Assign)
        if _calls(node.value, one.scope.name)
        for to in node.targets
        for target in nodes(to, ast.Name)
    }
    for call in moves(tree):
        outside = not spans(one.scope, call.lineno)
        if outside and next(iter(names(callee(call))), "") in given:
            yield said("parted", line=one.line, other=call.lineno)


def _hands_parameters(one: Transfer) -> bool:
    """Whether the function that moves a model, and gives it a name, asks that for its parameters below: an
    optimizer is made of them, after the move."""
    names = {
        to.id
        for node in nodes(one.scope, ast.Assign)
        if node.value is one.call
        for to in node.targets
        if isinstance(to, ast.Name)
    }
    return any(
        node.attr in ("parameters", "named_parameters")
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        for node in nodes(one.scope, ast.Attribute)
    )


def _calls(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def for_one_method(patch: Patch) -> Iterator[Sentence]:
    """What an object keeps is not brought to its device by one of its methods while another one reads it,
    and does not: that works where the first one was called before."""
    tree, edited = patch.new, patch.edited
    for made in nodes(tree, ast.ClassDef):
        methods = [one for one in made.body if isinstance(one, FUNCTION)]
        for method in methods:
            for name, line in _brought(method):
                others = [o for o in methods if o is not method and o.name != "__init__"]
                if line not in edited or method.name in _MOVING or _is_asked_for(method, others):
                    continue
                for other in others:
                    if _computes(other, name) and name not in dict(_brought(other)):
                        yield said("for-one-method", line=line, name=name, method=other.name)


def _brought(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The attributes that a function brings somewhere, to keep them there, and the lines."""
    for one in bindings(function):
        match one.target:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) as kept if one.value:
                move = move_of(one.value)
                if move is not None and dotted(callee(move)) == dotted(kept):
                    yield f"self.{name}", kept.lineno


def _is_asked_for(method: ast.AST, others: Sequence[ast.AST]) -> bool:
    """Whether other methods of the object call a method: it may be what they have brought."""
    name = f"self.{getattr(method, 'name', '')}"
    return any(dotted(one.func) == name for other in others for one in calls(other))


def _computes(method: ast.AST, name: str) -> bool:
    """Whether a method has an attribute as an operand of an operation, or hands it to a function of
    torch's."""
    for node in nodes(method, ast.BinOp, ast.Call):
        match node:
            case ast.BinOp(left=left, right=right):
                operands = [left, right]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "F")), args=operands):
                pass
            case _:
                continue
        if name in map(dotted, operands):
            return True
    return False


def for_one_call(patch: Patch) -> Iterator[Sentence]:
    """What is brought for the call of one of its methods is brought for those of others, too, that the
    program calls as it stands: else these work where the first was called before."""
    tree = patch.new
    methods = [
        {method.name for method in made.body if isinstance(method, FUNCTION)}
        for made in nodes(tree, ast.ClassDef)
    ]
    for one in patch.transfers:
        owner = one.name
        for name in _methods_of(one.call, tree):
            own = next((known for known in methods if name in known), set())
            for call in calls(tree):
                match call.func:
                    case ast.Attribute(value=value, attr=other) if ast.unparse(value) == owner:
                        if other in own - {name, *_MOVING} and not _is_brought(tree, owner, call):
                            yield said("for-one-method", line=one.line, name=owner, method=other)


def _methods_of(value: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The methods that a program calls of what an expression gives, at once."""
    for node in calls(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if owner is value:
                yield name


def _is_brought(tree: ast.Module, owner: str, call: ast.Call) -> bool:
    """Whether the function around a call, or the file, moves the owner somewhere above it."""
    around = functions_by_line(tree).get(call.lineno, tree)
    above = (one for one in moves(around) if one.lineno <= call.lineno)
    return any(ast.unparse(callee(one)) == owner for one in above)


def alters(patch: Patch) -> Iterator[Sentence]:
    """No edit sets what its caller's object keeps, in a function that sets nothing of it otherwise."""
    edited = patch.edited
    for function in functions(patch.new):
        given = {one.arg for one in parameters(function)} - {"self"}
        found: dict[str, list[int]] = {}
        for node in nodes(function, ast.Attribute):
            match node:
                case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()) if name in given:
                    found.setdefault(name, []).append(node.lineno)
        for name, lines in found.items():
            if set(lines) <= edited:
                yield said("alters", line=min(lines), name=name)


def hops(patch: Patch) -> Iterator[Sentence]:
    """What is brought somewhere is not made a part of what is brought elsewhere by the same edit."""
    every = list(patch.transfers)
    known = set(map(unmoved, calls(patch.old)))  # of a move that was there a part moves before
    for outer in every:
        for inner in every if unmoved(outer.call) not in known else ():
            inside = inner.call is not outer.call and holds(outer.moved, inner.call)
            apart = [ast.unparse(one) for one in (*inner.call.args, *outer.call.args)]
            if inside and len(apart) == 2 and apart[0] != apart[1]:
                yield said("hops", line=outer.line)


def _form(node: ast.expr) -> str:
    """An expression without its names, and without which part is taken of something."""
    form = ast.parse(ast.unparse(node), mode="eval")
    for one in ast.walk(form):  # its own, and changed here: nothing to keep of it
        if isinstance(one, ast.Name):
            one.id = "_"
        elif isinstance(one, ast.Subscript):
            one.slice = ast.Constant(None)
    return ast.dump(form)
