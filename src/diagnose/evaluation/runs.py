"""Diagnoses labelled reports and scores the answers, in this process or in several."""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from diagnose.casebase.store import Casebase, load
from diagnose.errors import DiagnoseError
from diagnose.evaluation.labels import NOT_DEVICE, Labelled
from diagnose.evaluation.measures import TOP, Score, score
from diagnose.inputs import InputError, opened
from diagnose.model import Verdict
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources
from diagnose.sources.trees import Tree

#: Reports that a worker takes at a time.
_CHUNK = 8


class WorkerError(DiagnoseError):
    """A worker process died; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Made:
    """What made a run: diagnose's version and the case base's digest."""

    version: str
    casebase: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one report gave.

    ``accepted`` are the causes that its label accepts, the label's own first; ``causes`` those of the
    answer with their confidence; ``problem`` the internal error that kept it from an answer. ``log`` and
    ``label`` are digests of the two files' contents.
    """

    name: str
    log: str
    label: str
    accepted: tuple[str, ...]
    verdict: Verdict | None
    causes: tuple[tuple[str, float], ...]
    scores: tuple[Score, ...]
    problem: str | None = None

    @property
    def cause(self) -> str | None:
        """The label's cause."""
        return self.accepted[0] if self.accepted else None

    @property
    def answer(self) -> str:
        """The first cause of the answer, or `NOT_DEVICE` where it has none."""
        return self.causes[0][0] if self.causes else NOT_DEVICE

    @property
    def right(self) -> bool:
        """True when the label accepts the answer."""
        return self.problem is None and self.answer in self.accepted

    @property
    def values(self) -> dict[str, float]:
        """The scores by measure."""
        return {score.measure: score.value for score in self.scores}


def evaluate(
    reports: Sequence[Labelled], jobs: int = 1, folders: tuple[str, ...] = ()
) -> Iterator[Outcome]:
    """The outcome of each report, in their order; with one job in this process.

    ``folders`` hold the files that the reports name; none are read elsewhere.

    Raises:
        CasebaseError: the case base cannot be read.
        InputError: a log cannot be read.
        DiagnoseError: there is no such folder.
        WorkerError: a worker process died.
    """
    trees = tuple(map(Folder, folders))
    if jobs < 2:
        yield from map(partial(evaluate_one, trees=trees), reports)
        return
    # Not forked: the caller may run threads.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            yield from pool.map(partial(evaluate_one, trees=trees), reports, chunksize=_CHUNK)
    except BrokenProcessPool as error:
        raise WorkerError(
            "a worker process died, perhaps for lack of memory; --jobs 1 runs in one process"
        ) from error


def evaluate_one(
    report: Labelled, casebase: Casebase | None = None, trees: Sequence[Tree] = ()
) -> Outcome:
    """Diagnoses one report and scores the answer. An internal error is part of the outcome: it must not
    end the evaluation of a thousand reports, and it counts against every measure that the label has.

    Raises:
        InputError: the log cannot be read.
    """
    diagnosis, problem = None, None
    casebase = casebase or load()
    try:
        with opened(str(report.log)) as stream:
            sources = Sources(trees, read=None) if trees else None
            diagnosis = diagnose(
                stream, report.log.name, casebase=casebase, top=TOP, sources=sources
            )
        if diagnosis.verdict == "failed":
            problem = ", ".join(f"{piece.what}: {piece.fault}" for piece in diagnosis.incomplete)
            diagnosis = None
    except InputError:
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return Outcome(
        name=report.name,
        log=_digest(report.log),
        label=report.label.digest,
        accepted=report.label.accepted,
        verdict=diagnosis.verdict if diagnosis else None,
        causes=tuple((cause.id, cause.confidence) for cause in diagnosis.causes)
        if diagnosis
        else (),
        scores=tuple(score(report.label, diagnosis)),
        problem=problem,
    )


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:12]
