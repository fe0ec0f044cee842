"""What the web needs of the rest of the package: a case base in a language, and the pipeline."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flask import current_app

from diagnose.bulkhead import missing
from diagnose.casebase.store import Casebase, load
from diagnose.memory.lookup import StoreError, remembered
from diagnose.model import Diagnosis, Lang
from diagnose.sources import Given, Sources
from diagnose.web.inputs import Submission

#: How many texts a process diagnoses at once: more would not end sooner, and each takes memory.
AT_ONCE = 4


@dataclass(frozen=True)
class Engine:
    """The two things that a view asks for; tests bring their own.

    ``casebase`` returns the case base in a language, ``diagnose`` answers a submission. Both may raise
    `diagnose.casebase.store.CasebaseError`. ``store`` is where earlier failures are remembered.
    """

    casebase: Callable[[Lang], Casebase]
    diagnose: Callable[[Submission, Casebase], Diagnosis]
    store: str | None = None

    def answer(self, submission: Submission) -> Diagnosis:
        """The answer to a submission, in its language, with what the store remembers; a store that cannot
        be read costs no more than that."""
        diagnosis = self.diagnose(submission, self.casebase(submission.lang))
        try:
            return remembered(diagnosis, self.store)
        except StoreError as error:
            fault = missing("seen", error)
            return diagnosis._replace(incomplete=(*diagnosis.incomplete, fault))


def default_engine(path: Path | None) -> Engine:
    """The real pipeline over the case base at ``path`` (the built-in one if None).

    A process answers at most `AT_ONCE` at a time; the others wait for their turn.
    """
    from diagnose.pipeline import diagnose

    turns = threading.BoundedSemaphore(AT_ONCE)

    def run(submission: Submission, casebase: Casebase) -> Diagnosis:
        # Nothing of this machine's disk, whatever a log names.
        sources = Sources([Given(submission.files)], read=None) if submission.files else None
        with turns:
            return diagnose(
                submission.text,
                submission.source,
                casebase=casebase,
                top=submission.top,
                sources=sources,
                answers=submission.answers,
            )

    return Engine(lambda lang: load(path, lang), run)


def engine() -> Engine:
    """The engine of the app that serves the current request."""
    found: Engine = current_app.extensions["diagnose"]
    return found
