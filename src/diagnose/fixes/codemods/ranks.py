"""A process of a distributed job gets its own device: ``torch.device("cuda")`` the local rank's."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence

from diagnose.fixes.codemods.expressions import expression, replaced, with_method
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import (
    ancestors,
    class_around,
    functions_around,
    statement_of,
    text_of,
)
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.fixes.codemods.transfers import value_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import (
    argument,
    around,
    bindings,
    bound,
    bound_names,
    called,
    calls,
    dotted,
    holds,
    is_property,
    nodes,
    scope_of,
    top,
)

_OF_ENVIRONMENT = re.compile("""LOCAL_RANK["']""")
#: Where a program asks for the number of its process.
_OF_RANKS = re.compile(r"RANK\b|_PROCID|_LOCALID|get_rank\(")
#: Names of the local rank, the surest first.
_NAMES = (
    r"(self\.)?_?local_?rank",
    r"\w+\.local_rank",
    r"local_process_index",
    r"gpu(_id)?",
    r"rank",
)


def set_device(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """A device without a number gets the local rank; one that has it is set before it is used."""
    source, node = suspect.spot.source, suspect.spot.node
    statement = node if isinstance(node, ast.stmt) else statement_of(source, node)
    if isinstance(node, ast.Call) and called(node) == "set_device":
        return _of_the_machine(source, node)
    chosen = _chosen(statement)
    rank = text_of(source, chosen) if chosen is not None else _rank(suspect)
    if (fixed := _set_to_a_number(source, rank)) is not None:
        return [fixed]
    if isinstance(node, (ast.expr, ast.Assign, ast.AnnAssign)):
        changes = _numbered(source, value_of(suspect), rank)
        if changes:
            return changes
    if calls(source.tree, "set_device"):
        raise Refused("the file calls set_device already")
    if (made := _made_with(source, statement)) is not None:
        statement, rank = made
    name, needed = spelled(source, "torch.cuda.set_device", statement)
    code = _where_there_is_one(source, statement, f"{name}({rank})")
    root = rank.partition(".")[0]
    # Else before: NCCL joins the processes on their current GPUs.
    if bound(statement, root) or bound(statement, rank):
        return [after_statement(source, statement, code), *needed]
    return [before_statement(source, _before_loops(source, statement, root), code), *needed]


def _made_with(source: Source, statement: ast.stmt) -> tuple[ast.stmt, str] | None:
    """The statement that makes the one object whose property tells a device by a statement, and the
    property: a process is bound once, and not whenever somebody asks."""
    function, owner = scope_of(source.tree, statement), class_around(source, statement)
    if owner is None or isinstance(function, ast.Module) or not is_property(function):
        return None
    made = [
        (one.by, f"{one.target.id}.{function.name}")
        for one in bindings(source.tree)
        if isinstance(one.by, ast.Assign) and isinstance(one.target, ast.Name)
        if isinstance(one.value, ast.Call) and dotted(one.value.func) == owner.name
    ]
    return made[0] if len(made) == 1 else None


def _where_there_is_one(source: Source, statement: ast.stmt, code: str) -> str:
    """A statement about the process's GPU, under the condition that there is one if the program asks for
    that, and not around it."""
    available = calls(source.tree, "is_available")
    asked = [one for one in available if ast.unparse(one.func).endswith("cuda.is_available")]
    tests = [one.test for one in around(source.tree, statement, ast.If)]
    if not asked or any(holds(test, one) for test in tests for one in asked):
        return code
    return f"if {text_of(source, asked[0])}:\n    {code}"


def _before_loops(source: Source, statement: ast.stmt, name: str) -> ast.stmt:
    """The outermost loop of its function that a statement stands in, for a process has one device; the
    statement itself where a loop binds the name."""
    found = statement
    for one in reversed(ancestors(source, statement)[:-1]):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) or bound(one, name):
            break
        found = one if isinstance(one, ast.For | ast.AsyncFor | ast.While) else found
    return found


def _set_to_a_number(source: Source, rank: str) -> Change | None:
    """The change of the file's only ``set_device(0)`` to the rank's, where that has been told by then."""
    match calls(source.tree, "set_device"):
        case [ast.Call(args=[ast.Constant(value=int()) as number], keywords=[]) as call]:
            if rank.partition(".")[0] in (one.partition(".")[0] for one in _names(source, call)):
                return replaced(source, number, rank)
    return None


def _of_the_machine(source: Source, call: ast.Call) -> list[Change]:
    """The rank among all machines by which a function chooses its devices becomes that on its own."""
    rank = call.args[0] if len(call.args) == 1 else None
    match rank:
        case ast.Name(id=name) | ast.Attribute(attr=name) if "local" not in name:
            pass
        case _:
            raise Refused("it is given a rank of its own machine, or no name")
    assert isinstance(rank, ast.expr)
    name, owner = text_of(source, rank), text_of(source, rank).rpartition(".")[0]
    local = f"{owner}.local_rank" if owner else "local_rank"
    kept = owner and any(one.attr == "local_rank" for one in nodes(source.tree, ast.Attribute))
    if not kept and local not in _names(source, call):
        module = text_of(source, call.func).rpartition(".")[0]
        local = f"{name} % {module}.device_count()" if module else ""
    if not local:
        raise Refused("the file does not show how many devices there are")
    scope = scope_of(source.tree, call)
    return [
        replaced(source, given, local)
        for one in calls(scope, "set_device", "device", "to", "cuda")
        for given in one.args[-1:]
        if dotted(given) == dotted(rank) is not None
    ]


def _chosen(statement: ast.stmt) -> ast.expr | None:
    """The number by which a statement chooses a device: ``torch.device("cuda", local_rank)``."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.Return)) else None
    match value:
        case ast.Call(args=[ast.Constant(value="cuda"), number]) if called(value) == "device":
            return None if isinstance(number, ast.Constant) else number
    return None


def _numbered(source: Source, node: ast.expr, rank: str) -> list[Change]:
    """The changes of a device without a number, or with the first one, to the rank's."""
    outer = ancestors(source, node)[-2]
    alone = isinstance(outer, ast.Call) and outer.args == [node] and not outer.keywords
    if alone and isinstance(outer, ast.Call) and called(outer) in {"device", "cuda"}:
        node = outer
    match node:
        case ast.Constant(value="cuda" | "cuda:0"):
            return [replaced(source, node, gpu_of(rank))]
        case ast.Constant(value=0):
            return [replaced(source, node, rank)]
        case ast.List(elts=[ast.Constant(value=0) as number]):
            return [replaced(source, number, rank)]
        case ast.Call(args=[ast.Constant(value="cuda" | "cuda:0")]) if called(node) == "device":
            return [replaced(source, node, f'{text_of(source, node.func)}("cuda", {rank})')]
        case ast.Call(args=[] | [ast.Constant(value=0)], keywords=[]) if called(node) == "cuda":
            return [with_method(source, node, f"cuda({rank})")]
        case ast.Call(args=[ast.Constant() as device]) if called(node) == "to":
            return _numbered(source, device, rank)
        case ast.Call():
            given = (argument(node, name) for name in ("device", "device_ids", "output_device"))
            return [c for one in given if one is not None for c in _numbered(source, one, rank)]
    return []


def gpu_of(number: str) -> str:
    """The expression of the GPU of a number."""
    quote = "'" if '"' in number else '"'
    return f"f{quote}cuda:{{{number}}}{quote}"


def _rank(suspect: Suspect) -> str:
    """The expression of the process's own number on its machine, as the file has it at the spot."""
    source, node = suspect.spot.source, suspect.spot.node
    known = [*suspect.devices, *_names(source, node)]
    chosen = {*_choosing(source.tree)} if _OF_RANKS.search(source.text) else set()
    for name in known:
        if name in chosen:
            return name
    for pattern in _NAMES:
        for name in known:
            if re.fullmatch(pattern, name, re.IGNORECASE):
                expression(name)
                return name
    known_os = any(
        isinstance(one, ast.Import) and any(alias.name == "os" for alias in one.names)
        for one in source.tree.body
    )
    if known_os and _OF_ENVIRONMENT.search(source.text):
        return f"int({of_environment(source, 'os.environ', 'LOCAL_RANK')})"
    raise Refused("the file has no name for the local rank at that line")


def of_environment(source: Source, environment: str, variable: str) -> str:
    """How a file reads a launcher's variable: with the default that it gives elsewhere, without which it
    would no longer run alone."""
    for node in calls(source.tree, "get", "getenv"):
        match node:
            case ast.Call(func=ast.Attribute(), args=[ast.Constant(value=name), default]) if (
                name == variable
            ):
                # -1 stands for no rank, and is no GPU.
                alone = "0" if isinstance(default, ast.UnaryOp) else text_of(source, default)
                return f'{environment}.get("{variable}", {alone})'
    return f'{environment}["{variable}"]'


def _choosing(tree: ast.AST) -> Iterator[str]:
    """The names, of attributes too, by which the file chooses a GPU: ``f"cuda:{local}"``,
    ``device("cuda", self.rank)``."""
    for node in nodes(tree, ast.JoinedStr, ast.Call):
        match node:
            case (
                ast.JoinedStr(
                    values=[ast.Constant(value="cuda:"), ast.FormattedValue(value=number)]
                )
                | ast.Call(args=[ast.Constant(value="cuda"), number])
            ):
                if isinstance(number, ast.Name | ast.Attribute):
                    yield ast.unparse(number)


def _names(source: Source, node: ast.AST) -> Iterator[str]:
    """The names that a node sees: parameters, what is set before it, and attributes that are read."""
    line = getattr(node, "lineno", 0)
    functions = functions_around(source, node)
    outside = [one for one in top(source.tree) if functions or one.lineno <= line]
    for scope in (*functions, *outside):
        yield from bound_names(scope, line + 1 if scope in functions else math.inf)
        for one in nodes(scope, ast.Attribute):
            if isinstance(one.value, ast.Name):
                yield f"{one.value.id}.{one.attr}"


KINDS = {"set-rank-device": set_device}
