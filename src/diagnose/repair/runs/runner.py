"""Runs of a program in processes of their own, forked from this one, which has imported torch."""

from __future__ import annotations

import json
import math
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from diagnose.errors import DiagnoseError
from diagnose.model import Lang
from diagnose.processes import TOO_LONG, Ended, forked, import_all
from diagnose.repair.model import (
    ABSENT_GPU,
    ABSENT_LISTED,
    ABSENT_SAVED,
    Candidate,
    Failure,
    Program,
    Ran,
    Silent,
    Terms,
    Wanted,
)
from diagnose.repair.words import say
from diagnose.repair.workspace import Workspace

#: What a run tells as a list and is a set.
_SETS = [name for name, value in Ran._field_defaults.items() if isinstance(value, frozenset)]


class Runner:
    """Runs a program with edited files; counts the runs, and tells ``progress`` of each in a sentence.
    ``lang`` is the language of what is told."""

    def __init__(
        self,
        program: Program,
        workspace: Workspace,
        seconds: float,
        writable: Sequence[Path] = (),
        lang: Lang = "en",
        progress: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        self.program = program
        self.workspace = workspace
        self._seconds = seconds
        self._writable = tuple(writable)
        self.lang = lang
        self.count = 0
        self._gpus = 0
        self._progress = progress
        self._aim = ""
        self._spent = 0.0

    def aim(self, name: str, **values: object) -> None:
        """Notes what the next runs are for, as `words.say` takes it."""
        self._aim = say(self.lang, name, **values)

    def run(
        self,
        texts: Mapping[str, str],
        terms: Terms,
        *,
        proposing: bool = False,
        past: Ran | None = None,
    ) -> Ran:
        """What the program gives with these texts of its files.

        Args:
            texts: the edited files.
            terms: on what it runs.
            proposing: where it fails, edits are proposed, which takes longer than most runs.
            past: only where it comes further than this run did.

        Where devices are not compared, a check of the program's own hears what it asks for, and layers on
        the meta device that nobody fills are made in memory.

        Raises:
            DiagnoseError: a file of the user's was altered, or no process can be made.
            OSError: the copies cannot be written.
        """
        each = self._spent / self.count if self.count else 0.0
        from diagnose.repair.runs.process import perform  # which imports torch

        self.count += 1
        name = "run-each" if each else "run"
        self._progress(say(self.lang, name, number=self.count, seconds=each, aim=self._aim))
        folder = self.workspace.fresh(texts)
        ranks = _ranks(self.program.processes)
        results = [folder.parent / f".result-{rank}" for rank in range(len(ranks))]
        alone = len(ranks) == 1  # of several, only all together tell how far they came
        wanted = Wanted(proposing, past if alone else None)
        started = time.monotonic()
        of_rank = partial(
            perform, self.program, self.workspace, folder, terms, self._writable, self.lang, wanted
        )
        works = [partial(of_rank, *both) for both in zip(results, ranks, strict=True)]
        ended = forked(works, self._seconds)
        seconds = time.monotonic() - started
        self._spent += seconds
        if altered := self.workspace.altered():
            raise DiagnoseError(f"the program wrote to {altered[0]}, so nothing more is tried")
        told = [_told(result) for result in results]
        if self.count == 1:  # what one run imports of torch, the next will: optimizers bring dynamo
            import_all(name for one in told for name in one.get("imported", ()))
        ran = _together(
            [_ran(*both)._replace(seconds=seconds) for both in zip(told, ended, strict=True)]
        )
        self._gpus = self._gpus or terms.gpus
        for other in _otherwise(terms, ran, fails_on=self._gpus):
            if (found := self.run(texts, other)).passed:
                found = found._replace(drawn=other.drawn)
                # Where another GPU stands in for one that is not there, its number means nothing.
                return found._replace(homes={}) if other.wrapped else found
        return ran


_ABSENT = (ABSENT_GPU, ABSENT_LISTED, ABSENT_SAVED)


def _otherwise(terms: Terms, ran: Ran, fails_on: int) -> Iterator[Terms]:
    """The terms on which a program may run that is meant to, and does not where nothing is compared; or
    compute what it is meant to. ``fails_on``: on so many GPUs it fails as it is."""
    if terms.checked or terms.claimed or terms.drawn or terms.wrapped:
        return
    failure = ran.failure
    if failure is not None and any(one in failure.error for one in _ABSENT):
        if terms.gpus == fails_on:
            yield terms._replace(wrapped=True)
    elif ran.blank or (failure is not None and failure.placement and "meta" in failure.error):
        yield terms._replace(drawn=True)
    elif terms.gpus and failure is not None and failure.placement:
        yield terms._replace(claimed=True)


def _ranks(processes: int) -> list[dict[str, str]]:
    """What a launcher tells each of its processes; nothing, where there is none."""
    if processes == 1:
        return [{}]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    world = {
        "WORLD_SIZE": processes,
        "LOCAL_WORLD_SIZE": processes,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "GROUP_RANK": 0,
    }
    return [
        {key: str(value) for key, value in (world | {"RANK": rank, "LOCAL_RANK": rank}).items()}
        for rank in range(processes)
    ]


def _together(ranks: Sequence[Ran]) -> Ran:
    """What the processes of one launch gave: the first one's, or that of the one that failed first."""
    failed = [ran for ran in ranks if not ran.passed]
    placement = [ran for ran in failed if ran.failure is not None and ran.failure.placement]
    shown = min(placement or failed or ranks[:1], key=lambda ran: ran.failed_at or math.inf)
    calls: Counter[str] = Counter()
    for ran in ranks:
        calls.update(ran.calls)
    executed = frozenset().union(*(ran.executed for ran in ranks))
    to_host = frozenset().union(*(ran.to_host for ran in ranks))
    across = frozenset().union(*(ran.across for ran in ranks))
    return shown._replace(calls=calls, executed=executed, to_host=to_host, across=across)


def _told(result: Path) -> dict[str, Any]:
    """What a child has told of its run; nothing, where it ended before it could."""
    try:
        told: dict[str, Any] = json.loads(result.read_text())
    except (OSError, ValueError):
        return {}
    return told


def _ran(told: dict[str, Any], ended: Ended) -> Ran:
    bare = Ran(ended.status or 1, 0.0, ended.output, ended.errors, ended.printed)
    if not told or ended.status == TOO_LONG:
        return bare._replace(cut=ended.status != TOO_LONG)
    told.pop("imported")
    failure = told.pop("failure")
    told["status"] = ended.status or int(failure is not None)
    told |= {name: frozenset(told[name]) for name in _SETS if name in told}
    return bare._replace(
        failure=Failure(*failure) if failure else None,
        candidates=tuple(Candidate(*one) for one in told.pop("candidates")),
        missing=tuple(told.pop("missing")),
        trained=tuple((one[0], one[1], one[2]) for one in told.pop("trained")),
        silent=tuple(
            Silent(kind, tuple(names), *rest) for kind, names, *rest in told.pop("silent")
        ),
        **told,
    )
