"""What a report shows, as an expert reads it off: `Scene` in, `Fact` objects out.

Most facts are data (kb/facts.toml, matched in `rules`). Those that need more than regular expressions
(operand roles, syntax trees, counting, live tensors) are computed by the functions in ``FINDERS``, each
under its id there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagnose.facts import call_arguments, frames, lines, operands
from diagnose.facts.rules import Texts, combined, matched
from diagnose.model import Fact, FactRule, IncidentMatch, Report
from diagnose.scene import Scene

__all__ = ["AGAIN", "FINDERS", "known_again", "read"]

#: So much alike, in frames and message, it is the same failure again, and its cause is known.
AGAIN = 0.97

FINDERS = (
    operands.misplaced_operand,
    operands.gpu_numbers,
    operands.on_gpus,
    operands.elementwise,
    frames.ranks,
    frames.whose_line,
    frames.depth,
    frames.inside_criterion,
    operands.seen_tensors,
    lines.attributes,
    lines.made_tensors,
    lines.fixed_devices,
    lines.called_modules,
    lines.handed_models,
    lines.looped_modules,
    lines.joined_locals,
    call_arguments.passed,
    call_arguments.made_above,
    call_arguments.made_meets_own,
    call_arguments.handed_a_file,
    call_arguments.made_on_default_gpu,
    call_arguments.handed_in_across_gpus,
    call_arguments.placed,
    call_arguments.sized,
    call_arguments.summed,
    frames.earlier_layer,
    frames.fed_from_cpu,
    frames.made_by_own_call,
    frames.handed_in_on_cpu,
    frames.own_optimizer,
    call_arguments.by_trainer,
    call_arguments.from_checkpoint,
    call_arguments.kept_table,
    operands.origin,
)


def read(scene: Scene) -> dict[str, Fact]:
    """All facts that the scene shows, by id."""
    rules = scene.knowledge.facts
    found: dict[str, Fact] = {}
    for fact in (*_declared(scene, rules), *_computed(scene)):
        found.setdefault(fact.id, fact)
    for rule in rules.values():
        if (combination := combined(rule, found)) is not None:
            found.setdefault(rule.id, combination)
    return found


def _declared(scene: Scene, rules: Mapping[str, FactRule]) -> Iterator[Fact]:
    texts = Texts.of(scene)
    for rule in rules.values():
        if rule.when or rule.frame:
            fact = matched(texts, rule)
            if fact is not None:
                yield fact


def _computed(scene: Scene) -> Iterator[Fact]:
    for find in FINDERS:
        yield from find(scene)


def known_again(report: Report, matches: Sequence[IncidentMatch]) -> Iterator[Fact]:
    """The fact, if the first of a cause's incidents, nearest first, is like enough."""
    if matches and matches[0].by == "failure" and matches[0].similarity >= AGAIN:
        line = report.error.at if report.error else None
        yield Fact("same-as-documented", line, {"title": matches[0].title})
