"""Frames retold by hand (no quotes, no file, no number), those that the debugger lists, and the reprs of
`traceback.FrameSummary`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions
from diagnose.parsing.tracebacks.events import Head
from diagnose.parsing.tracebacks.form import Form, Reading, State, called
from diagnose.parsing.tracebacks.source import indentation, is_annotation
from diagnose.patterns import lazy

_PLACE = lazy(
    r"^\s*(?:F?i?l?e )?[\"'`]?(?:(?P<file>[^\s\"',`<][^\"',`<]*\.pyx?)[\"'`]?,? )?line (?P<line>\d+)"
    r"(?:,? in (?P<function>[\w.<>]+)(?:\([^()]*\))?)?[,:]?\s*$"
)
_DEBUGGER = lazy(
    r"^(?:\(\w*[Pp]db\+*\) |i?pdb> )?(?:(?P<here>> )| {2})"
    r"(?P<file>\S[^()]*\.pyx?)\((?P<line>\d+)\)(?P<function><\w+>|\w+)\(\)(?:->.*)?$"
)
#: What asks the debugger for its list.
_ASKED = lazy(r"^(?:\(\w*[Pp]db\+*\)|i?pdb>) (?:(?:w|where|bt)\s*$|[> ] ?\S.*\.pyx?\(\d+\))")
_MOST_PROMPTED = 6
_SUMMARY = lazy(
    r"^\W*<FrameSummary file (?P<file>.+?), line (?P<line>\d+) in (?P<function><\w+>|[\w.]+)>\W*$"
)
_NAME_USED = lazy(r"\bName\(")
_FUNCTION = lazy(r"^\s*in (?P<function>[A-Za-z_][\w.]*)\s*$")


def frame(lines: Sequence[Peeled], index: int, *, within: bool) -> tuple[Frame, int] | None:
    """The frame that a line begins. ``within``: a traceback is open, so a bare "in f" counts."""
    text = lines[index].text
    if "line " not in text and not text.lstrip().startswith("in "):
        return None
    match = _SUMMARY.match(text) if "<FrameSummary" in text else _PLACE.match(text)
    if match is None and within:
        match = _FUNCTION.match(text)
    if match is None:
        return None
    groups = match.groupdict()
    if groups["function"] is None and (not groups["file"] or " " in groups["file"]):
        return None  # a sentence
    line = groups.get("line")
    code, end = _source(lines, index)
    found = Frame(
        file=groups.get("file") or "",
        line=int(line[:9]) if line else None,
        function=groups["function"],
        code=code,
        at=lines[index].number,
    )
    return found, end


def alone(text: str) -> str | None:
    """The source that a line holds which was pasted without its frame: a statement of Python that works on
    what names call; None for any other text."""
    try:
        [statement] = ast.parse(text.strip(), "<line>").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if (
        not isinstance(statement, ast.Assign | ast.AugAssign | ast.Return)
        or statement.value is None
    ):
        return None
    worked = isinstance(statement, ast.AugAssign) or isinstance(
        statement.value, ast.Call | ast.BinOp | ast.Subscript
    )
    return text.strip() if worked and _NAME_USED.search(ast.dump(statement.value)) else None


def debugger_frame(lines: Sequence[Peeled], index: int) -> tuple[Frame | None, int] | None:
    """A frame of pdb's list, whose source line has an arrow, and the index after it; no frame for the
    place where pdb stops that it lists once more below, and for what asks it to."""
    text = lines[index].text
    if "db" in text[:8] and _ASKED.match(text) and ".py" not in text:
        return None, index + 1
    match = _DEBUGGER.match(text) if ".py(" in text or ".pyx(" in text else None
    below = lines[index + 1].text if index + 1 < len(lines) else ""
    if match is None or not below.startswith("-> "):
        return None
    stops = match["here"] and not lines[max(0, index - 1)].text.startswith("-> ")
    if stops and any(_ASKED.match(line.text) for line in lines[index + 2 : index + _MOST_PROMPTED]):
        return None, index + 2
    found = Frame(
        file=match["file"],
        line=int(match["line"][:9]),
        function=match["function"],
        code=below[3:].strip(),
        at=lines[index].number,
    )
    return found, index + 2


def _source(lines: Sequence[Peeled], index: int) -> tuple[str | None, int]:
    after = index + 1
    code: str | None = None
    if after < len(lines) and _is_code(lines[after].text, indentation(lines[index].text)):
        code = lines[after].text.strip()
        after += 1
    while after < len(lines) and lines[after].text.strip() and is_annotation(lines[after].text):
        after += 1
    return code, after


def _is_code(text: str, indent: int) -> bool:
    return (
        bool(text.strip())
        and (
            indentation(text) > indent or (indentation(text) == indent and alone(text) is not None)
        )
        and not exceptions.is_structure(text)
        and not is_annotation(text)
        and _PLACE.match(text) is None
        and 'File "' not in text
    )


def _read(lines: Sequence[Peeled], state: State) -> Reading | None:
    found = frame(lines, state.here, within=state.opened)
    return None if found is None else called(*found)


def _listed(lines: Sequence[Peeled], state: State) -> Reading | None:
    found = debugger_frame(lines, state.here)
    if found is None:
        return None
    one, end = found
    if one is None:
        return (), State(end, *state[1:])
    events, after = called(one, end)
    return events if state.opened else [Head(lines[state.here].number, "debugger"), *events], after


FORM = Form("loose", _read, probes=("line ", " in ", "\nin "))
DEBUGGER = Form("debugger", _listed, probes=("Pdb)", "pdb", ".py"))
