"""What a call leaves out, and the function that it calls chooses then."""

from __future__ import annotations

import ast

from diagnose.placement.devices import named_so
from diagnose.placement.model import Source
from diagnose.placement.semantics import called, defaults, defined, unpacks


def device_unless_told(source: Source, call: ast.Call) -> str | None:
    """The parameter of a function or a class of the file which is a device that is written down, or none
    by its name, unless its caller tells another one; None where a call tells it, or it is not known which
    that is."""
    functions = list(defined(source.tree, called(call)))
    given = {keyword.arg for keyword in call.keywords}
    if len(functions) != 1 or unpacks(call):
        return None
    names = [name for name, told in defaults(functions[0]).items() if _is_device(name, told)]
    return names[0] if len(names) == 1 and names[0] not in given else None


def _is_device(name: str, told: ast.expr) -> bool:
    if not isinstance(told, ast.Constant):
        return False
    return str(told.value).startswith(("cuda", "cpu")) or (told.value is None and named_so(name))
