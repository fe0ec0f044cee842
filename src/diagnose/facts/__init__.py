"""What a report shows, as an expert reads it off: `Report` in, `Fact` objects out.

Most facts are data (kb/facts.toml, matched in `rules`). Those that need more than regular expressions
(operand roles, syntax trees, counting, live tensors) are computed by the functions in ``FINDERS``, each
under its id there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnose import views
from diagnose.facts import frames, lines, operands, seen
from diagnose.facts.operands import Roles
from diagnose.facts.rules import Texts, combined, matched
from diagnose.facts.stray import Meeting, meeting, texts
from diagnose.model import Fact, FactRule, Report

__all__ = ["FINDERS", "Roles", "read"]

FINDERS = (
    operands.gpu_numbers,
    operands.elementwise,
    frames.ranks,
    frames.whose_line,
    frames.depth,
    frames.inside_criterion,
    seen.seen_tensors,
)
#: Those that look into the failing line, at what met there.
LINE_FINDERS = (
    lines.attributes,
    lines.made_tensors,
    lines.fixed_devices,
    lines.called_modules,
    lines.looped_modules,
    lines.joined_locals,
)


def read(report: Report, rules: Mapping[str, FactRule], roles: Roles) -> dict[str, Fact]:
    """All facts that the report shows, by id.

    Args:
        report: what was parsed.
        rules: kb/facts.toml.
        roles: kb/operands.toml, for each aten op the role of each argument.
    """
    found: dict[str, Fact] = {}
    met = meeting(views.site(report), report, roles)
    shown = Texts.of(report, texts(met))
    for fact in (*_declared(shown, rules), *_computed(report, met, roles)):
        found.setdefault(fact.id, fact)
    for rule in rules.values():
        if (combination := combined(rule, found)) is not None:
            found.setdefault(rule.id, combination)
    return found


def _declared(texts: Texts, rules: Mapping[str, FactRule]) -> Iterator[Fact]:
    for rule in rules.values():
        if rule.when or rule.frame:
            fact = matched(texts, rule)
            if fact is not None:
                yield fact


def _computed(report: Report, met: Meeting | None, roles: Roles) -> Iterator[Fact]:
    yield from operands.misplaced_operand(report, roles)
    for find in FINDERS:
        yield from find(report)
    for look in LINE_FINDERS:
        yield from look(report, met)
