"""The number of a GPU that a loop counts off stays within those that there are."""

from __future__ import annotations

import ast
import re

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.imports import spelled
from diagnose.fixes.definitions.places import ancestors, text_of
from diagnose.fixes.rewriting import Change
from diagnose.placement.counted import counted
from diagnose.placement.model import Source
from diagnose.placement.walking import walk


def within_count(source: Source, device: ast.expr) -> list[Change] | None:
    """The changes of ``f"cuda:{fold}"`` to ``f"cuda:{fold % torch.cuda.device_count()}"``; None where no
    loop numbers the device."""
    number = counted(source, device)
    if number is None:
        return None
    count, needed = spelled(source, "torch.cuda.device_count", device)
    within = f"{number.id} % {count}()"
    text = next((one for one in walk(device) if isinstance(one, ast.JoinedStr)), None)
    if text is not None:  # whose parts have no columns of their own before Python 3.12
        written = text_of(source, text)
        changed = re.sub(rf"{{\s*{number.id}\s*}}", f"{{{within}}}", written)
        return [replaced(source, text, changed), *needed]
    outer = ancestors(source, number)[-2]
    put = f"({within})" if isinstance(outer, ast.BinOp) else within
    return [replaced(source, number, put), *needed]
