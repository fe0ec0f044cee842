"""Who reads an edited file beside the file as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from diagnose.model import Lang
from diagnose.repair.model import Guard
from diagnose.repair.validation import (
    callee_moves,
    constants,
    contracts,
    device_names,
    host_residency,
    optional,
    options,
    partial_fixes,
    patch_context,
    patch_edits,
    redundant_moves,
    removed_features,
    removed_wrappers,
)

#: Each tells what the text of a patch tells against it.
READERS: tuple[Callable[[str, str, Lang], Iterator[Guard]], ...] = (
    optional.absent,
    optional.emptied,
    removed_features.out_of_branch,
    removed_features.taken,
    removed_features.left_whole,
    removed_features.filled,
    removed_features.planned,
    removed_features.kept_whole,
    removed_wrappers.unwrapped,
    patch_context.undone,
    patch_context.chosen,
    patch_context.back,
    patch_context.parts,
    redundant_moves.fitting,
    redundant_moves.flipped,
    callee_moves.handed_on,
    partial_fixes.given_back,
    partial_fixes.left_alone,
    partial_fixes.far,
    partial_fixes.for_one_method,
    partial_fixes.hops,
    partial_fixes.for_one_call,
    partial_fixes.alters,
    constants.learned,
    contracts.contracts,
    contracts.alike,
    contracts.made_to_fit,
    contracts.by_global_rank,
    contracts.kept_out,
    contracts.never_found,
    host_residency.rows,
    host_residency.picked,
    options.unread,
    options.chosen,
    options.unbound,
    device_names.literal,
    device_names.for_gpus_alone,
    device_names.for_all_callers,
    device_names.hidden_names,
    patch_edits.written_down,
    patch_edits.counted,
    patch_edits.indexed,
)
