"""What an edit takes away that another mode of the program wants."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from diagnose.placement.semantics import (
    argument,
    arguments,
    called,
    calls,
    functions,
    holds,
    last_name,
    nodes,
)
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch, goes_to_cpu, moves, unmoved

#: Functions that spread a model over devices.
_SPREADS = frozenset({"dispatch_model"})
#: The function that plans where the parts of a model go, and others that are given such a plan.
_PLANS = "infer_auto_device_map"
_PLANNED = _SPREADS | {"load_checkpoint_and_dispatch", "from_pretrained"}
#: What makes something without memory, and methods that fill it with what is loaded.
_EMPTY = re.compile(r"""["']meta["']|\binit_empty_weights\b""")
_FILLING = frozenset(
    {
        "load_state_dict",
        "to_empty",
        "set_module_tensor_to_device",
        "load_checkpoint_in_model",
        "load_checkpoint_and_dispatch",
    }
)
#: Questions that are about the machine, and choose no mode.
_MACHINE = ("is_available", "device_count")


def out_of_branch(patch: Patch) -> Iterator[Sentence]:
    """No edit only takes statements out of a branch that goes on without them: who asks for that mode no
    longer gets it."""
    questions = list(nodes(patch.old, ast.If))
    for hunk in patch.hunks:
        if hunk.made:
            continue
        lines = {line + 1 for line in hunk.gone}
        for node in questions:
            asked = ast.unparse(node.test)
            for block in (node.body, node.orelse):
                taken = [one for one in block if one.lineno in lines]
                if 0 < len(taken) < len(block) and not any(one in asked for one in _MACHINE):
                    yield said("out-of-branch", line=hunk.gone.start + 1, asked=asked)


def taken(patch: Patch) -> Iterator[Sentence]:
    """No edit takes away what a function makes of its argument, to go on with the bare one: another caller
    may hand over something that wants it."""
    tree = patch.old
    left = Counter(map(unmoved, calls(patch.new)))
    for call in calls(tree):
        if (same := unmoved(call)) in left:
            left[same] -= 1
            left += Counter()
        elif given := _makes_of_argument(tree, call):
            name = _name(call.func)
            if _count(patch.new, name) < _count(tree, name):
                yield said("taken", line=call.lineno, name=name, given=given)


def _count(tree: ast.AST, name: str) -> int:
    """How often a name is asked for: what is called may be moved before."""
    return sum(_name(node) == name for node in nodes(tree, ast.Name, ast.Attribute))


def _name(node: ast.expr) -> str:
    """How a function is named; of a method of what a call gives only its own name."""
    given = isinstance(node, ast.Attribute) and bool(calls(node.value))
    return node.attr if isinstance(node, ast.Attribute) and given else ast.unparse(node)


def _makes_of_argument(tree: ast.Module, call: ast.Call) -> str:
    """The argument of a function of which one of its statements makes something that takes its place: it
    is bound to the same name, or returned."""
    for function in functions(tree):
        given = {one.arg for one in function.args.args}
        for node in nodes(function, ast.Assign, ast.Return):
            match node, call.args:
                case ast.Assign(targets=[ast.Name(id=bound)]), [ast.Name(id=name), *_]:
                    same = bound == name
                case ast.Return(), [ast.Name(id=name), *_]:
                    same = True
                case _:
                    continue
            value = getattr(node, "value", None)
            made = value.body if isinstance(value, ast.IfExp) else value
            if same and made is call and name in given:
                return name
    return ""


def left_whole(patch: Patch) -> Iterator[Sentence]:
    """No edit takes away the move of a model that the program spreads only under a condition: where it does
    not, nothing else moves it."""
    tree, new = patch.old, patch.new
    asked = _spread_if(tree)
    if asked is None:
        return
    left = Counter(map(ast.unparse, _moves(new)))
    gone = Counter(map(ast.unparse, _moves(tree))) - left
    if left.total() >= sum(1 for _ in _moves(tree)):
        return
    for call in _moves(tree):
        if ast.unparse(call) in gone:
            yield said("left-whole", line=call.lineno, asked=asked)


def planned(patch: Patch) -> Iterator[Sentence]:
    """No edit leaves unused what the program plans by the memory of its GPUs, and puts all on one."""
    tree, new = patch.old, patch.new
    for node in nodes(tree, ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if called(
                call
            ) == _PLANS and argument(call, "max_memory"):
                was, now = (_handed(one, name) for one in (tree, new))
                if now < was:
                    yield said("planned", name=name, line=node.lineno)


def _handed(tree: ast.AST, name: str) -> int:
    """How many calls that spread a model are given a name."""
    given = (each for one in calls(tree, *_PLANNED) for each in arguments(one))
    return sum(isinstance(one, ast.Name) and one.id == name for one in given)


def filled(patch: Patch) -> Iterator[Sentence]:
    """No edit makes in memory at once what the program makes without any and fills with weights that it
    loads: then it would be made twice."""
    named = {last_name(one) for one in nodes(patch.old, ast.Attribute, ast.Name)}
    for hunk in patch.hunks if named & _FILLING else ():
        if _EMPTY.search(hunk.was) and not _EMPTY.search(hunk.now):
            yield said("filled", line=hunk.gone.start + 1)


def _moves(tree: ast.AST) -> Iterator[ast.Call]:
    """The moves of a file that bring something to a GPU, or to what has a name."""
    return (one for one in moves(tree) if not goes_to_cpu(one))


def _spread_if(tree: ast.Module) -> str | None:
    """The condition under which a program spreads its model over devices, if it asks for one."""
    spreading = calls(tree, *_SPREADS)
    for node in nodes(tree, ast.If, ast.IfExp):
        block = node.body if isinstance(node.body, list) else [node.body]
        if any(holds(one, call) for one in block for call in spreading):
            return ast.unparse(node.test)
    return None
