"""An edit as people and tools take it: the lines before and after, or a diff that applies to the file."""

from __future__ import annotations

import ast
import re

from diagnose.fixes.destinations import hold
from diagnose.fixes.edits import EDITS
from diagnose.fixes.line_gate import Refused, Site, applied
from diagnose.fixes.operands import alike
from diagnose.model import Edit
from diagnose.paths import basename, is_plain
from diagnose.patterns import proposed
from diagnose.scene import Place, calls


def edit(kind: str, site: Site) -> Edit:
    """The edit that a fix of this kind makes of a line.

    Args:
        kind: fix id of the taxonomy.
        site: the line, what met there, what the message says.

    Raises:
        Refused: the line does not show enough, or no line is edited by such a fix.
    """
    make = EDITS.get(kind)
    if make is None:
        raise Refused("it edits no line")
    changes = list(make(site))
    changes += alike(site, changes)
    for change in changes:
        outer = site.place is not site.scene.site
        if (
            outer
            and isinstance(change.node, ast.Call)
            and not calls.of_tensors(change.node, site.torch)
        ):
            raise Refused("the call is what failed: it gives nothing that could be moved")
        hold(change.node, (change.becomes,), site.within, site.torch, site.frame.line)
    line, text, file = site.line.text, applied(site.line, changes), site.frame.file
    if site.place.statement is None or not site.place.statement.raw:
        # All that is known of it was pasted, and whoever reads an edit is to do what it says.
        line, text, file = proposed(line), proposed(text), file if is_plain(file) else ""
    before, after = line.split("\n"), text.split("\n")
    # Lines of the statement that stay as they are, before and after those that change.
    head = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    most = min(len(before), len(after)) - head - 1
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    first = _first_line(site) if file else None
    return Edit(
        file,
        None if first is None else first + head,
        "\n".join(before[head : len(before) - tail]),
        "\n".join(after[head : len(after) - tail]),
    )


def _first_line(site: Site) -> int | None:
    statement = site.place.statement
    whole = statement is not None and statement.text.strip() == site.line.text
    return statement.line if whole and statement is not None else site.frame.line


def patch(place: Place, made: Edit) -> str | None:
    """A unified diff that applies in the folder of the place's file; None where the file was not seen.

    A traceback shows a line without its indentation, so that a diff of it would apply nowhere.
    """
    statement = place.statement
    if statement is None or statement.line is None or made.line is None:
        return None
    if made.file.startswith("<"):
        return None  # a notebook's cell, or a string that was executed
    offset = made.line - statement.line
    before, after = made.before.split("\n"), made.after.split("\n")
    taken = statement.raw[offset : offset + len(before)]
    if [line.strip() for line in taken] != [line.strip() for line in before]:
        return None  # not the line that was read, or no file was
    end = "\r" if taken[0].endswith("\r") else ""
    indent = taken[0][: len(taken[0]) - len(taken[0].lstrip())] if offset == 0 else ""
    changed = [f"{indent if row == 0 else ''}{line}{end}" for row, line in enumerate(after)]
    above = [*statement.above, *statement.raw[:offset]][-_CONTEXT:]
    below = [*statement.raw[offset + len(before) :], *statement.below][:_CONTEXT]
    start, kept = made.line - len(above), len(above) + len(below)
    path = "".join(c for c in basename(made.file) if c.isprintable())
    lines = [
        f"--- a/{path}",
        f"+++ b/{path}",
        f"@@ -{start},{kept + len(taken)} +{start},{kept + len(changed)} @@",
        *(f" {line}" for line in above),
        *(f"-{line}" for line in taken),
        *(f"+{line}" for line in changed),
        *(f" {line}" for line in below),
    ]
    return "\n".join(lines) + "\n"


def patched(text: str, diff: str) -> str:
    """A text with a diff applied whose line numbers are exact: one of ours, of one file.

    Raises:
        ValueError: the text is not the one that the diff was made of.
    """
    old, new, at = text.split("\n"), list[str](), 0
    ended = True  # whether the last line has its line feed
    for row in diff.split("\n")[2:]:
        if found := _HUNK.match(row):
            start = int(found[1]) - (found[2] == "0")
            new += old[at : max(start - 1, 0)]
            at = max(start - 1, 0)
        elif row[:1] in (" ", "-"):
            if at >= len(old) or old[at] != row[1:]:
                raise ValueError(f"line {at + 1} is not the one that the diff takes")
            new += [row[1:]] if row[0] == " " else []
            at += 1
        elif row[:1] == "+":
            new.append(row[1:])
        elif row.startswith("\\"):
            ended = False
    rest = old[at:]
    if not rest and ended:
        rest = [""]
    return "\n".join([*new, *rest])


_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")
_CONTEXT = 3
