# spot: "cuda"
# cause: dataparallel-home-device
import torch
from torch import nn


class Rig:
    @property
    def place(self):
        return torch.device(f"cuda:{self.cards[0]}" if torch.cuda.is_available() else "cpu")

    def placed(self, net):
        net = net.to(self.place)
        return nn.DataParallel(net, device_ids=list(self.cards))
