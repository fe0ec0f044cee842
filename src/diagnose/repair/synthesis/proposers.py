"""Who proposes edits of where the operands of a failing call come from, one module a kind of mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from diagnose.bulkhead import guarded
from diagnose.repair.model import ABSENT_GPU
from diagnose.repair.synthesis.batch_moves import batching
from diagnose.repair.synthesis.batch_objects import carrying
from diagnose.repair.synthesis.bindings import binding
from diagnose.repair.synthesis.caches import renewing
from diagnose.repair.synthesis.checkpoints import loading
from diagnose.repair.synthesis.device_arguments import telling
from diagnose.repair.synthesis.device_choice import deciding
from diagnose.repair.synthesis.device_maps import mapping
from diagnose.repair.synthesis.function_devices import informing
from diagnose.repair.synthesis.gpu_choice import choosing
from diagnose.repair.synthesis.gradients import granting
from diagnose.repair.synthesis.hooked_weights import hooked
from diagnose.repair.synthesis.host_arguments import hosting
from diagnose.repair.synthesis.joins import joining
from diagnose.repair.synthesis.kept_tensors import keeping, keeping_in_modules
from diagnose.repair.synthesis.late_offload import delaying
from diagnose.repair.synthesis.local_ranks import ranking
from diagnose.repair.synthesis.nested_batches import nesting
from diagnose.repair.synthesis.optimizer_order import preceding
from diagnose.repair.synthesis.optimizer_states import states
from diagnose.repair.synthesis.origins import origins
from diagnose.repair.synthesis.owned_modules import called_where_kept, forgotten_beside
from diagnose.repair.synthesis.pinned_memory import pinning
from diagnose.repair.synthesis.primary_device import heading
from diagnose.repair.synthesis.process_counts import starting
from diagnose.repair.synthesis.to_cpu import retreating
from diagnose.repair.synthesis.transfers import Move
from diagnose.repair.synthesis.with_blocks import bracketing


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
