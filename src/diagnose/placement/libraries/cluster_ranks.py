"""What a process of a machine that is not the first of its job finds in its environment."""

from __future__ import annotations

from diagnose.model import TorchNames
from diagnose.placement.tensors import Table
from diagnose.placement.values import Const, Number, Unknown, Value

#: Two processes on each of twelve machines: a program hardly writes down one of these numbers itself.
FAR_RANK, FAR_NODE = 23, 11
_LOCAL_RANK, _PER_NODE = 1, 2
_PROCESSES = FAR_RANK + 1


def far_environment(torch: TorchNames) -> Table:
    """The variables of the last process of the last machine, as launchers set them."""
    told = (
        (torch.global_ranks, FAR_RANK),
        (torch.local_ranks, _LOCAL_RANK),
        (torch.node_ranks, FAR_NODE),
        (torch.world_sizes, _PROCESSES),
        (torch.local_world_sizes, _PER_NODE),
    )
    held: dict[object, Value] = {
        name: Const(str(number)) for names, number in told for name in names
    }
    return Table(held, Unknown())


def asked_rank(*, local: bool, far: bool) -> Value:
    """What ``torch.distributed`` says of a process's number, among all or on its machine."""
    if not far:
        return Number("rank")
    return Const(_LOCAL_RANK if local else FAR_RANK)
