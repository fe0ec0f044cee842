"""``diagnose kb evaluate``: how good the answers are on labelled reports of one's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diagnose import __version__
from diagnose.casebase.store import load
from diagnose.commands.shared import SOURCE, BadInput
from diagnose.commands.shared import output as output_option
from diagnose.outputs import is_terminal, write
from diagnose.scanning.workers import cores

if TYPE_CHECKING:
    from diagnose.evaluation.comparison import Comparison
    from diagnose.evaluation.labels import Labelled
    from diagnose.evaluation.runs import Made, Outcome
    from diagnose.evaluation.summary import Summary

#: Fewer reports than this are not worth another process's start.
_PER_JOB = 200
#: Sentences about bad input that are printed at most.
_TOLD = 20

Bound = tuple[str, float]


def _bounds(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[Bound, ...]:
    """The measures and values of texts like ``top-1=0.9``."""
    from diagnose.evaluation.measures import MEASURES

    bounds = []
    for value in values:
        measure, _, text = value.partition("=")
        if measure not in MEASURES:
            known = ", ".join(MEASURES)
            raise click.BadParameter(f"{measure!r} is no measure; there are {known}")
        try:
            bound = float(text)
        except ValueError as error:
            raise click.BadParameter(f"{value!r} is not of the form top-1=0.9") from error
        if not 0 <= bound <= 1:
            raise click.BadParameter(f"{text} is not between 0 and 1")
        bounds.append((measure, bound))
    return tuple(bounds)


@click.command(short_help="Measure the answers on labelled reports.")
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Form of the figures.",
)
@SOURCE
@click.option("--misses", is_flag=True, help="List every miss: what was wanted and what came.")
@output_option(
    "Save the run to FILE, to compare later ones with it; where it ends in .svg, draw the calibration "
    "curve. May be given more than once.",
    multiple=True,
)
@click.option(
    "--against",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="RUN.json",
    help="Tell what changed since a saved run.",
)
@click.option(
    "--fail-under",
    "under",
    multiple=True,
    callback=_bounds,
    metavar="MEASURE=VALUE",
    help="Exit with 1 if the figure is lower (top-1=0.9); may be given more than once.",
)
@click.option(
    "--fail-over",
    "over",
    multiple=True,
    callback=_bounds,
    metavar="MEASURE=VALUE",
    help="Exit with 1 if it is higher (calibration-error=0.1).",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help=f"So many processes; by default up to one a core, for {_PER_JOB} reports each.",
)
def evaluate(
    folders: tuple[Path, ...],
    form: str,
    source: tuple[str, ...],
    misses: bool,
    output: tuple[Path, ...],
    against: Path | None,
    under: tuple[Bound, ...],
    over: tuple[Bound, ...],
    jobs: int | None,
) -> None:
    """Measure the answers on the labelled reports in DIRs.

    A report is NAME.txt, any log or traceback, with its label NAME.json beside it;
    docs/evaluating.md describes the label.

    Exit status: 0 evaluated, 1 a figure beyond --fail-under or --fail-over, 2 bad usage or input.
    """
    from diagnose.evaluation import document
    from diagnose.evaluation.comparison import compare
    from diagnose.evaluation.summary import summarize

    reports, made = _collected(folders)
    # Read before the work is done, and before --output may name the same file.
    earlier = document.read(against) if against else None
    outcomes = _outcomes(reports, jobs, source)
    summary = summarize(outcomes)
    comparison = compare(*earlier, outcomes) if earlier else None
    for path in output:
        write(_kept(path, made, summary, outcomes), path)
    write(_rendered(form, made, summary, outcomes, comparison, misses))
    beyond = _beyond(summary, under, over)
    for sentence in beyond:
        click.echo(f"diagnose: {sentence}", err=True)
    sys.exit(1 if beyond else 0)


def _collected(folders: Sequence[Path]) -> tuple[list[Labelled], Made]:
    from diagnose.evaluation.labels import LabelError, collect, known_ids
    from diagnose.evaluation.runs import Made

    casebase = load()
    try:
        return collect(folders, known_ids(casebase)), Made(__version__, casebase.digest[:12])
    except LabelError as error:
        *others, last = error.problems[:_TOLD]
        for problem in others:
            click.echo(f"diagnose: {problem}", err=True)
        more = len(error.problems) - _TOLD
        raise BadInput(f"{last}\n(and {more} more mistakes)" if more > 0 else last) from error


def _outcomes(
    reports: Sequence[Labelled], jobs: int | None, source: tuple[str, ...]
) -> list[Outcome]:
    from diagnose.evaluation import runs

    with click.progressbar(
        runs.evaluate(reports, jobs or min(cores(), -(-len(reports) // _PER_JOB)), source),
        length=len(reports),
        label=f"{len(reports)} reports",
        file=sys.stderr,
        hidden=not is_terminal(sys.stderr),
    ) as bar:
        return list(bar)


def _kept(path: Path, made: Made, summary: Summary, outcomes: Sequence[Outcome]) -> str:
    """What is written to a file: the calibration curve or the run."""
    if path.suffix == ".svg":
        from diagnose.evaluation.plot import svg

        return svg(summary.bins, f"Calibration of diagnose {made.version}")
    from diagnose.evaluation import document

    return document.render(document.as_dict(made, summary, outcomes))


def _beyond(summary: Summary, under: Sequence[Bound], over: Sequence[Bound]) -> list[str]:
    """A sentence for each figure beyond its bound. A figure that no label gives cannot pass."""
    sentences = []
    checks: list[tuple[Sequence[Bound], str, Callable[[float, float], bool]]] = [
        (under, "under", lambda value, bound: value < bound),
        (over, "over", lambda value, bound: value > bound),
    ]
    for bounds, word, fails in checks:
        for measure, bound in bounds:
            figure = summary.figure(measure)
            if figure is None:
                raise BadInput(f"{measure} cannot be checked: no label has what it measures")
            if fails(figure.value, bound):
                sentences.append(f"{measure} is {figure.value:.4f}, {word} {bound:g}")
    return sentences


def _rendered(
    form: str,
    made: Made,
    summary: Summary,
    outcomes: Sequence[Outcome],
    comparison: Comparison | None,
    misses: bool,
) -> str:
    if form == "json":
        from diagnose.evaluation import document

        return document.render(document.as_dict(made, summary, outcomes, comparison))
    from diagnose.evaluation import layout
    from diagnose.evaluation.sections import sections

    lay = layout.markdown if form == "markdown" else layout.text
    return lay(sections(made, summary, outcomes, comparison, misses=misses))
