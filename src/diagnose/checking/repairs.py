"""Repairs of findings: made of a suspect by the edits of definitions, and applied to the text of a file."""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Callable, Iterable, Sequence

from diagnose.checking.model import Finding, Repair, Replacement
from diagnose.checking.words import UNSAFE
from diagnose.fixes.codemods import define
from diagnose.fixes.file_edit import FileEdit
from diagnose.fixes.line_gate import Refused
from diagnose.model import CheckRule, Lang, Safety, TorchNames
from diagnose.placement import Spot, Suspect
from diagnose.placement.semantics import path_to


def repair(rule: CheckRule, suspect: Suspect, lang: Lang, torch: TorchNames) -> Repair | None:
    """The first of a rule's fixes that fits; None where the file does not show enough for any.

    A safe one is unsafe where the suspect is only likely, or where it writes a device down.
    """
    for kind in rule.fixes:
        try:
            edit = define(kind, suspect, torch=torch)
        except Refused:
            continue
        if _REPEATED.search(edit.text) and not _REPEATED.search(suspect.spot.source.text):
            continue  # the move stands there, and did not help
        changes = replacements(suspect.spot.source.lines, edit.text.split("\n"))
        why = "unsure" if not suspect.sure else "fixed" if _writes_device(edit, torch) else None
        if rule.safety == "safe" and why is not None:
            return Repair(kind, "unsafe", changes, UNSAFE[lang][why])
        return Repair(kind, rule.safety, changes, rule.because)
    return None


def reread(spot: Spot) -> int:
    """The lines that a repair reads again: those of the function or class at the top of the file that a
    place is in, or of the file."""
    outer = path_to(spot.source.tree, spot.node)[1:2]
    defines = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    held = sum(
        (one.end_lineno or one.lineno) - one.lineno for one in outer if isinstance(one, defines)
    )
    return held or len(spot.source.lines)


#: A move that is made twice in a row.
_REPEATED = re.compile(r"(\.to\([^()]*\))\1")


def _writes_device(edit: FileEdit, torch: TorchNames) -> bool:
    """Whether an edit writes a device down, as a person would."""
    written = re.compile(rf"""["'](cpu|{"|".join(sorted(torch.accelerators))})\b""")
    return len(written.findall(edit.after)) > len(written.findall(edit.before))


def replacements(before: Sequence[str], after: Sequence[str]) -> tuple[Replacement, ...]:
    """The lines that differ. What is equal at both ends is left out first: comparing takes its time."""
    head = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    most = min(len(before), len(after)) - head
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Replacement(head + i + 1, j - i, tuple(new[k:m]))
        for what, i, j, k, m in steps
        if what != "equal"
    )


def applicable(findings: Iterable[Finding], unsafe: bool) -> list[Repair]:
    """The repairs that may be made: the safe ones, and with ``unsafe`` those that are called so."""
    allowed: tuple[Safety, ...] = ("safe", "unsafe") if unsafe else ("safe",)
    found = (finding.repair for finding in findings)
    return [one for one in found if one is not None and one.safety in allowed]


def with_lines(text: str, changes: Iterable[Replacement]) -> str | None:
    """A file's text with other lines; None where it would be no Python."""
    lines = text.split("\n")
    for change in sorted(changes, key=lambda change: -change.first):
        lines[change.first - 1 : change.first - 1 + change.removed] = change.lines
    found = "\n".join(lines)
    return found if _is_python(found) else None


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


#: Makes a text of a text and replacements of its lines; None where it would be no Python.
Splice = Callable[[str, Iterable[Replacement]], "str | None"]


def applied(text: str, repairs: Sequence[Repair], splice: Splice = with_lines) -> tuple[str, int]:
    """A text with as many of the repairs as go together, in their order, and how many those are.

    Two that replace the same lines do not, nor do those that together are no Python; the others are
    found, and made, when the text is checked again. What two both add, such as an import, is added once.
    """
    chosen = list[Repair]()
    found = text
    for one in repairs:
        if one in chosen or not _apart(one, chosen):
            continue
        changes = {change for each in (*chosen, one) for change in each.replacements}
        if (made := splice(text, changes)) is not None:
            chosen.append(one)
            found = made
    return found, len(chosen)


def _apart(one: Repair, others: Iterable[Repair]) -> bool:
    taken = {change for other in others for change in other.replacements}
    return not any(
        new != old
        and new.cell == old.cell
        and new.first <= old.first + old.removed
        and old.first <= new.first + new.removed
        for new in one.replacements
        for old in taken
    )
