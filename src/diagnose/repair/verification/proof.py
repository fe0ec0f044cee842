"""What has to hold before a patch that runs is called proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagnose.bulkhead import guarded
from diagnose.placement.semantics import functions
from diagnose.repair.comparison import (
    difference,
    differing,
    same_values,
    still_trained,
)
from diagnose.repair.model import Candidate, Guard, Proof, Ran, Sentence, Terms, objection, said
from diagnose.repair.runs.gpu_offsets import shifts
from diagnose.repair.runs.runner import Runner
from diagnose.repair.syntax import tree_of
from diagnose.repair.validation import (
    differential,
    patch_edits,
)
from diagnose.repair.validation.case import Case, Unexercised
from diagnose.repair.validation.guards import WATCHED, of_run
from diagnose.repair.verification import reference
from diagnose.repair.verification.levels import level_of
from diagnose.repair.verification.switches import turned

#: Fixes after which more parameters are trained: those that nobody had registered.
_REGISTERING = frozenset({"register-module", "register-buffer"})
#: Guards of where models rest.
_RESTING = frozenset({"homes", "put-away", "switch"})
#: The cause of edits that bring a part by the program's own function.
_LOW_MEMORY = "low-memory-mode"


class Reference:
    """The same program without device checks: what its author meant it to compute.

    Args:
        runner: runs the program.
        gpus: how many GPUs the program fails on.
        texts: edited files, where the program as it is tells nothing.
    """

    def __init__(self, runner: Runner, gpus: int, texts: Mapping[str, str] | None = None) -> None:
        self._runner = runner
        self._gpus = gpus
        self._texts = texts or {}
        self._ran: dict[int, Ran] = {}
        self._second: dict[int, Ran] = {}

    def on(self, gpus: int) -> Ran:
        """The program as it was, on so many GPUs, with nothing compared."""
        if gpus not in self._ran:
            self._ran[gpus] = self._runner.run(self._texts, Terms(gpus, checked=False))
        return self._ran[gpus]

    def doubts(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Proof:
        """What the run of a patch itself tells against it; nothing more is run for that.

        Args:
            texts: the edited files.
            ran: what the program gives with them.
            applied: the edits.
        """

        def looked() -> Proof:
            found = self._meant(texts, ran, applied)._seen(texts, ran, applied)
            kept = self._as_the_program_does(tuple(found), texts, applied)
            return Proof(level_of(kept), kept, whole=False)

        return guarded("proof", looked, Proof("runs", (), whole=False))

    def prove(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Proof:
        """Looks at a patch that runs from all sides. Takes what `doubts` does. A fault of ours costs the
        proof, and not the patch."""
        return guarded(
            "proof",
            lambda: self._meant(texts, ran, applied)._prove(texts, ran, applied),
            Proof("runs", ()),
        )

    def added(self, texts: Mapping[str, str]) -> Iterator[str]:
        """The lines that edits made, given the edited files."""
        return (
            row for one in self._runner.workspace.patches(texts).values() for _, row in one.added
        )

    def _meant(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Reference:
        """What a patch is compared with: the patch itself, where it alone says what is meant."""
        wanted, both = self.on(self._gpus), self._runner.workspace.patches(texts)
        if self._texts or not (
            reference.drops_refused(both, wanted)
            or reference.becomes_array(both, wanted)
            or reference.becomes_parameter(both, wanted)
            if not wanted.passed
            else (reference.draws_otherwise(both, applied) or reference.starts_as_many(both))
            and (self._difference(ran, self._gpus) or not same_values(wanted, ran))
        ):
            return self
        return Reference(self._runner, self._gpus, texts)

    def _prove(self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]) -> Proof:
        watched = once = self._runner.run(texts, Terms(self._gpus, watched=True))
        if watched.failure is not None and not watched.failure.placement:
            # What keeps a model's output, to derive by it, has that of the second call.
            once = self._runner.run(texts, Terms(self._gpus, watched=True, once=True))
        silent, seen = self._unexercised(texts, once), list(self._seen(texts, ran, applied))
        patches, wanted = self._runner.workspace.patches(texts), self.on(self._gpus)
        case = Case(self._runner.workspace, patches, applied, wanted, once, silent)
        right = any(guard.id == "output" and guard.holds for guard in seen)
        found = (
            *seen,
            *self._elsewhere(texts, numbers=right),
            *self._following(texts),
            *turned(self._runner, texts, self._gpus, wanted, ran),
            *differential.again(Case(self._runner.workspace, patches, applied, wanted, watched)),
            *(one for guard in WATCHED for one in guard(case)),
        )
        kept = self._as_the_program_does(found, texts, applied)
        return Proof(level_of(kept), kept, tuple(one.name for one in silent))

    def _as_the_program_does(
        self, found: tuple[Guard, ...], texts: Mapping[str, str], applied: Sequence[Candidate]
    ) -> tuple[Guard, ...]:
        """The guards, without those of where models rest if all that the edits do is to bring a part by the
        program's own function: that knows which others it puts away for it."""
        own = bool(applied) and all(
            one.kind == "other" and one.cause == _LOW_MEMORY for one in applied
        )
        if not own or any(one.transfers for one in self._runner.workspace.patches(texts).values()):
            return found
        return tuple(one for one in found if one.holds is not False or one.id not in _RESTING)

    def _seen(
        self, texts: Mapping[str, str], ran: Ran, applied: Sequence[Candidate]
    ) -> Iterator[Guard]:
        yield from self._numbers(ran, applied)
        wanted = self.on(self._gpus)
        yield from of_run(
            Case(
                self._runner.workspace, self._runner.workspace.patches(texts), applied, wanted, ran
            )
        )

    def _numbers(self, ran: Ran, applied: Sequence[Candidate]) -> Iterator[Guard]:
        """It prints and trains what it was meant to."""
        wanted = self.on(self._gpus)
        if not wanted.passed:
            yield Guard("output", None, said("no-reference"))
            return
        more = len(ran.trained) - len(wanted.trained)
        registering = any(one.kind in _REGISTERING for one in applied)
        registered = more > 0 and registering
        other = self._difference(ran, self._gpus)
        if other is not None and registered:
            other = said("more-trained-so", other=other)
        told, holds = other or said("output"), other is None
        if other and registered:
            yield Guard("output", None, told)
        elif holds and wanted.drawn and ran.unfilled:
            yield Guard("output", None, said("unfilled", weight=min(ran.unfilled)))
        else:
            yield Guard("output", holds, told)
        count = len(wanted.trained)
        if more < 0:
            yield objection("trained", "fewer-trained", count=-more)
        elif more > 0:
            told = said("more-trained", count=more)
            yield Guard("trained", registered and still_trained(wanted, ran), told)
        elif count and not same_values(wanted, ran, ordered=not registering):
            same = None if self._varies() else False
            yield Guard("trained", same, said("trained-otherwise"))
        elif count:
            yield Guard("trained", True, said("trained", count=count))
        # What is registered is stepped, and loses its gradient when that is set to none.
        if (cut := wanted.graded - ran.graded - (more if registered else 0)) > 0:
            yield objection("gradients", "gradients-cut", count=cut)

    def _difference(self, ran: Ran, gpus: int) -> Sentence | None:
        """Where a run prints something else than is meant; lines in which the program differs from itself,
        such as addresses, are left out."""
        wanted = self.on(gpus)
        if difference(wanted.output, ran.output) is None:
            return None
        varying = set(differing(wanted.output, self._twice(gpus).output))
        return difference(wanted.output, ran.output, varying)

    def _varies(self) -> bool:
        """Whether the program does not train twice to the same values: its threads race."""
        return not same_values(self.on(self._gpus), self._twice(self._gpus))

    def _twice(self, gpus: int) -> Ran:
        if gpus not in self._second:
            self._second[gpus] = self._runner.run(self._texts, Terms(gpus, checked=False))
        return self._second[gpus]

    def _elsewhere(self, texts: Mapping[str, str], *, numbers: bool) -> Iterator[Guard]:
        """It runs where the program is meant to: on one GPU, on two, on none; and prints the same
        ``numbers``, if it does where the program fails."""
        for gpus in (0, 1, 2):
            if gpus == self._gpus:
                continue
            where = said(f"where-{gpus}")
            meant = self.on(gpus)
            if not meant.passed:
                yield Guard(f"gpus-{gpus}", None, said("not-there-either", where=where))
                continue
            ran = self._runner.run(texts, Terms(gpus))
            error = ran.failure.error.partition("\n")[0] if ran.failure else said("it-fails")
            other: str | Sentence | None = None if ran.passed else error
            # What it reads without memory was drawn there: its numbers are nobody's.
            if ran.passed and numbers and not meant.drawn:
                other = self._difference(ran, gpus)
            told = other or said("it-runs")
            yield Guard(f"gpus-{gpus}", other is None, said("there", where=where, told=told))

    def _following(self, texts: Mapping[str, str]) -> Iterator[Guard]:
        """Where the program is told to use another GPU, the edits do too."""
        if (both := shifts(self._runner.workspace, texts)) is None:
            return
        everywhere, apart = (
            self._runner.run(one.texts, Terms(self._gpus + 1, current=one.current)).passed
            for one in both
        )
        if everywhere:
            told = "follows" if apart else "stays-behind"
            yield Guard("other-gpu", apart, said(told))
            if not apart and any(map(patch_edits.is_numbered, self.added(texts))):
                yield objection("numbered", told)

    def _unexercised(self, texts: Mapping[str, str], watched: Ran) -> list[Unexercised]:
        """Functions of the edited files that never ran: file, lines, and how they are called."""
        found = []
        for file, text in texts.items():
            path = self._runner.workspace.folder / file
            for node in functions(tree_of(text)):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if f"{path}:{first}" not in watched.executed:
                    lines = range(first, (node.end_lineno or first) + 1)
                    name = f"{node.name} ({file}:{node.lineno})"
                    found.append(Unexercised(file, lines, name))
        return found
