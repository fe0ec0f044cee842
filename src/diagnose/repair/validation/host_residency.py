"""What the program keeps on the cpu to save memory, and an edit brings to a GPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.placement.semantics import bound, calls, dotted, names, nodes
from diagnose.repair.model import Guard, Sentence, objection, said
from diagnose.repair.patch import Patch, callee, goes_to_cpu, move_of, moves
from diagnose.repair.scopes import FUNCTION, blocks
from diagnose.repair.validation.case import Case

#: What a text says that knows of devices.
_DEVICE = re.compile("device|cuda")
#: Functions before which a model is put away for their sake, and not to save memory.
_SAVES = re.compile(r"save|export|dump|state_dict|script|trace")


def put_away(case: Case) -> Iterator[Guard]:
    """Where the program puts modules away on the cpu, or chooses of each part of a model whether that goes
    to a GPU, what it never had on a GPU stays off it, and what it has just put away is not brought back at
    once; nor are weights brought to a GPU for good that go there one by one where they are used."""
    wanted, patches = case.wanted, case.patches.values()
    now = {name for name, device in case.ran.homes.items() if device.startswith("cuda")}
    idle, parked = now & wanted.idle, now & wanted.parked
    if idle and not any(_puts_away(one.old) or _brings_some(one.old) for one in patches):
        idle = set()
    if parked and not any(map(_brings_back, patches)):
        parked = set()
    for name in sorted(idle | parked | (now & wanted.streamed)):
        yield objection("put-away", "put-away", name=name)
        return


def rows(patch: Patch) -> Iterator[Sentence]:
    """No edit puts on a GPU, where it is made, what an object keeps of which rows are asked for, if its
    class knows no device: workers of a loader could not read it, and only the rows are wanted there."""
    old = {name: text for name, text, _ in _of_rows(patch.old)}
    for name, _, made in _of_rows(patch.new):
        for node in _placed(made) if not _DEVICE.search(old.get(name, "device")) else ():
            if node.lineno in patch.edited:
                yield said("rows", line=node.lineno, name=name)


def picked(patch: Patch) -> Iterator[Sentence]:
    """No edit puts on a GPU what an object keeps of which a method gives rows, where its caller brings
    those there: it is kept elsewhere, however much it is."""
    tree = patch.new
    brought = {
        of.func.attr
        for call in moves(patch.old)
        if isinstance(of := callee(call), ast.Call) and not goes_to_cpu(call)
        if isinstance(of.func, ast.Attribute)
    }
    for kind in nodes(tree, ast.ClassDef):
        own = [one for one in kind.body if isinstance(one, FUNCTION)]
        for name in {name for one in own if one.name in brought for name in _rows_of(one)}:
            for node in _placing(kind, name, tree):
                if node.lineno in patch.edited:
                    yield said("rows", line=node.lineno, name=kind.name)


def _rows_of(method: ast.AST) -> Iterator[str]:
    """What an object keeps of which a method gives what it is asked for."""
    for node in nodes(method, ast.Return):
        match node:
            case ast.Return(
                value=ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=name))
            ):
                yield name


def _placing(kind: ast.ClassDef, name: str, tree: ast.Module) -> Iterator[ast.Call | ast.keyword]:
    """The moves, and the devices of what is made, in what becomes an object's ``name``: where that is set,
    and where the object is made of it."""
    maker = next((one for one in kind.body if getattr(one, "name", "") == "__init__"), None)
    if not isinstance(maker, ast.FunctionDef):
        return
    given = [one.value for one in bound(maker, f"self.{name}") if one.value is not None]
    taken = [arg.arg for arg in maker.args.args[1:]]
    kept = {one for value in given for one in names(value)}
    for node in calls(tree, kind.name):
        if isinstance(node.func, ast.Name):
            given += [one for at, one in zip(taken, node.args, strict=False) if at in kept]
            given += [one.value for one in node.keywords if one.arg in kept]
    for value in given:
        yield from _placed(value)


def _placed(scope: ast.AST) -> Iterator[ast.Call | ast.keyword]:
    """The moves to a GPU in a node, and where a call in it is told a device."""
    for node in nodes(scope, ast.Call, ast.keyword):
        if isinstance(node, ast.keyword):
            if node.arg == "device":
                yield node
        elif move_of(node) and not goes_to_cpu(node):
            yield node


def _of_rows(tree: ast.Module) -> Iterator[tuple[str, str, ast.AST]]:
    """The classes whose objects are asked for rows and for their number, or run through by a loop that
    brings what it gets to a GPU, and are no modules: the name, the text, and the method that makes one."""
    asked = [{"__init__", "__getitem__", "__len__"}]
    asked += [{"__init__", "__iter__"}] if _brought_in_loop(tree) else []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            own = {one.name: one for one in node.body if isinstance(one, FUNCTION)}
            if "forward" not in own and any(own.keys() >= names for names in asked):
                yield node.name, ast.unparse(node), own["__init__"]


def _brought_in_loop(tree: ast.Module) -> bool:
    """Whether a loop brings what it is given to a GPU."""
    for loop in nodes(tree, ast.For):
        given = set(names(loop.target))
        for call in moves(loop):
            if dotted(callee(call)) in given and not goes_to_cpu(call):
                return True
    return False


def _puts_away(tree: ast.Module) -> bool:
    """Whether a statement moves a module to the cpu, to do without it. A tensor's move would be lost."""
    return any(
        _is_away(one) and not _SAVES.search("\n".join(map(ast.unparse, block[at + 1 :])))
        for block in blocks(tree)
        for at, one in enumerate(block)
    )


def _brings_some(tree: ast.Module) -> bool:
    """Whether a loop brings parts of something to a device under a condition other than their class: a
    budget, a list of names."""
    for loop in nodes(tree, ast.For):
        parts = set(names(loop.target))
        for node in nodes(loop, ast.If):
            if "isinstance" not in ast.unparse(node.test):
                brought = (one for part in node.body for one in moves(part))
                if any(dotted(callee(one)) in parts for one in brought if not goes_to_cpu(one)):
                    return True
    return False


def _brings_back(patch: Patch) -> bool:
    """Whether an edit moves something in the block in which a statement before it moves something away."""
    for block in blocks(patch.new):
        away = False
        for one in block:
            match one:
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to" | "cuda"))):
                    if away and one.lineno in patch.edited:
                        return True
            away = away or any(map(_is_away, calls(one)))
    return False


def _is_away(node: ast.AST) -> bool:
    match node.value if isinstance(node, ast.Expr) else node:
        case ast.Call(func=ast.Attribute(attr="cpu")):
            return True
        case ast.Call(func=ast.Attribute(attr="to"), args=args, keywords=named):
            return any(re.search("cpu|offload", ast.unparse(one)) for one in [*args, *named])
    return False
