"""Learns from labelled failures what to add to the experts' beliefs, and what the words of a failure tell.

    python training/learn.py [reports/ ...] [--write] [--folds N] [--plot calibration.svg]
    python training/learn.py reports/ --rows training/public/NAME.jsonl     # keep what was read off them

Multinomial logistic regression of the causes on the facts and the words. The facts' weights have a
Gaussian prior around a person's beliefs (kb/beliefs.toml), and only those that are named there are
learned; the words' have a stronger one around nothing; the causes' priors stay. It learns from all that
stands in training/ (`failures`), from reports of one's own, and from the incidents' recorded tracebacks.
What is thought up and what is documented has constants of its own for each cause, because neither is
spread over the causes as failures are. Validated on reports by leaving whole repositories out; the table
is that of `diagnose kb evaluate`, over answers made with what was learned from the others. Writes
kb/corrections.toml and src/diagnose/naming/causes.bin. Seeds are fixed. Needs torch, never at run time.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from failures import (  # noqa: E402
    COUNTS,
    Example,
    as_row,
    of_incidents,
    of_reports,
    of_rows,
    of_written,
    repository,
    thread,
)

from diagnose._toml import loads  # noqa: E402
from diagnose.casebase.store import Casebase, load  # noqa: E402
from diagnose.compiling.weights import Weights, corrections_of  # noqa: E402
from diagnose.evaluation import layout  # noqa: E402
from diagnose.evaluation.labels import Labelled, collect, known_ids  # noqa: E402
from diagnose.evaluation.plot import svg  # noqa: E402
from diagnose.evaluation.runs import Made, Outcome, evaluate_one  # noqa: E402
from diagnose.evaluation.sections import sections  # noqa: E402
from diagnose.evaluation.summary import summarize  # noqa: E402
from diagnose.naming import causes as learned_words  # noqa: E402
from diagnose.naming.causes import ROWS  # noqa: E402
from diagnose.naming.table import Table  # noqa: E402
from diagnose.ranking.causes import TEMPERATURE  # noqa: E402

KB = HERE.parent / "kb"
TABLE = HERE.parent / "src" / "diagnose" / "naming" / "causes.bin"
HEADER = """\
# What labelled failures add to the beliefs, in log-odds: weight = belief + correction. Written by
# training/learn.py: differences only, and only of pairs that beliefs.toml names.
"""
#: Strength of the priors of the facts' and the words' weights, and of the constants; the first two chosen
#: among 0.5 to 4 and 10 to 100 by leaving repositories out.
FACTS, WORDS, CONSTANT = 2.0, 30.0, 0.3
#: The share of the strictest label; the others that a label accepts divide the rest. Chosen among 0.7 to 1
#: by leaving repositories out.
STRICT = 0.8
FOLDS = 12
#: A row of words that fewer examples have is not learned.
RARE = 3
SEED = 0


class Learned(NamedTuple):
    """The weights of the facts, by cause, and the table of the words."""

    facts: Weights
    words: Table


def main() -> None:
    """Prints the validation, and writes what was learned where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reports", nargs="*", type=Path, metavar="DIR", help="labelled reports")
    parser.add_argument("--write", action="store_true", help="write what was learned")
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="write what the reports show, and stop"
    )
    parser.add_argument("--only", action="store_true", help="learn from these reports alone")
    parser.add_argument("--folds", type=int, default=FOLDS, help="0: no validation (%(default)s)")
    parser.add_argument("--plot", type=Path, metavar="SVG", help="draw the calibration curve")
    options = parser.parse_args()
    casebase = load()
    folders = [*options.reports, *(() if options.only or options.rows else _kept_reports())]
    labelled = collect(folders, known_ids(casebase))
    examples = list(of_reports(labelled, casebase))
    if options.rows:
        options.rows.write_text("".join(f"{as_row(e)}\n" for e in examples), encoding="utf-8")
        print(f"{options.rows}: {len(examples)} rows")
        return
    examples += of_incidents(casebase, KB / "cases")
    if not options.only:
        for file in sorted((HERE / "public").glob("*.jsonl")):
            examples += of_rows(file)
        for file in sorted((HERE / "written").glob("*.jsonl")):
            examples += of_written(file, casebase)
    beliefs = loads((KB / "beliefs.toml").read_text(encoding="utf-8"))
    kinds = Counter(example.kind for example in examples)
    print(", ".join(f"{number} of {kind}s" for kind, number in kinds.items()), "\n")
    if options.folds:
        outcomes = _validated(labelled, examples, beliefs, casebase, options.folds)
        summary = summarize(outcomes)
        made = Made("leave one repository out", casebase.digest[:12])
        print(layout.text(sections(made, summary, outcomes, None, misses=False)))
        if options.plot:
            title = "Calibration, own repository left out"
            options.plot.write_text(svg(summary.bins, title), encoding="utf-8")
    if options.write:
        found = learn(examples, beliefs, casebase)
        corrections = _toml(corrections_of(beliefs, found.facts))
        (KB / "corrections.toml").write_text(corrections, encoding="utf-8")
        TABLE.write_bytes(found.words.packed())
        print(f"\n{KB / 'corrections.toml'} and {TABLE} written")


def _kept_reports() -> list[Path]:
    return sorted(path for path in (HERE / "reports").iterdir() if path.is_dir())


def learn(examples: Sequence[Example], beliefs: Weights, casebase: Casebase) -> Learned:
    """The weights with the greatest posterior probability: of the facts one for each that ``beliefs``
    names, of the words one for each row that is not rare."""
    causes, names = list(casebase.causes), sorted(casebase.knowledge.facts)
    column = {name: number for number, name in enumerate(names)}
    held = torch.zeros(len(names), len(causes))
    for number, cause in enumerate(causes):
        for name, weight in beliefs.get(cause, {}).items():
            held[column[name], number] = weight
    named = (held != 0).float()
    common = Counter(word for example in examples for word in example.words)
    place = {word: k for k, word in enumerate(sorted(w for w, n in common.items() if n >= RARE))}
    facts = torch.tensor([[float(name in e.facts) for name in names] for e in examples])
    said = _sparse([[place[w] for w in e.words if w in place] for e in examples], len(place))
    wanted = torch.tensor([[_share(e, cause) for cause in causes] for e in examples])
    count = torch.tensor([[COUNTS[e.kind]] for e in examples])
    apart = torch.tensor(
        [[float(e.kind == kind) for kind in ("incident", "written")] for e in examples]
    )
    prior = torch.tensor([math.log(casebase.causes[cause].prior) for cause in causes])
    change = torch.zeros_like(held, requires_grad=True)
    words = torch.zeros(len(place), len(causes), requires_grad=True)
    constant = torch.zeros(2, len(causes), requires_grad=True)
    parameters = [change, words, constant]
    optimizer = torch.optim.LBFGS(parameters, max_iter=80, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = facts @ (held + change * named) + prior + apart @ constant
        if place:
            scores = scores + torch.sparse.mm(said, words)
        fit = -(wanted * torch.log_softmax(scores / TEMPERATURE, 1) * count).sum()
        strengths = zip((FACTS, WORDS, CONSTANT), parameters, strict=True)
        total = fit + sum(strength * (some**2).sum() for strength, some in strengths)
        total.backward()
        return total

    optimizer.step(loss)
    final = (held + change * named).detach()
    weights = {
        cause: {name: round(final[column[name], n].item(), 2) for name in beliefs.get(cause, {})}
        for n, cause in enumerate(causes)
    }
    rows = torch.zeros(ROWS, len(causes))
    if place:
        rows[torch.tensor(list(place))] = words.detach()
    return Learned(weights, Table.of(causes, rows.tolist()))


def _sparse(lists: Sequence[Sequence[int]], width: int) -> torch.Tensor:
    """Ones at the columns that each row lists."""
    at = [[k for k, some in enumerate(lists) for _ in some], [c for some in lists for c in some]]
    size = (len(lists), max(1, width))
    ones = torch.ones(len(at[0]))
    return torch.sparse_coo_tensor(torch.tensor(at), ones, size, check_invariants=True).coalesce()


def _share(example: Example, cause: str) -> float:
    first, *others = example.causes
    if not others:
        return float(cause == first)
    return STRICT if cause == first else (1 - STRICT) / len(others) if cause in others else 0.0


def _validated(
    reports: Sequence[Labelled],
    examples: Sequence[Example],
    beliefs: Weights,
    casebase: Casebase,
    folds: int,
) -> list[Outcome]:
    """The answer to every report with what was learned without its repository, and without the incidents
    that were documented from it."""
    groups = sorted({e.group for e in examples} | {repository(report) for report in reports})
    random.Random(SEED).shuffle(groups)
    fold = {group: number % folds for number, group in enumerate(groups)}
    outcomes: dict[str, Outcome] = {}
    for number in range(folds):
        found = learn([e for e in examples if fold[e.group] != number], beliefs, casebase)
        apart = _with(casebase, found, (g for g in groups if fold[g] == number))
        shipped, learned_words.table = learned_words.table, lambda found=found: found.words
        for report in reports:
            if fold[repository(report)] == number:
                outcomes[report.name] = evaluate_one(report, apart)
        learned_words.table = shipped
    return [outcomes[report.name] for report in reports]


def _with(casebase: Casebase, found: Learned, left_out: Iterable[str]) -> Casebase:
    """The case base with other weights, and without the incidents of some repositories."""
    without = set(left_out)
    causes = {key: c._replace(weights=found.facts[key]) for key, c in casebase.causes.items()}
    known = {i.id: i for i in casebase.incidents.values() if thread(i) not in without}
    return casebase._replace(knowledge=casebase.knowledge.replaced(causes=causes), incidents=known)


def _toml(corrections: Weights) -> str:
    tables = [
        "\n".join([f"[{cause}]", *(f"{name} = {change}" for name, change in table.items())])
        for cause, table in corrections.items()
    ]
    return HEADER + "\n" + "\n\n".join(tables) + "\n"


if __name__ == "__main__":
    main()
