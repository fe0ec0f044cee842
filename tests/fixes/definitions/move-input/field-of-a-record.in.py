# cause: input-not-moved
# spot: loss * batch.weight
# name: batch.weight
# beside: return replace(self, x=self.x.to(device, non_blocking=True))
from dataclasses import dataclass, replace


@dataclass
class Batch:
    x: torch.Tensor
    weight: torch.Tensor
    names: list

    def to(self, device):
        return replace(self, x=self.x.to(device, non_blocking=True))


def weighted(loss, batch):
    return loss * batch.weight
