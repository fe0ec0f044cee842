"""A program with one of its switches the other way round: what its author provides for, and no run shows.

A switch is what the files say is true or false, one of some words, or a GPU, and ask for somewhere: a flag
of the command line, a field of a configuration, an argument with a default. The words are the choices of an
option, and those that the file compares with it, or keeps a table by. A GPU is turned to the cpu where the
file names none beside it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.file_gate import rewritten
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.semantics import Function, bindings_by, defaults, dotted, last_name, nodes
from diagnose.repair.model import Guard, Ran, Terms, objection, said
from diagnose.repair.runs.runner import Runner
from diagnose.repair.syntax import tree_of
from diagnose.repair.workspace import Workspace

#: The most switches of a program that are tried.
_MOST = 4
#: What a name ends in that tells a device, how a GPU is written there, and where else one is named.
_DEVICE, _GPU = re.compile(r"(?i)(?:device|^dev)$"), re.compile(r"cuda(?::\d+)?$")
_NAMED = re.compile(r"[\"']cuda(?::\d+)?[\"']|\.cuda\(")
#: Actions of flags: the other action, and what the option is then where the flag is not given.
_ACTIONS = {"store_true": ("store_false", "True"), "store_false": ("store_true", "False")}


class Switch(NamedTuple):
    """A switch of a file: its name, what it is turned to, where its value stands, and what is written
    there then."""

    name: str
    to: str
    node: ast.Constant
    written: str


class Switched(NamedTuple):
    """A program whose switch ``name`` is turned to the value ``to``, as it was and as it is edited: the
    texts of the files that differ from the user's."""

    name: str
    to: str
    before: Mapping[str, str]
    after: Mapping[str, str]


def turned(
    runner: Runner, texts: Mapping[str, str], gpus: int, wanted: Ran, got: Ran
) -> Iterator[Guard]:
    """Where the program runs with a switch turned, the edited one does too, and what the switch places is
    where it did, with the one value and with the other.

    Args:
        runner: runs the program.
        texts: the edited files.
        gpus: on how many GPUs.
        wanted: the program as it is without device checks.
        got: the edited one.
    """
    passed = []
    for one in switched(runner.workspace, texts):
        meant = runner.run(one.before, Terms(gpus, checked=False))
        if not meant.passed:
            continue
        named = {"name": one.name, "to": one.to}
        ran = runner.run(one.after, Terms(gpus))
        if not ran.passed:
            told = _failing(ran, runner.run(one.before, Terms(gpus)), **named)
        elif away := next(_disobeyed((wanted, got), (meant, ran)), None):
            told = objection("switch", "switch-ignored", **named, **away)
        else:
            passed.append(f"{one.name}={one.to}")
            continue
        yield told
        return
    if passed:
        names = ", ".join(dict.fromkeys(passed))
        yield Guard("switch", True, said("switched", names=names))


def _failing(ran: Ran, before: Ran, **named: str) -> Guard:
    """What is said where the edited program fails with a switch turned; ``before`` is the program as it was
    with that: where it fails alike, the edits are not to blame."""
    failure, other = ran.failure, before.failure
    alike = failure is not None and other is not None and failure.key == other.key
    error = (failure.error if failure else "").partition("\n")[0]
    word = "switch-fails-too" if alike else "switch-fails"
    return Guard("switch", None if alike else False, said(word, **named, error=error))


def _disobeyed(*modes: tuple[Ran, Ran]) -> Iterator[dict[str, str]]:
    """What a switch puts on one device or another, and the edited program does not: of either mode what is
    meant, and what is got."""
    (one, _), (other, _) = modes
    for name, device in one.homes.items():
        if other.homes.get(name, device) != device:
            for meant, got in modes:
                if (now := got.homes.get(name, meant.homes[name])) != meant.homes[name]:
                    yield {"part": name, "now": now, "device": meant.homes[name]}


def switched(workspace: Workspace, texts: Mapping[str, str]) -> Iterator[Switched]:
    """The patched program with each of the switches of its edited files turned, some at most.

    Args:
        workspace: the files as they were.
        texts: the edited files.

    Yields:
        The program, for each switch that the edits leave as it was.
    """
    yield from islice(_switched(workspace, texts), _MOST)


def _switched(workspace: Workspace, texts: Mapping[str, str]) -> Iterator[Switched]:
    for file, after in texts.items():
        sources = [_source(workspace.text(file)), _source(after)]
        for pair in _pairs(*sources):
            with suppress(Refused):
                old, new = map(_with, sources, pair)
                yield Switched(pair[0].name, pair[0].to, {file: old}, {**texts, file: new})


def _source(text: str) -> Source:
    return Source("", text.split("\n"), tree_of(text))


def _pairs(before: Source, after: Source) -> Iterator[tuple[Switch, Switch]]:
    """The switches that stand in both texts, in each of them."""
    others = {(one.name, one.to): one for one in switches(after.tree, before.tree)}
    for one in switches(before.tree):
        if (one.name, one.to) in others:
            yield one, others[one.name, one.to]


def switches(tree: ast.Module, asking: ast.Module | None = None) -> Iterator[Switch]:
    """The switches of a file that it asks for in a condition, or picks from a table by; and the one that
    tells the device of all.

    Args:
        tree: the file.
        asking: the file as it was, where that asks what an edit has taken away.
    """
    asking = asking or tree
    asked, words = set(_asked(asking)), _words(asking)
    alone = len(_NAMED.findall(ast.unparse(asking))) == 1
    for node in nodes(tree, ast.stmt, ast.Call):
        for name, value in _values(node):
            if name in asked and (to := _other(value)) is not None:
                yield Switch(name, to, value, to)
            yield from _to_words(name, value, words.get(name, ()))
            if alone and isinstance(node, ast.AnnAssign):
                yield from _to_cpu(name, value)
        match node:
            case ast.Call(
                func=ast.Attribute(attr="add_argument"), args=[ast.Constant() as flag, *_]
            ):
                given = {one.arg: one.value for one in node.keywords}
                name = str(flag.value).lstrip("-").replace("-", "_")
                yield from _of_flag(name, given, words.get(name, ()), asked=name in asked)
                if alone and isinstance(default := given.get("default"), ast.Constant):
                    yield from _to_cpu(name, default)


def _to_words(name: str, value: ast.Constant, words: Sequence[str]) -> Iterator[Switch]:
    """What holds one of some words is turned to each of the others."""
    if value.value in words:
        yield from (Switch(name, one, value, repr(one)) for one in words if one != value.value)


def _to_cpu(name: str, value: ast.Constant) -> Iterator[Switch]:
    """What tells a GPU tells the cpu."""
    if _DEVICE.search(name) and isinstance(value.value, str) and _GPU.match(value.value):
        yield Switch(name, "cpu", value, repr("cpu"))


def _words(tree: ast.Module) -> dict[str, list[str]]:
    """The words that names, and attributes, are compared with, or pick an item of a written table by."""
    found: dict[str, list[str]] = {}
    tables = {dotted(one.target): one.value for row in tree.body for one in bindings_by(row)}
    for node in nodes(tree, ast.Compare, ast.Match, ast.Subscript):
        match node:
            case ast.Compare(left=left, comparators=others):
                parts: list[ast.AST] = [*others]
            case ast.Match(subject=left, cases=cases):
                parts = [case.pattern for case in cases]
            case ast.Subscript(value=table, slice=left):
                held = tables.get(table.id) if isinstance(table, ast.Name) else None
                parts = [key for key in getattr(held or table, "keys", ()) if key is not None]
            case _:
                continue
        name = last_name(left)
        known = [one for part in parts for one in nodes(part, ast.Constant)]
        for one in known:
            if name and isinstance(one.value, str) and one.value not in found.get(name, ()):
                found.setdefault(name, []).append(one.value)
    return found


def _values(node: ast.AST) -> Iterator[tuple[str, ast.Constant]]:
    """The names that a node gives a value that it writes down: fields, and arguments with a default."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() as value):
            yield name, value
    if isinstance(node, Function):
        for name, default in defaults(node).items():
            if isinstance(default, ast.Constant):
                yield name, default


def _of_flag(
    name: str, given: Mapping[str | None, ast.expr], words: Sequence[str], *, asked: bool
) -> Iterator[Switch]:
    """What an option of a command line is turned to; ``words`` are those that it is compared with."""
    match given:
        case {"default": ast.Constant() as value} if asked and (to := _other(value)) is not None:
            yield Switch(name, to, value, to)
        case {"action": ast.Constant(value=str() as action) as value} if (
            asked and action in _ACTIONS
        ):
            other, then = _ACTIONS[action]
            yield Switch(name, then, value, repr(other))
        case {"choices": ast.List() | ast.Tuple() as choices, "default": ast.Constant() as value}:
            known = [one.value for one in choices.elts if isinstance(one, ast.Constant)]
            if asked or words:
                yield from _to_words(name, value, [one for one in known if isinstance(one, str)])
        case {"default": ast.Constant() as value}:
            yield from _to_words(name, value, words)


def _other(value: ast.Constant) -> str | None:
    """The other one of two values."""
    return str(not value.value) if isinstance(value.value, bool) else None


def _asked(tree: ast.Module) -> Iterator[str]:
    """The names that conditions ask for."""
    tests: list[ast.expr] = [one.test for one in nodes(tree, ast.If, ast.IfExp, ast.While)]
    for test in (*tests, *nodes(tree, ast.BoolOp)):
        yield from map(last_name, nodes(test, ast.Name, ast.Attribute))


def _with(source: Source, switch: Switch) -> str:
    """The text of a file with a switch turned. Raises `Refused` where that cannot be written."""
    return rewritten(source, [replaced(source, switch.node, switch.written)])
