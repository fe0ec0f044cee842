"""Learns from labelled reports what to add to kb/beliefs.toml: the differences, in kb/corrections.toml.

    python scripts/learn_weights.py reports/ more-reports/ [--write] [--plot calibration.svg]

Multinomial logistic regression of the causes on the facts, with a Gaussian prior around a person's
beliefs: only weights that kb/beliefs.toml names are learned, the causes' priors stay. It learns from
labelled reports (docs/evaluating.md; ``repo`` in a label names what is left out together) and from the
incidents' recorded tracebacks, with less weight and a constant of their own for each cause, because
incidents are spread evenly over the causes and failures are not. Validated by leaving whole repositories
out; the table is that of `diagnose evaluate`, over answers that were made with the weights of the other
repositories. Nothing is random. Needs torch, here and never at run time.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import torch

from diagnose import facts
from diagnose._toml import loads
from diagnose.casebase.store import Casebase, load
from diagnose.compiling.weights import Weights, corrections_of
from diagnose.evaluation import layout
from diagnose.evaluation.labels import NOT_DEVICE, Labelled, collect, known_ids
from diagnose.evaluation.plot import svg
from diagnose.evaluation.running import Made, Outcome, evaluate_one
from diagnose.evaluation.sections import sections
from diagnose.evaluation.summary import summarize
from diagnose.model import DEVICE_FAMILY, Incident
from diagnose.parsing import parse
from diagnose.ranking.causes import TEMPERATURE
from diagnose.scene import Scene

KB = Path(__file__).parents[1] / "kb"
HEADER = """\
# What labelled reports add to the beliefs, in log-odds: weight = belief + correction. Written by
# scripts/learn_weights.py: differences only, and only of pairs that beliefs.toml names.
"""
#: Strength of the prior around the beliefs; chosen among 0.5, 1, 2 and 4 by leaving repositories out.
PRIOR = 2.0
#: What a recorded incident counts, a report being 1, and the prior of the incidents' own constants.
INCIDENT, INCIDENT_PRIOR = 0.3, 0.3
#: The share of the strictest label; the others that a label accepts divide the rest.
STRICT = 0.7
FOLDS = 12


@dataclass(frozen=True)
class Example:
    """What was seen, and which causes it stands for; ``group`` is left out as a whole."""

    facts: frozenset[str]
    causes: tuple[str, ...]
    group: str
    incident: bool


def main() -> None:
    """Prints the validation, and writes the corrections where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reports", nargs="+", type=Path, metavar="DIR", help="labelled reports")
    parser.add_argument("--write", action="store_true", help="write kb/corrections.toml")
    parser.add_argument("--plot", type=Path, metavar="SVG", help="draw the calibration curve")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    casebase = load()
    labelled = collect(options.reports, known_ids(casebase))
    examples = [*_of_reports(labelled, casebase), *_of_incidents(casebase)]
    beliefs = loads((KB / "beliefs.toml").read_text(encoding="utf-8"))
    print(f"{len(labelled)} reports, {sum(e.incident for e in examples)} incidents\n")
    outcomes = _validated(labelled, examples, beliefs, casebase)
    summary = summarize(outcomes)
    made = Made("leave one repository out", casebase.digest[:12])
    print(layout.text(sections(made, summary, outcomes, None, misses=False)))
    if options.plot:
        title = "Calibration, own repository left out"
        options.plot.write_text(svg(summary.bins, title), encoding="utf-8")
    if options.write:
        corrections = corrections_of(beliefs, learn(examples, beliefs, casebase))
        (KB / "corrections.toml").write_text(_toml(corrections), encoding="utf-8")
        print(f"\n{KB / 'corrections.toml'} written")


def _seen(text: bytes, casebase: Casebase) -> frozenset[str] | None:
    """The facts of a device failure; None of any other."""
    report = parse(
        text,
        knowledge=casebase.knowledge,
    )
    if report.error is None or report.error.family != DEVICE_FAMILY:
        return None
    return frozenset(facts.read(Scene(report, casebase.knowledge)))


def _repository(report: Labelled) -> str:
    label = json.loads(report.log.with_suffix(".json").read_bytes())
    return str(label.get("repo") or report.name).lower()


def _thread(incident: Incident) -> str:
    """The repository of the thread that documents an incident, as `_repository` names a report's."""
    return "/".join(urlsplit(incident.url).path.strip("/").split("/")[:2]).lower()


def _of_reports(reports: Sequence[Labelled], casebase: Casebase) -> list[Example]:
    examples = []
    for report in reports:
        causes = report.label.accepted
        seen = _seen(report.log.read_bytes(), casebase)
        if causes and causes[0] != NOT_DEVICE and seen is not None:
            examples.append(Example(seen, causes, _repository(report), False))
    return examples


def _of_incidents(casebase: Casebase) -> list[Example]:
    examples = []
    for incident in casebase.incidents.values():
        trace = KB / "cases" / incident.id / "trace.txt"
        seen = _seen(trace.read_bytes(), casebase) if trace.is_file() else None
        if seen is not None:
            examples.append(Example(seen, (incident.cause,), _thread(incident), True))
    return examples


def learn(examples: Sequence[Example], beliefs: Weights, casebase: Casebase) -> Weights:
    """The weights with the greatest posterior probability: one for each that ``beliefs`` names."""
    causes, names = list(casebase.causes), sorted(casebase.knowledge.facts)
    column = {name: number for number, name in enumerate(names)}
    x = torch.tensor([[float(name in e.facts) for name in names] for e in examples])
    y = torch.tensor([[_share(e, cause) for cause in causes] for e in examples])
    of_incident = torch.tensor([[float(e.incident)] for e in examples])
    count = torch.where(of_incident > 0, INCIDENT, 1.0)
    believed = torch.zeros(len(names), len(causes))
    for number, cause in enumerate(causes):
        for name, weight in beliefs.get(cause, {}).items():
            believed[column[name], number] = weight
    held = (believed != 0).double()
    prior = torch.tensor([math.log(casebase.causes[cause].prior) for cause in causes])
    change = torch.zeros_like(believed, requires_grad=True)
    constant = torch.zeros_like(prior, requires_grad=True)
    optimizer = torch.optim.LBFGS([change, constant], max_iter=80, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = (x @ (believed + change * held) + prior + constant * of_incident) / TEMPERATURE
        fit = -(y * torch.log_softmax(scores, 1) * count).sum()
        total = fit + PRIOR * (change**2).sum() + INCIDENT_PRIOR * (constant**2).sum()
        total.backward()
        return total

    optimizer.step(loss)
    final = (believed + change * held).detach()
    return {
        cause: {
            name: round(final[column[name], number].item(), 2) for name in beliefs.get(cause, {})
        }
        for number, cause in enumerate(causes)
    }


def _share(example: Example, cause: str) -> float:
    first, *others = example.causes
    if not others:
        return float(cause == first)
    return STRICT if cause == first else (1 - STRICT) / len(others) if cause in others else 0.0


def _validated(
    reports: Sequence[Labelled], examples: Sequence[Example], beliefs: Weights, casebase: Casebase
) -> list[Outcome]:
    """The answer to every report with the weights learned without its repository, and without the
    incidents that were documented from it."""
    groups = sorted({e.group for e in examples} | {_repository(report) for report in reports})
    fold = {group: number % FOLDS for number, group in enumerate(groups)}
    outcomes: dict[str, Outcome] = {}
    for number in range(FOLDS):
        weights = learn([e for e in examples if fold[e.group] != number], beliefs, casebase)
        causes = {
            key: cause._replace(weights=weights[key]) for key, cause in casebase.causes.items()
        }
        known = {
            incident.id: incident
            for incident in casebase.incidents.values()
            if fold.get(_thread(incident)) != number
        }
        apart = casebase._replace(
            knowledge=casebase.knowledge.replaced(causes=causes), incidents=known
        )
        for report in reports:
            if fold[_repository(report)] == number:
                outcomes[report.name] = evaluate_one(report, apart)
    return [outcomes[report.name] for report in reports]


def _toml(corrections: Weights) -> str:
    tables = [
        "\n".join([f"[{cause}]", *(f"{name} = {change}" for name, change in table.items())])
        for cause, table in corrections.items()
    ]
    return HEADER + "\n" + "\n\n".join(tables) + "\n"


if __name__ == "__main__":
    main()
