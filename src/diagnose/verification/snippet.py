"""Assembles the program with which a user verifies a root cause on their own GPUs.

The program's parts are data (kb/verification): a harness, helper functions, and one file for each
check. A program gets the parts that its cause names. What it learns from a report goes in as
literals of validated values and nothing else: text of a log can never become code.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from diagnose.casebase.store import Casebase
from diagnose.model import Cause, Frame, Report
from diagnose.patterns import lazy

# What may go from a report into a program; all else is left out.
_DEVICE = lazy(r"(?:cpu|meta|(?:cuda|hip|xpu|npu|hpu|mps|xla)(?::\d{1,3})?)", re.ASCII)
_OPERATION = lazy(r"[A-Za-z_][\w.:]{0,79}", re.ASCII)
_FILE = lazy(r"\w[\w.-]{0,79}\.py", re.ASCII)
_LAST_LINE = 10_000_000
_MOST_DEVICES = 8
#: The cause whose example is the plainest: an operation met two devices.
_PLAIN = "created-without-device"

_DOCSTRING = lazy(r'\A"""(.*?)"""\n+', re.DOTALL)
_IMPORT = lazy(
    r"^(?:import ([\w.]+)|from ([\w.]+) import (?:\(([^)]*)\)|([^(\n]+)))\n", re.MULTILINE
)
_WORD = lazy(r"(?<![\w.])[A-Za-z_]\w*")
_TRY_TORCH = lazy(r"^try:\n    import torch\nexcept.*\n(?: .*\n)+", re.MULTILINE)
#: The parts import from each other, to be good modules; the harness imports torch in its own way.
_OWN_PARTS = {"__future__", "harness", "helpers"}


class _Facts(NamedTuple):
    """What a program may know of a report: values that passed validation."""

    devices: tuple[str, ...] = ()
    operation: tuple[str, ...] = ()
    culprit: tuple[str, int] | tuple[()] = ()


def snippet(cause: Cause, report: Report | None, culprit: Frame | None, casebase: Casebase) -> str:
    """The source of the verification program for a cause.

    Args:
        cause: the root cause to verify.
        report: the report it is made for, None for a program that knows of none.
        culprit: the line to edit, as `diagnose.scene.Scene.line_to_edit` finds it.
        casebase: holds the program's parts.

    Raises:
        KeyError: the case base lacks the harness or a check that the cause names.
    """
    parts = casebase.snippets
    facts = _facts(report, culprit)
    names = [check.replace("-", "_") for check in cause.checks if check != "runs"]
    checks = tuple(parts[f"checks/{name}"] for name in names)
    described, imports, program = _assembled(
        parts["harness"], cause.example, checks, parts.get("helpers", "")
    )
    title = f'"""{_described(described, cause, facts)}"""\n' if described else ""
    return f"{title}\n{imports}\n{_constants(cause, facts)}\n\n\n{program}"


def any_cause(casebase: Casebase) -> Cause:
    """All checks at once, for a script whose cause nobody has named."""
    checks = [name.partition("/")[2] for name in casebase.snippets if name.startswith("checks/")]
    return casebase.causes[_PLAIN]._replace(
        id="any-cause",
        title="Nothing is on the wrong device",
        checks=tuple(name.replace("_", "-") for name in sorted(checks)),
    )


@lru_cache(maxsize=64)
def _assembled(
    harness: str, example: str, checks: tuple[str, ...], helpers: str
) -> tuple[str, str, str]:
    """What the programs of a cause share: the docstring's template, the imports, all but the constants."""
    head, _, rest = harness.partition("# <parts>")
    machinery = rest.partition("# </parts>\n")[2]
    sections = [_body(example), *map(_body, checks)]
    sections.append(_used(_body(helpers), "\n".join(sections)))
    sections += [_registry(sections), machinery.strip("\n")]
    program = "\n\n\n".join(section for section in sections if section) + "\n"
    docstring = _DOCSTRING.match(head)
    imports = _imports([head, example, *checks, helpers], program, head)
    return docstring[1] if docstring else "", imports, program


# --- what comes from the report -------------------------------------------------------------------


def _facts(report: Report | None, culprit: Frame | None) -> _Facts:
    mismatch = report.mismatch if report else None
    devices: Iterable[str] = mismatch.devices if mismatch else ()
    operation: list[str] = []
    for name in (mismatch.op, mismatch.argument) if mismatch else ():
        if not name or not _OPERATION.fullmatch(name):
            break  # an argument says nothing without its operation
        operation.append(name)
    return _Facts(
        tuple(device for device in devices if _DEVICE.fullmatch(device))[:_MOST_DEVICES],
        tuple(operation),
        _spot(culprit),
    )


def _spot(culprit: Frame | None) -> tuple[str, int] | tuple[()]:
    """Base name and line of the culprit, if both are what they ought to be."""
    if culprit is None or type(culprit.line) is not int:
        return ()
    name = re.split(r"[\\/]", culprit.file)[-1]
    if not _FILE.fullmatch(name) or not 0 < culprit.line <= _LAST_LINE:
        return ()
    return name, culprit.line


def _constants(cause: Cause, facts: _Facts) -> str:
    return "\n".join(
        [
            f"CAUSE = {json.dumps(cause.id)}",
            f"GPUS = {cause.gpus}",
            f"DEVICES = {_literal(facts.devices)}",
            f"OPERATION = {_literal(facts.operation)}",
            f"CULPRIT = {_literal(facts.culprit)}",
        ]
    )


def _literal(values: tuple[str | int, ...]) -> str:
    """A tuple of validated values as Python source; JSON quotes such strings as Python does."""
    comma = "," if len(values) == 1 else ""
    return f"({', '.join(json.dumps(value) for value in values)}{comma})"


def _described(text: str, cause: Cause, facts: _Facts) -> str:
    """The harness's docstring for this cause and report."""
    met = f"{' and '.join(facts.devices)} met" if facts.devices else ""
    operation = f"in {facts.operation[0]}" if facts.operation else ""
    line = f"at {facts.culprit[0]}, line {facts.culprit[1]}" if facts.culprit else ""
    report = "\n".join(part for part in (met, f"{operation} {line}".strip()) if part)
    for mark, value in {
        "title": cause.title.replace("\\", "/").replace('"', "'"),
        "gpus": "one GPU" if cause.gpus == 1 else f"{cause.gpus} GPUs",
        "cause": cause.id,
        "report": f" The report:\n{report}." if report else "",
    }.items():
        text = text.replace(f"<{mark}>", value)
    return text


# --- what comes from the case base ------------------------------------------------------------------


def _body(source: str) -> str:
    """A part without its docstring and imports."""
    return _IMPORT.sub("", _DOCSTRING.sub("", source)).strip("\n")


def _used(helpers: str, program: str) -> str:
    """Those helper functions that the program mentions, or that these mention, in their order."""
    functions = re.split(r"\n\n\n(?=def )", helpers) if helpers else []
    names = [function.removeprefix("def ").partition("(")[0] for function in functions]
    used: set[str] = set()
    text = program
    while text:
        new = _words(text).intersection(names) - used
        used |= new
        text = "\n".join(f for f, name in zip(functions, names, strict=True) if name in new)
    return "\n\n\n".join(f for f, name in zip(functions, names, strict=True) if name in used)


def _words(text: str) -> set[str]:
    """The names that a text begins an expression with, and other words."""
    return set(_WORD.findall(text))


def _registry(sections: Iterable[str]) -> str:
    """The two tuples by which the harness knows the checks and the watchers."""
    text = "\n".join(sections)
    lines = []
    for constant, prefix in (("CHECKS", "check"), ("WATCHERS", "watch")):
        names = re.findall(rf"^def ({prefix}_\w+)\(", text, re.MULTILINE)
        lines.append(f"{constant} = ({', '.join(names)}{',' * (len(names) == 1)})")
    return "\n".join(lines)


def _imports(sources: Iterable[str], program: str, head: str) -> str:
    """The imports of all parts that the program uses, sorted as isort would; torch's are guarded."""
    words = _words(program)
    modules: set[str] = set()
    members: defaultdict[str, set[str]] = defaultdict(set)
    for source in sources:
        for module, origin, lines, names in _IMPORT.findall(source):
            if module and module != "torch" and module.partition(".")[0] in words:
                modules.add(module)
            for name in (lines or names).split(","):
                bound = name.split()[-1] if name.strip() else ""
                if bound in words and origin not in _OWN_PARTS:
                    members[origin].add(name.strip())
    guarded = _TRY_TORCH.search(head)
    return (
        "\n".join(
            [
                "from __future__ import annotations\n",
                *_import_lines(modules, members, stdlib=True),
                f"\n{guarded[0]}" if guarded else "\nimport torch\n",
                *_import_lines(modules, members, stdlib=False),
                "",
            ]
        )
        .replace("\n\n\n", "\n\n")
        .replace("(2)\n\nfrom", "(2)\nfrom")
    )


def _import_lines(modules: set[str], members: dict[str, set[str]], stdlib: bool) -> Iterator[str]:
    def fits(module: str) -> bool:
        return (module.partition(".")[0] in sys.stdlib_module_names) is stdlib

    yield from (f"import {module}" for module in sorted(filter(fits, modules)))
    for origin in sorted(filter(fits, members)):
        yield f"from {origin} import {', '.join(sorted(members[origin]))}"
