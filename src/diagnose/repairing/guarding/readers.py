"""Who reads an edited file beside the file as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from diagnose.model import Lang
from diagnose.repairing.guarding import (
    constants,
    contracts,
    edits,
    fitting,
    halves,
    handing,
    naming,
    optional,
    options,
    parking,
    reading,
    taking,
    wrapping,
)
from diagnose.repairing.model import Guard

#: Each tells what the text of a patch tells against it.
READERS: tuple[Callable[[str, str, Lang], Iterator[Guard]], ...] = (
    optional.absent,
    optional.emptied,
    taking.out_of_branch,
    taking.taken,
    taking.left_whole,
    taking.filled,
    taking.planned,
    taking.kept_whole,
    wrapping.unwrapped,
    reading.undone,
    reading.chosen,
    reading.back,
    reading.parts,
    fitting.fitting,
    fitting.flipped,
    handing.handed_on,
    halves.given_back,
    halves.left_alone,
    halves.far,
    halves.for_one_method,
    halves.hops,
    halves.for_one_call,
    halves.alters,
    constants.learned,
    contracts.contracts,
    contracts.alike,
    contracts.made_to_fit,
    contracts.by_global_rank,
    contracts.kept_out,
    contracts.never_found,
    parking.rows,
    parking.picked,
    options.unread,
    options.chosen,
    options.unbound,
    naming.literal,
    naming.for_gpus_alone,
    naming.for_all_callers,
    naming.hidden_names,
    edits.written_down,
    edits.counted,
    edits.indexed,
)
