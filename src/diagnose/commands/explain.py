"""``diagnose explain [ID | WORDS]``: a cause or an incident in full, as `rustc --explain` does for its
errors; by words, those that speak of what somebody saw."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from diagnose.casebase.search import Hit, search
from diagnose.casebase.store import Casebase, load
from diagnose.commands.shared import LANG, fail, ids, near, output, text_or_json
from diagnose.commands.verification import meant, written
from diagnose.errors import NOTHING, DiagnoseError
from diagnose.model import Cause, FixTemplate, Incident, Lang
from diagnose.outputs import write
from diagnose.placeholders import in_general
from diagnose.rendering.labels import LABELS
from diagnose.rendering.words import wrap
from diagnose.verification.snippet import snippet

_INDENT = "      "
#: The functions of a cause's example that are to be compared (kb/causes).
_COMPARED = frozenset({"mistake", "fixed"})
#: What looks like the id of a cause or an incident.
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
#: Columns of a text; the eye loses the line beyond.
_WIDEST = 100
#: So many incidents of a cause are named, the last written first.
_MOST_INCIDENTS = 12


@click.command()
@click.argument("words", nargs=-1, metavar="[ID|WORDS]...", shell_complete=ids)
@text_or_json("Form of what WORDS find; json prints one object.")
@click.option(
    "--top",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    metavar="N",
    help="Show at most N entries for WORDS.",
)
@click.option(
    "--verification",
    "verification",
    is_flag=True,
    help="Print the snippet that verifies ID instead: a few lines of plain torch.",
)
@LANG
@output("Write it to FILE.")
def explain(
    words: tuple[str, ...], form: str, top: int, verification: bool, lang: Lang, output: Path | None
) -> None:
    """Explain a cause or an incident, or find those that WORDS speak of.

    \b
      diagnose explain                                   all causes
      diagnose explain cross-shard-op                    one cause: wrong and corrected code, fixes
      diagnose explain "loss is nan after .to(cuda:1)"   what speaks of that; no traceback needed
      diagnose explain 两张卡输出乱码，单卡正常

    A cause's code is run by diagnose's own tests on simulated GPUs.
    Exit status: 0, 3 where WORDS find nothing, 2 bad usage.
    """
    casebase = load(lang=lang)
    query = " ".join(words).encode("utf-8", "replace").decode()
    named = casebase.causes.get(query) or casebase.incidents.get(query)
    if verification:
        if named is None:
            hint = near(query, [*casebase.causes, *casebase.incidents])
            raise click.UsageError(f"--verification takes the ID of a cause or an incident.{hint}")
        made = snippet(*meant(query, casebase, None), casebase)
        return written(output, made) if output else click.echo(made, nl=False)
    if named is not None:
        columns = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
        return write(f"{page(named, casebase, columns)}\n", output)
    if not words:
        return write("\n".join(_causes(casebase)) + "\n", output)
    sys.exit(_found(query, form, top, lang, output))


def page(entry: Cause | Incident, casebase: Casebase, columns: int = _WIDEST) -> str:
    """A cause or an incident in full, its sentences in lines of so many columns."""
    if isinstance(entry, Cause):
        return _cause(entry, casebase, columns)
    return _incident(entry, casebase)


def _found(query: str, form: str, top: int, lang: Lang, output: Path | None) -> int:
    """Prints what some words find; returns the exit status."""
    others: list[Lang] = ["zh"] if lang == "en" else ["en"]
    casebases = [load(lang=each) for each in [lang, *others]]
    known = [*casebases[0].causes, *casebases[0].incidents]
    if _ID.fullmatch(query) and (hint := near(query, known)):
        fail(f"there is no cause or incident {query!r}.{hint}")
    try:
        hits = search(query, casebases, top=top)
    except DiagnoseError as error:
        fail(str(error))
    if form == "json":
        answer = {"schema": 1, "query": query, "results": [asdict(hit) for hit in hits]}
        write(json.dumps(answer, ensure_ascii=False) + "\n", output)
    else:
        write(_hits(hits, lang) + "\n", output)
    return 0 if hits else NOTHING


def _hits(hits: tuple[Hit, ...], lang: Lang) -> str:
    """The entries, best first, and how to go on with the first of them."""
    labels = LABELS[lang]
    if not hits:
        return labels["nothing-found"]
    columns = min(max(shutil.get_terminal_size((80, 24)).columns, 60), 120)
    lines: list[str] = []
    for hit in hits:
        title = wrap(hit.title, columns - len(_INDENT))
        named = hit.id if hit.kind == "cause" else f"{hit.id}  [{hit.cause}]"
        lines += [f"{hit.score:4.2f}  {title[0]}", *(f"{_INDENT}{line}" for line in title[1:])]
        lines += [f"{_INDENT}{named}", *([f"{_INDENT}{hit.url}"] if hit.url else []), ""]
    return "\n".join([*lines, labels["found-further"].format(id=hits[0].id)])


def _causes(casebase: Casebase) -> Iterator[str]:
    """A line for each cause: its id, how many incidents are documented, its title."""
    for cause in casebase.causes.values():
        known = sum(one.cause == cause.id for one in casebase.incidents.values())
        yield f"{cause.id:28} {known:3}  {cause.title}"


def _cause(cause: Cause, casebase: Casebase, columns: int) -> str:
    """The first fix, the wrong and the corrected code, the other fixes; then why, rivals, incidents."""
    first, *others = (_fix(number, fix, columns) for number, fix in enumerate(cause.fixes, 1))
    code = _in_order(cause.example)
    parts = [f"{cause.id}: {cause.title}", first, code, "\n".join(others)]
    parts += ["\n".join(wrap(text, columns)) for text in (cause.why, cause.tell) if text]
    for rival, text in cause.rather.items():
        parts.append("\n".join(wrap(f"- {_rival(rival, text, casebase.lang)}", columns)))
    known = [i for i in casebase.incidents.values() if i.cause == cause.id]
    parts.append("\n".join(f"* {i.id}: {i.title}\n  {i.url}" for i in known[:_MOST_INCIDENTS]))
    parts.append(f"diagnose run --verify={cause.id} train.py")
    return "\n\n".join(part for part in parts if part)


def _in_order(example: str) -> str:
    """The code of an example with its wrong and its corrected function first, and what they use below."""
    tree, lines = ast.parse(example), example.splitlines()
    parts: dict[bool, list[str]] = {True: [], False: []}
    for node in tree.body[1:] if ast.get_docstring(tree) else tree.body:
        decorated = getattr(node, "decorator_list", [])
        begin = min([node.lineno, *(one.lineno for one in decorated)])
        compared = isinstance(node, ast.FunctionDef) and node.name in _COMPARED
        parts[compared].append("\n".join(lines[begin - 1 : node.end_lineno]))
    return "\n\n".join([*parts[True], *parts[False]])


def _fix(number: int, fix: FixTemplate, columns: int) -> str:
    """A fix: its title, the lines before and after, the command."""
    lines = [*wrap(f"{number}. {fix.title} [{fix.kind}]", columns)]
    lines += [f"   - {line}" for line in (fix.before or "").splitlines()]
    lines += [f"   + {line}" for line in (fix.after or "").splitlines()]
    lines += [f"   $ {line}" for line in in_general(fix.command or "").splitlines()]
    return "\n".join(lines)


def _rival(rival: str, text: str, lang: Lang) -> str:
    """What supports a rival, which is named: beside the rival itself, the sentence says "this"."""
    labels = LABELS[lang]
    return text.replace(labels["rather-this"], labels["rather-named"].format(cause=rival), 1)


def _incident(incident: Incident, casebase: Casebase) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in incident.versions.items())
    parts = [
        f"{incident.id}: {incident.title}",
        f"{casebase.causes[incident.cause].title} [{incident.cause}]"
        + (f"\n{versions}" if versions else ""),
        incident.saw,
        f"{incident.exception or ''}: {incident.message}" if incident.message else "",
        incident.was,
        incident.mended,
        "\n".join(f"{source.url}\n  {source.supports}" for source in incident.sources),
        "\n".join(f"inferred, {one}" for one in incident.inferred),
        incident.reproduce.strip(),
    ]
    return "\n\n".join(part for part in parts if part)
