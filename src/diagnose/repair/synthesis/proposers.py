"""Who proposes edits of a live failure, one function a mechanism, in the order in which these are tried:
what it is given is a `LiveFailure`, what it gives are the edits, likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from diagnose.bulkhead import guarded
from diagnose.repair.model import ABSENT_GPU, Source
from diagnose.repair.synthesis.checkpoints import loading
from diagnose.repair.synthesis.containers import containing
from diagnose.repair.synthesis.device_choice import deciding
from diagnose.repair.synthesis.kept import keeping, keeping_in_modules
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, live_failure
from diagnose.repair.synthesis.origins import origins
from diagnose.repair.synthesis.primary_device import heading
from diagnose.repair.synthesis.transfers import moving

Proposer = Callable[[LiveFailure], Iterator[Proposal]]

#: By what they go by: the values in the failing frames; then the lines that the operands come from.
_PROPOSERS: Mapping[Source, Sequence[Proposer]] = {
    "values": (containing, moving),
    "origins": (loading, heading, deciding, keeping, origins, keeping_in_modules),
}
#: Those that ask where something is already: of no use where the GPU that is asked for is not there.
_SOMEWHERE = frozenset({deciding, keeping, origins, keeping_in_modules})


def proposals(error: BaseException) -> Iterator[tuple[Source, Proposal]]:
    """The edits that a live failure supports, each with what it is taken from; a fault of one proposer
    costs its own."""
    failure = live_failure(error)
    absent = failure.says(ABSENT_GPU)
    for source, proposers in _PROPOSERS.items():
        for propose in proposers:
            if not (absent and propose in _SOMEWHERE):
                for one in guarded(propose.__name__, partial(_all, propose, failure), []):
                    yield source, one


def _all(propose: Proposer, failure: LiveFailure) -> list[Proposal]:
    return list(propose(failure))
