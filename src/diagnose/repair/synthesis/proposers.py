"""Who proposes edits of a live failure, one function a kind of mistake, in the order in which these are
tried: what it is given is a `LiveFailure`, what it gives are the edits, likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from diagnose.bulkhead import guarded
from diagnose.repair.model import ABSENT_GPU, Source
from diagnose.repair.synthesis.batches import carrying, nesting
from diagnose.repair.synthesis.caches import renewing
from diagnose.repair.synthesis.checkpoints import loading, pinning
from diagnose.repair.synthesis.containers import containing
from diagnose.repair.synthesis.device_choice import deciding, informing, telling
from diagnose.repair.synthesis.gpu_numbers import choosing, mapping, ranking, starting
from diagnose.repair.synthesis.host_copies import hosting
from diagnose.repair.synthesis.kept import (
    called_where_kept,
    forgotten_beside,
    keeping,
    keeping_in_modules,
)
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, live_failure
from diagnose.repair.synthesis.offload import bracketing, delaying, hooked
from diagnose.repair.synthesis.one_device import bringing, retreating
from diagnose.repair.synthesis.optimizers import preceding, states
from diagnose.repair.synthesis.origins import origins
from diagnose.repair.synthesis.primary_device import heading
from diagnose.repair.synthesis.transfers import batching, binding, granting, joining, moving

Proposer = Callable[[LiveFailure], Iterator[Proposal]]

#: Of what the values in the failing frames tell.
_OF_VALUES: tuple[Proposer, ...] = (containing, moving)
#: Of the lines that the operands come from; then those of what is somewhere already.
_OF_ORIGINS: tuple[Proposer, ...] = (
    loading,
    ranking,
    starting,
    choosing,
    pinning,
    heading,
    mapping,
    delaying,
    hooked,
    retreating,
    preceding,
    states,
    telling,
    renewing,
    granting,
    hosting,
    joining,
    bracketing,
    batching,
    nesting,
    carrying,
    forgotten_beside,
)
_SOMEWHERE: tuple[Proposer, ...] = (
    deciding,
    informing,
    keeping,
    called_where_kept,
    origins,
    keeping_in_modules,
    binding,
)


def proposals(error: BaseException, *, alone: bool) -> Iterator[tuple[Source, Proposal]]:
    """The edits that a failure supports, each with what it is taken from; a fault of one proposer costs
    its own.

    Args:
        error: a live failure.
        alone: all is on the cpu, and a GPU is asked for.
    """
    failure = live_failure(error)
    values = (bringing, *_OF_VALUES) if alone else _OF_VALUES
    origins = _OF_ORIGINS if failure.says(ABSENT_GPU) else (*_OF_ORIGINS, *_SOMEWHERE)
    every: dict[Source, Sequence[Proposer]] = {"values": values, "origins": origins}
    for source, proposers in every.items():
        for propose in proposers:
            for one in guarded(propose.__name__, partial(_all, propose, failure), []):
                yield source, one


def _all(propose: Proposer, failure: LiveFailure) -> list[Proposal]:
    return list(propose(failure))
