"""The examples that stand beside each fact in kb/facts.toml: small reports that show it, and that do not.

An example is a table of

    frames    file, function and source line of each frame, outermost first; LIB/ stands for site-packages
    message   the exception's; by default an elementwise operation that met two devices
    devices   those two, cuda:0 and cpu by default
    type      the exception's class, by default RuntimeError
    log       what stands before the traceback
    said      what a person says who has none; before it the message, if there is one
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from diagnose import facts
from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import Files, text_of, toml_of
from diagnose.compiling.positions import Way, key_of, line_of, positions
from diagnose.model import DEVICE_FAMILY, Knowledge
from diagnose.parsing import parse
from diagnose.scene import Scene

_FILE = "facts.toml"
_LIBRARIES = "/opt/venv/lib/python3.11/site-packages/"
_MET = "Expected all tensors to be on the same device, but found at least two devices, {} and {}!".format


class Example(NamedTuple):
    """A report that shows a fact, or one that nearly does; ``way`` is its place in kb/facts.toml."""

    fact: str
    way: Way
    shows: bool
    report: str


def examples(read: Files) -> Iterator[Example]:
    """Every example and counter-example of the case base's source.

    Raises:
        KbError: facts.toml cannot be read.
    """
    for fact, table in toml_of(read, _FILE).items():
        for name, shows in (("examples", True), ("not", False)):
            for number, example in enumerate(table.get(name, ())):
                yield Example(fact, (fact, name, number), shows, _printed(example))


def mistakes(read: Files, knowledge: Knowledge) -> list[KbError]:
    """Every example that does not show its fact, and every counter-example that does.

    Args:
        read: the case base's source, without other mistakes.
        knowledge: the same compiled.
    """
    table, lines = toml_of(read, _FILE), positions(text_of(read, _FILE))
    return [
        KbError(_FILE, key_of(table, example.way), told, line_of(lines, example.way))
        for example in examples(read)
        if (told := mistake(example, knowledge)) is not None
    ]


def mistake(example: Example, knowledge: Knowledge) -> str | None:
    """What is wrong with an example; None if nothing is."""
    report = parse(example.report, knowledge=knowledge)
    if report.error is None or report.error.family != DEVICE_FAMILY:
        return "is no device error: no wording recognises its message"
    found = facts.read(Scene(report, knowledge))
    if example.shows and example.fact not in found:
        return f"does not show the fact, but {', '.join(sorted(found)) or 'none'}"
    if not example.shows and (fact := found.get(example.fact)) is not None:
        shown = fact.values.get("code") or fact.values.get("name") or fact.values.get("text")
        return f"shows the fact ({shown})" if shown else "shows the fact"
    return None


def _printed(example: Mapping[str, Any]) -> str:
    """The report of an example, as CPython prints it, or in somebody's words."""
    if "said" in example:
        return "\n\n".join([*filter(None, [example.get("message")]), example["said"]])
    lines = [example["log"]] if "log" in example else []
    frames = example.get("frames", ())
    if frames:
        lines.append("Traceback (most recent call last):")
    for file, function, code in frames:
        lines += [f'  File "{file.replace("LIB/", _LIBRARIES)}", line 7, in {function}']
        lines += [f"    {code}"]
    message = example.get("message") or _MET(*example.get("devices", ("cuda:0", "cpu")))
    return "\n".join([*lines, f"{example.get('type', 'RuntimeError')}: {message}"])
