"""Who proposes edits of where the operands of a failing call come from, one module a kind of mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from diagnose.bulkhead import guarded
from diagnose.repairing.model import ABSENT_GPU
from diagnose.repairing.proposing.batching import batching
from diagnose.repairing.proposing.binding import binding
from diagnose.repairing.proposing.bracketing import bracketing
from diagnose.repairing.proposing.carrying import carrying
from diagnose.repairing.proposing.choosing import choosing
from diagnose.repairing.proposing.deciding import deciding
from diagnose.repairing.proposing.delaying import delaying
from diagnose.repairing.proposing.granting import granting
from diagnose.repairing.proposing.heading import heading
from diagnose.repairing.proposing.hooked import hooked
from diagnose.repairing.proposing.hosting import hosting
from diagnose.repairing.proposing.informing import informing
from diagnose.repairing.proposing.joining import joining
from diagnose.repairing.proposing.keeping import keeping, keeping_in_modules
from diagnose.repairing.proposing.loading import loading
from diagnose.repairing.proposing.mapping import mapping
from diagnose.repairing.proposing.moving import Move
from diagnose.repairing.proposing.nesting import nesting
from diagnose.repairing.proposing.origins import origins
from diagnose.repairing.proposing.owning import called_where_kept, forgotten_beside
from diagnose.repairing.proposing.pinning import pinning
from diagnose.repairing.proposing.preceding import preceding
from diagnose.repairing.proposing.ranking import ranking
from diagnose.repairing.proposing.renewing import renewing
from diagnose.repairing.proposing.retreating import retreating
from diagnose.repairing.proposing.starting import starting
from diagnose.repairing.proposing.states import states
from diagnose.repairing.proposing.telling import telling


def of_origins(error: BaseException) -> Iterator[Move]:
    """The edits of all lines that the operands of a live failure come from."""
    at_once = (
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
    somewhere = (
        deciding,
        informing,
        keeping,
        called_where_kept,
        origins,
        keeping_in_modules,
        binding,
    )
    last = () if ABSENT_GPU in str(error) else somewhere  # then nothing is anywhere yet
    for propose in (*at_once, *last):  # a fault of one of them costs its own edits
        yield from guarded(propose.__name__, partial(_all, propose, error), [])


def _all(propose: Callable[[BaseException], Iterator[Move]], error: BaseException) -> list[Move]:
    return list(propose(error))
