# cause: input-not-moved
# spot: target.float()
# name: target
# devices: pred.device
# beside: return replace(self, x=self.x.to(device))
from dataclasses import dataclass, replace


@dataclass
class Batch:
    x: Tensor
    y: "Tensor"
    weight: Tensor

    def to(self, device):
        return replace(self, x=self.x.to(device))


def loss(pred, target):
    return pred - target.float().to(pred.device)
