"""The rule ``accelerator``: what a file says for CUDA alone, and what torch.accelerator has for that."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import qualified, spelled
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.model import AcceleratorRule
from diagnose.placement.model import Source, Spot
from diagnose.placement.semantics import (
    arguments,
    around,
    defaults,
    defined,
    dotted,
    last_name,
    nodes,
    parent,
    unpacks,
)
from diagnose.sources.installed import version as installed
from diagnose.versions import version

#: The rule's id, and its one kind of fix.
RULE, KIND = "accelerator", "use-accelerator"
_CUDA, _MODULE = "cuda", "torch.cuda."
#: What counts as installed where no torch is: the first with torch.accelerator.
_OLDEST = "2.6"
#: ``"cuda"``, ``"cuda:1"``, ``f"cuda:{rank}"``.
_WRITTEN = re.compile(r"""[fF]?(?P<quote>["'])cuda(?P<number>:[^"'\\]*)?(?P=quote)""")
_HOST = re.compile(r"""["']cpu["']""")
#: Stands in the text of an edit for a name of torch, which the file may spell in its own way.
_NAME = "\0"


class Portable(NamedTuple):
    """What is for CUDA alone, and what the code calls it.

    ``edit`` makes it what means the same on a CUDA device; it is None where torch.accelerator has nothing
    like it (``left``), or where the file does not show enough. ``because`` says why an edit is not safe.
    """

    spot: Spot
    name: str
    edit: FileEdit | None = None
    because: str | None = None
    left: bool = False


class _Draft(NamedTuple):
    """An expression and its text for any accelerator, with `_NAME` for the name ``to``."""

    at: ast.expr
    text: str
    to: str = "torch.accelerator.current_accelerator"


def portable(source: Source, rule: AcceleratorRule) -> Iterator[Portable]:
    """What a file says for CUDA alone, in the order of its tree."""
    imports = f"from {_MODULE[:-1]} import" in source.text
    kinds = ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.JoinedStr
    for node in nodes(source.tree, *kinds) if _CUDA in source.text else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="cuda")):
                yield _moved(source, rule, node)
            case ast.Name() | ast.Attribute() if imports or f".{_CUDA}." in (dotted(node) or ""):
                yield from _named(source, rule, node)
            case ast.Constant(value=str()) | ast.JoinedStr():
                yield from _written(source, rule, node)


def _moved(source: Source, rule: AcceleratorRule, call: ast.Call) -> Portable:
    """``x.cuda(...)`` as ``x.to(...)``; not where the file has such a method of its own."""
    found = Portable(_spot(source, call), f".{_CUDA}()")
    devices = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "device")]
    others = [*call.args[1:], *(one for one in call.keywords if one.arg != "device")]
    if any(defined(source.tree, _CUDA)) or len(devices) > 1 or unpacks(call):
        return found
    literal = isinstance(devices[0], ast.Constant) if devices else True
    named = devices and not (isinstance(devices[0], ast.Constant) and devices[0].value is None)
    device = text_of(source, devices[0]) if named else f"{_NAME}()"
    given = ", ".join([device, *(text_of(source, one) for one in others)])
    text = f"{text_of(source, call.func).removesuffix(_CUDA)}to({given})"
    return _edited(source, found, _Draft(call, text), None if literal else rule.because["none"])


def _named(
    source: Source, rule: AcceleratorRule, node: ast.Name | ast.Attribute
) -> Iterator[Portable]:
    """``torch.cuda.device_count()`` as its twin: a function where it is called, a class anywhere."""
    name, outer = qualified(source, node), parent(source.tree, node)
    if not name.startswith(_MODULE) or isinstance(outer, ast.Attribute):
        return
    to, since = rule.twins.get(name.removeprefix(_MODULE), ("", ""))
    found = Portable(_spot(source, node), name, left=not to)
    here, first = version(installed("torch") or _OLDEST), version(since)
    late = here is not None and first is not None and here < first
    because = rule.because["release"].replace("{since}", since) if late else None
    is_class = to.rpartition(".")[2][:1].isupper()
    if to and is_class:
        yield _edited(source, found, _Draft(node, _NAME, to), because)
    elif to and isinstance(outer, ast.Call) and outer.func is node:
        devices = [*outer.args, *(one.value for one in outer.keywords if one.arg == "device")]
        whole = not unpacks(outer) and len(devices) == len(arguments(outer)) <= 1
        given = ", ".join(text_of(source, one) for one in devices)
        draft = _Draft(outer, f"{_NAME}({given})", to)
        yield _edited(source, found, draft, because) if whole else found
    else:
        yield found


def _written(
    source: Source, rule: AcceleratorRule, node: ast.Constant | ast.JoinedStr
) -> Iterator[Portable]:
    """``"cuda:1"``, where it is a device, with the type of whatever accelerator there is."""
    written = _WRITTEN.fullmatch(text_of(source, node))
    safe = _is_safe(source, rule, node) if written is not None else None
    if written is None or safe is None:
        return
    quote, number = written["quote"], written["number"]
    text = f"f{quote}{{{_NAME}().type}}{number}{quote}" if number else f"{_NAME}().type"
    draft, call = _Draft(node, text), parent(source.tree, node)
    if isinstance(call, ast.Call) and qualified(source, call.func) == "torch.device":
        alone = not number and len(arguments(call)) == 1
        draft = _Draft(call, f"{_NAME}()") if alone else draft
    found = Portable(_spot(source, node), written[0])
    yield _edited(source, found, draft, None if safe else rule.because["host"])


def _is_safe(source: Source, rule: AcceleratorRule, node: ast.expr) -> bool | None:
    """Whether a string can only be of use on an accelerator; None where it is no device."""
    outer = parent(source.tree, node)
    word = outer.arg if isinstance(outer, ast.keyword) else None
    match parent(source.tree, outer) if isinstance(outer, ast.keyword) else outer:
        case ast.IfExp(body=one, orelse=other) if node in (one, other):
            return True if _HOST.search(text_of(source, other if node is one else one)) else None
        case ast.Call(func=ast.Attribute(attr="to"), args=args) if word == "device" or args[:1] == [
            node
        ]:
            return True
        case ast.Call(func=func, args=args) if word in rule.keywords or args[:1] == [node]:
            callee = qualified(source, func)
            device = word or callee in rule.first
            return callee.startswith("torch.") and callee not in rule.lenient if device else None
        case ast.Assign(targets=[target]) if last_name(target).endswith("device"):
            tests = (text_of(source, one.test) for one in around(source.tree, node, ast.If))
            return any("is_available" in test for test in tests)
        case ast.arguments() as given:  # of a function, which are made when that is
            of = parent(source.tree, given)
            assert isinstance(of, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            named = (name for name, value in defaults(of).items() if value is node)
            return False if any(name.endswith("device") for name in named) else None
    return None


def _spot(source: Source, node: ast.expr) -> Spot:
    function = source.function_at(node.lineno)
    return Spot(source, node, function.name if function is not None else None)


def _edited(source: Source, found: Portable, draft: _Draft, because: str | None) -> Portable:
    """The same with its edit, if the gate lets that through."""
    name, needed = spelled(source, draft.to, draft.at)
    text = draft.text.replace(_NAME, name)
    imports = needed if _NAME in draft.text else ()
    try:
        edit = file_edit(source, [replaced(source, draft.at, text), *imports])
    except Refused:
        return found
    return found._replace(edit=edit, because=because)
