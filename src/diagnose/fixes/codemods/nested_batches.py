"""A function that brings a batch to its device whatever it is nested in, and leaves one container out: it
goes through that, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import functions_around, text_of
from diagnose.fixes.codemods.statements import before_statement
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import EventKind
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import called, calls, nodes

#: What asks for one kind of container, by the last names of its types.
_SEQUENCES = ("list", "tuple")
_SEQUENCE = frozenset({*_SEQUENCES, "Sequence", "Iterable", "Collection"})
_MAPPING = frozenset({"dict", "Mapping", "MutableMapping", "OrderedDict", "BatchEncoding"})


class _Mover(NamedTuple):
    """Such a function: what it calls the batch, a call of itself, its types and where it asks for them,
    and where it gives back what it does not know."""

    name: str
    call: ast.Call
    types: tuple[ast.expr, ...]
    last: ast.Return


def nested(source: Source, node: ast.AST, torch: TorchNames) -> list[Sequence[Change]]:
    """The changes by which the function around a node goes through one container more, likeliest first;
    none where it is no such function.

    Args:
        source: its file.
        node: a node in it, or the function itself.
        torch: what moves.
    """
    mover = _around(source, node, torch)
    return list(_wider(source, mover)) if mover is not None else []


def with_fields(suspect: Suspect, torch: TorchNames) -> Sequence[Change] | None:
    """The changes by which such a function goes through the fields of a data class, where it gave back one
    of that as it came; None where it gave back something else."""
    source, node = suspect.spot.source, suspect.spot.node
    made = next(
        (s.of for s in suspect.steps if s.what == EventKind.PASSED and s.spot.node is node), None
    )
    mover = _around(source, node, torch) if made is not None else None
    if mover is None or made is None or mover.last is not node or _asks_for_records(source, mover):
        return None
    if "init=False" in ast.unparse(made.node):
        raise Refused("not all of its fields can be given anew")
    names = _fields(made.node) if made.node in source.tree.body else None
    if names is not None and isinstance(made.node, ast.ClassDef):
        given = (f"{name}={_each(source, mover, f'{mover.name}.{name}')}" for name in names)
        code = f"return {made.node.name}({', '.join(given)})"
        branch = f"if isinstance({mover.name}, {made.node.name}):\n    {code}"
        return [before_statement(source, mover.last, branch)]
    root, needed = spelled(source, "dataclasses", node)
    each = _each(source, mover, f"getattr({mover.name}, field.name)")
    moved = f"{{field.name: {each} for field in {root}.fields({mover.name})}}"
    code = f"return {root}.replace({mover.name}, **{moved})"
    branch = f"if {root}.is_dataclass({mover.name}):\n    {code}"
    return [before_statement(source, mover.last, branch), *needed]


#: So many fields of a data class are written one by one.
_FEW = 6


def _fields(made: ast.AST) -> list[str] | None:
    """The few fields of a data class that is built on no other; None of another."""
    if not isinstance(made, ast.ClassDef) or made.bases:
        return None
    told = [one for one in made.body if isinstance(one, ast.AnnAssign)]
    names = [one.target.id for one in told if isinstance(one.target, ast.Name)]
    others = any("Var" in ast.unparse(one.annotation) for one in told)  # ClassVar, InitVar
    return names if 0 < len(names) <= _FEW and not others else None


def _asks_for_records(source: Source, mover: _Mover) -> bool:
    """Whether such a function knows data classes."""
    function = functions_around(source, mover.last)[0]
    return bool(calls(function, "is_dataclass", "fields"))


def _around(source: Source, node: ast.AST, torch: TorchNames) -> _Mover | None:
    around = [node] if isinstance(node, ast.FunctionDef) else functions_around(source, node)
    return _mover(around[0], torch) if around else None


def left_out(suspect: Suspect, torch: TorchNames) -> Suspect:
    """An input that such a function gave back as it came, at that place; else as it is."""
    for step in suspect.steps if suspect.cause == "input-not-moved" else ():
        if not isinstance(step.spot.node, ast.Return):
            continue
        mover = _around(step.spot.source, step.spot.node, torch)
        if mover is None or mover.last is not step.spot.node:
            continue
        if step.of is not None or any(_wider(step.spot.source, mover)):
            return suspect._replace(spot=step.spot)
    return suspect


def movers(source: Source, torch: TorchNames) -> Iterator[ast.FunctionDef]:
    """The functions of a file that do so."""
    return (one for one in nodes(source.tree, ast.FunctionDef) if _mover(one, torch) is not None)


def _mover(function: ast.AST, torch: TorchNames) -> _Mover | None:
    if not isinstance(function, ast.FunctionDef):
        return None
    given = [arg.arg for arg in function.args.args if arg.arg not in ("self", "cls")]
    last = function.body[-1]
    itself = [one for one in calls(function, function.name) if one.args]
    moves = [
        one for one in calls(function) if called(one) in torch.moves and _owner(one) in given[:1]
    ]
    match last:
        case ast.Return(value=ast.Name(id=name)) if itself and moves and given[:1] == [name]:
            types = (_types(one, name) for one in calls(function))
            return _Mover(name, itself[0], tuple(one for one in types if one is not None), last)
    return None


def _owner(call: ast.Call) -> str:
    """The name of whose method is called; empty for other calls."""
    func = call.func
    return (
        func.value.id
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
        else ""
    )


def _types(call: ast.Call, name: str) -> ast.expr | None:
    """The types that a call asks for of what has a name."""
    match call:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), types]):
            return types if asked == name else None
    return None


def _parts(types: ast.expr) -> list[ast.expr]:
    """One type, or those of a tuple."""
    return types.elts if isinstance(types, ast.Tuple) else [types]


def _wider(source: Source, mover: _Mover) -> Iterator[Sequence[Change]]:
    asked = [
        (types, {ast.unparse(one).rpartition(".")[2] for one in _parts(types)})
        for types in mover.types
    ]
    known = set[str]().union(*(names for _, names in asked))
    missing = [one for one in _SEQUENCES if one not in known]
    for types, names in asked if missing and not known & (_SEQUENCE - {*_SEQUENCES}) else ():
        if names & {*_SEQUENCES}:
            wider = ", ".join([*(text_of(source, one) for one in _parts(types)), *missing])
            with suppress(Refused):
                yield [replaced(source, types, f"({wider})")]
    if not known & _SEQUENCE:
        each = f"type({mover.name})({_each(source, mover, 'v')} for v in {mover.name})"
        yield from _branch(source, mover, f"({', '.join(_SEQUENCES)})", each)
    if not known & _MAPPING:
        each = f"{{k: {_each(source, mover, 'v')} for k, v in {mover.name}.items()}}"
        yield from _branch(source, mover, "dict", each)


def _each(source: Source, mover: _Mover, name: str) -> str:
    """The function's own call, of a part."""
    call = mover.call
    rest = [text_of(source, one) for one in [*call.args[1:], *call.keywords]]
    return f"{text_of(source, call.func)}({', '.join([name, *rest])})"


def _branch(source: Source, mover: _Mover, types: str, each: str) -> Iterator[Sequence[Change]]:
    code = f"if isinstance({mover.name}, {types}):\n    return {each}"
    with suppress(Refused):
        yield [before_statement(source, mover.last, code)]
