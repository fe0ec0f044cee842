"""The lines that hold a traceback together: headers, links between exceptions, the exception itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks.events import Head, HeadKind, Link, LinkKind
from diagnose.parsing.tracebacks.form import Form, Reading, State
from diagnose.patterns import lazy

_HEAD = lazy(
    r"Traceback(?: of TorchScript[^(]*)? \((?:most recent call (?P<order>last|first)|innermost last)\)"
    r"|^\s*Traceback:\s*$|^\s*(?P<stack>Stack) \(most recent call last\):"
    r"|^\s*(?:Current thread|Thread) 0x[0-9a-f]+[^(]*\(most recent call first\)"
)
_INNER = lazy(r"(?:Original|Remote|Child) Traceback|Traceback of TorchScript")
#: What every such line holds, what it looks like, and how it ties what follows to what came before.
_LINKS: tuple[tuple[str, re.Pattern[str], LinkKind], ...] = (
    ("above exception", lazy(r"During handling of the above exception, another exception occ"), "during"),
    ("above exception", lazy(r"The above exception was the direct cause of the following exc"), "cause"),
    ("user code", lazy(r"^\s*from user code:"), "user-code"),
    ("terminated", lazy(r"^\s*-- Process \d+ terminated with the following error:"), "inner"),
    ("+-", lazy(r"^\s*(?:\| )*\+(?:-\+)?-{8,}(?: (?:\d+|\.\.\.) -{4,})?$"), "group"),
    ("Exception", lazy(r"^Exception ignored (?:in|on)\b"), "ignored"),
    ("Exception", lazy(r"^Exception \w+: .* in <.*> ignored$"), "ignored"),
    ("never retrieved", lazy(r"^(?:Task|Future) exception was never retrieved"), "ignored"),
    ("Error in atexit", lazy(r"^Error in atexit\._run_exitfuncs:"), "ignored"),
    ("Logging error", lazy(r"^--- Logging error ---"), "ignored"),
    ("Captured", lazy(r"^-{3,} Captured (?:std)?(?:out|err|log)(?: \w+)? -{3,}$"), "captured"),
    ("full traceback", lazy(r"^-{4} \(full traceback above\) -{4}$"), "shown-above"),  # stackprinter
    ("full traceback", lazy(r"^-{4} \(full traceback below\) -{4}$"), "shown-below"),
    ("===", lazy(r"^={3,} .+ ={3,}$"), "section"),
    ("___", lazy(r"^_{3,} .+ _{3,}$"), "section"),
)  # fmt: skip
_REPEATED = lazy(r"^\s*\[Previous line repeated (\d+) more times?\]|^\s*\.\.\. *$")

_SUFFIX = (
    r"(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Expired|Empty|Full|Fault|Failure|Group)"
)
_TYPE = r"(?:[A-Za-z_]\w*\.)*[A-Z_]\w*"
# Of letters of ASCII: what stands in Chinese before a colon is a heading.
_ANY = lazy(
    rf"^(?P<type>{_TYPE})(?:\((?P<cause>\w+)\))?(?::(?=\s|$)(?: (?P<message>.*))?| *$|(?=\n))",
    re.ASCII,
)
_LIKELY = lazy(
    rf"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*{_SUFFIX}\w{{0,12}})(?:\((?P<cause>\w+)\))?"
    r"(?::(?: (?P<message>.*))?| *$)",
    re.ASCII,
)
_INSIDE = lazy(
    r"(?:^|[\s\[(:\"'|>])(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Fault))"
    r"(?:\((?P<cause>\w+)\))?: (?P<message>\S.*)$",
    re.ASCII,
)
_REPR = lazy(
    r"""^(?P<type>(?:\w+\.)*[A-Z]\w*(?:Error|Exception))\((?P<quote>["'])(?P<message>.*?)(?P=quote),?\)$""",
    re.ASCII,
)
_ANNOUNCED = lazy(
    r"^(?:Exception has occurred|[\u4e00-\u9fff?\uff1f]{2,16}): "
    r"(?P<type>(?:\w+\.)*\w+)(?:\s+\(note: .*\))?\s*$"
)
_EMPHASIS = "*`"
_LOG = lazy(
    r"^\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\[?[IWEF]\d{3,4} \d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|CRITICAL)\b|>>> |\$ |In \[\d|\S+@\S+:.*\$|.{0,80}\d+%\|"
    r"|slurmstepd:|srun:|={20,}|-{20,}|failed \(exitcode: )"
)


class Found(NamedTuple):
    """The type and the first line of the message."""

    type: str
    message: str


def head(text: str) -> HeadKind | None:
    """The kind of traceback whose header a line holds, None for any other line."""
    if "Traceback" not in text and "most recent call" not in text:
        return None
    match = _HEAD.search(text)
    if match is None:
        return None
    if match["stack"]:
        return "stack"
    if _INNER.search(text):
        return "inner"
    return "reversed" if "call first" in match.group() else "plain"


def link(text: str) -> LinkKind | None:
    """How a line says that what follows belongs to what came before."""
    for probe, pattern, kind in _LINKS:
        if probe in text and pattern.search(text):
            return kind
    return None


def is_elision(text: str) -> bool:
    """True for lines that stand for frames left out."""
    return _REPEATED.match(text) is not None


def is_structure(text: str) -> bool:
    """True for headers, links and elisions: no source line, no message."""
    return head(text) is not None or link(text) is not None or is_elision(text)


def is_log(text: str) -> bool:
    """True for what loggers, progress bars and prompts print: no part of a message."""
    return _LOG.match(text) is not None


def match(text: str, *, after_frame: bool) -> Found | None:
    """The exception that a line names.

    After a frame any capitalised name will do; elsewhere it must end as exceptions' names do.
    """
    line = _bare(text)
    if not line or not (line[0].isalpha() or line[0] == "_"):
        return None
    found = _LIKELY.match(line)
    if found is None and after_frame and not is_log(line):
        found = _ANY.match(line)
    if found is None:
        found = _REPR.match(line)
        return Found(found["type"], found["message"]) if found else None
    name, message = found["type"], (found["message"] or "").strip()
    if after_frame and not found["message"] and ":" not in line and not _is_type_alone(name):
        return None
    if found["cause"] and not message.startswith("ray::"):
        message = message or ""
    return Found(name, message)


def announced(text: str) -> str | None:
    """The type in an editor's "Exception has occurred: X", whose message is the next line."""
    found = _ANNOUNCED.match(text.strip())
    return found["type"] if found else None


def inside(text: str) -> Found | None:
    """An exception named somewhere in a line of a log."""
    if "Error" not in text and "Exception" not in text and "Fault" not in text:
        return None
    found = _INSIDE.search(text[:4000])
    return Found(found["type"], _bare(found["message"])) if found else None


def _is_type_alone(name: str) -> bool:
    return "." in name or re.search(rf"{_SUFFIX}\w{{0,12}}$|^[A-Z]\w+$", name) is not None


def _bare(text: str) -> str:
    line = text.strip()
    if line[:1] in _EMPHASIS or line[-1:] in _EMPHASIS:
        line = (
            line.strip(_EMPHASIS) if line.count("`") < 3 or "**" in line else line.lstrip(_EMPHASIS)
        )
        if (
            text.rstrip()[-1:] == "`"
            and text.count("`") % 2 == 0
            and not text.lstrip().startswith("`")
        ):
            line = text.strip()  # the last word is quoted, not the line
    if len(line) > 2 and line[0] == line[-1] == "_":
        line = line[1:-1]
    return line


def _header(lines: Sequence[Peeled], state: State) -> Reading | None:
    index = state.here
    kind = head(lines[index].text)
    if kind is None:
        return None
    return (Head(lines[index].number, kind),), State(index + 1, True, index + 1, state.indent)


def _elision(lines: Sequence[Peeled], state: State) -> Reading | None:
    index, opened, latest, indent = state
    if not is_elision(lines[index].text):
        return None
    return (), State(index + 1, opened, index + 1 if latest == index else latest, indent)


def _relation(lines: Sequence[Peeled], state: State) -> Reading | None:
    index, opened, latest, indent = state
    kind = link(lines[index].text)
    if kind is None or (kind == "section" and opened):
        return None
    opened = kind == "user-code"
    return (Link(lines[index].number, kind),), State(index + 1, opened, latest, indent)


HEADER = Form(
    "header",
    _header,
    probes=("Traceback", "first)", ":"),
    marks=("Traceback", "most recent call"),
)
ELISION = Form("elision", _elision, probes=("line", "..."))
LINK = Form("link", _relation, probes=tuple(probe for probe, *_ in _LINKS))
