"""From a cause and a report to concrete fixes: the cause's own, fitted to the user's line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from diagnose import views
from diagnose.bulkhead import guarded
from diagnose.casebase.store import Casebase
from diagnose.facts.stray import meeting
from diagnose.fixes.diff import edit, patch
from diagnose.fixes.editing import Site
from diagnose.model import Cause, Edit, Fact, Fix, FixTemplate, Frame, Report
from diagnose.placeholders import fill, values

__all__ = ["for_cause"]


def for_cause(
    cause: Cause,
    report: Report,
    culprit: Frame | None,
    facts: Mapping[str, Fact],
    casebase: Casebase,
) -> tuple[Fix, ...]:
    """The fixes of a cause in the order to try them.

    A fix that edits a line comes as an edit of the user's own line where that line shows enough, and
    else as the cause's example of the changed code. Fixes of libraries (upgrade, downgrade, patch)
    come after the others where the failing line is the user's own.
    """
    in_library = "fails-in-library" in facts
    known = values(report, facts, (), casebase.knowledge.libraries)
    fixes: list[Fix] = []
    for template in sorted(cause.fixes, key=lambda fix: _later(fix, in_library)):
        frame = _line_for(template.kind, report, culprit)
        make = partial(_edited, template.kind, frame, report, casebase)
        made = guarded(f"{cause.id}/fixes/{template.kind}", make, None)
        if made is not None and any(fix.edit == made for fix in fixes):
            made = None  # two ways to say the same edit
        fixes.append(_fitted(template, frame, made, known))
    return tuple(fixes)


_OF_LIBRARIES = frozenset({"upgrade-library", "downgrade-library", "patch-library-line"})


def _later(fix: FixTemplate, in_library: bool) -> bool:
    return fix.kind in _OF_LIBRARIES and not in_library


def _edited(kind: str, frame: Frame | None, report: Report, casebase: Casebase) -> Edit | None:
    """The edit of a frame's line, None where the line does not show enough to be sure of it."""
    met = meeting(frame, report, casebase.knowledge.operands)
    return edit(kind, Site(frame, met, report)) if frame is not None and met is not None else None


def _fitted(
    template: FixTemplate, frame: Frame | None, made: Edit | None, known: Mapping[str, str]
) -> Fix:
    """The fix with an edit of the report's line, a command for its program, or the cause's example.

    A command that needs what the report does not tell is left out.
    """
    if made is not None and frame is not None:
        return Fix(template.kind, template.title, patch=patch(frame, made), edit=made)
    if template.command is not None:
        return Fix(template.kind, template.title, command=fill(template.command, known))
    example = _example(template)
    return Fix(template.kind, template.title, code=example, example=example is not None)


def _line_for(kind: str, report: Report, culprit: Frame | None) -> Frame | None:
    """The line that a fix edits: a library's line for fixes that say so, and only for those."""
    if kind not in _OF_LIBRARIES:
        return culprit
    site = views.site(report)
    return None if site is None or site.own else site


def _example(template: FixTemplate) -> str | None:
    """The changed code of the cause's example, as lines taken away and added."""
    if template.after is None:
        return None
    before = [f"- {line}" for line in (template.before or "").splitlines()]
    after = [f"+ {line}" for line in template.after.splitlines()]
    return "\n".join([*before, *after])
