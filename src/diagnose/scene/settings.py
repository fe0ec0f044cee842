"""Calls of the user's files that a fix edits wherever they stand: no value leads there.

A model that accelerate splits fails within a library; what to change is the call that split it.

It may be a library's release, too, which a script asks for in its metadata (PEP 723, ``# /// script``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping

from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.semantics import argument, around, called, calls, dotted, nodes, parameters

#: Fixes that ask for another release of the library that fails.
OF_RELEASES = frozenset({"upgrade-library", "downgrade-library"})
#: Causes that another release mends where a library's own code fails: its own bug, and a model of its own
#: that it cannot run on several devices.
_OF_LIBRARIES = frozenset({"library-version-bug", "cross-shard-op"})
_OFFLOADS = re.compile(r"offload|low_?v?(ram|mem)", re.IGNORECASE)


def _maps(call: ast.Call) -> bool:
    return called(call) in ("infer_auto_device_map", "get_balanced_memory")


def _splits(call: ast.Call) -> bool:
    return called(call) == "dispatch_model" or _has(call, "device_map")


def _loads(call: ast.Call) -> bool:
    return _has(call, "device_map")


def _saves_memory(call: ast.Call) -> bool:
    return _has(call, "low_cpu_mem_usage") or called(call) == "init_empty_weights"


def _offloads(call: ast.Call) -> bool:
    if re.fullmatch("enable_.*offload|CPUOffloadPolicy|(cpu|disk)_offload", called(call)):
        return True
    return any(
        _OFFLOADS.search(keyword.arg or "")
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def _compiles(call: ast.Call) -> bool:
    return dotted(call.func) == "torch.compile"


def _takes_any_gpu(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return not (call.args or call.keywords)
    given = call.args[0] if len(call.args) == 1 else None
    bare = isinstance(given, ast.Constant) and given.value == "cuda"
    return bare and called(call) in ("to", "device")


#: Fix id of the taxonomy -> whether a call is what it edits.
_SETTINGS: Mapping[str, Callable[[ast.Call], bool]] = {
    "no-split-modules": _maps,
    "drop-device-map": _splits,
    "pin-device-map": _loads,
    "materialize-meta": _saves_memory,
    "disable-offload": _offloads,
    "disable-compile": _compiles,
    "set-rank-device": _takes_any_gpu,
}


def setting(kind: str, cause: str, files: Iterable[Source]) -> Suspect | None:
    """The one call that a fix edits; None where there is none, or several and nobody knows which.

    Args:
        kind: fix id of the taxonomy.
        cause: the cause that it mends.
        files: the user's own.
    """
    wanted = _SETTINGS.get(kind)
    if wanted is None:
        return None
    found = [
        Spot(source, node)
        for source in files
        for node in calls(source.tree)
        if wanted(node) and not _hands_on(node, source)
        if not _is_own(node, source)
    ]
    if len(found) != 1:
        return None
    return Suspect(cause, ast.unparse(found[0].node), found[0], sure=False)


def release(cause: str, files: Iterable[Source], library: str | None) -> Suspect | None:
    """Where a script pins the library in whose own code it fails; None where it does not, or where another
    release would not mend the cause."""
    if library is None or cause not in _OF_LIBRARIES:
        return None
    spot = pinned(files, library)
    return Suspect(cause, library, spot, sure=False) if spot is not None else None


def _hands_on(call: ast.Call, source: Source) -> bool:
    """Whether a call's map of devices is a parameter of the function around it: the caller chose it."""
    given = argument(call, "device_map")
    outer = around(source.tree, call, ast.FunctionDef)
    told = (parameter.arg for one in outer for parameter in parameters(one))
    return isinstance(given, ast.Name) and given.id in told


def _is_own(call: ast.Call, source: Source) -> bool:
    """Whether a call asks for what a class of the file does by itself: what a library's method of that name
    can do instead, its object need not be able to."""
    return isinstance(call.func, ast.Attribute) and any(
        isinstance(one, ast.FunctionDef) and one.name == call.func.attr
        for owner in nodes(source.tree, ast.ClassDef)
        for one in owner.body
    )


def _has(call: ast.Call, keyword: str) -> bool:
    """Whether a call has a keyword that is not switched off."""
    return any(
        one.arg == keyword
        and not (isinstance(one.value, ast.Constant) and one.value.value in (None, False))
        for one in call.keywords
    )


_OPENS = "# /// script"
_CLOSES = "# ///"
_PINNED = re.compile(
    r"""(?P<quote>["'])(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<extras>\[[^\]"']*\])?\s*"""
    r"""==\s*(?P<release>[A-Za-z0-9.+!]+)(?P=quote)"""
)


def pinned(files: Iterable[Source], library: str) -> Spot | None:
    """The text by which the only script that does so pins a library to one release. Its node is
    a constant of no tree, for the text stands in a comment.

    Args:
        files: the user's own.
        library: the name that it is imported by.
    """
    found = [spot for source in files if (spot := _in_metadata(source, library)) is not None]
    return found[0] if len(found) == 1 else None


def _in_metadata(source: Source, library: str) -> Spot | None:
    inside = False
    for number, line in enumerate(source.lines, 1):
        text = line.rstrip()
        if not inside:
            inside = text == _OPENS
        elif text == _CLOSES or not text.startswith("#"):
            return None
        else:
            for pin in _PINNED.finditer(line):
                if _normal(pin["name"]) == _normal(library):
                    return _spot(source, number, line, pin)
    return None


def _spot(source: Source, number: int, line: str, pin: re.Match[str]) -> Spot:
    start, end = pin.start() + 1, pin.end() - 1
    node = ast.Constant(line[start:end])
    node.lineno = node.end_lineno = number
    node.col_offset, node.end_col_offset = (len(line[:at].encode()) for at in (start, end))
    return Spot(source, node)


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()
