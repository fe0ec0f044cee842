# cause: created-without-device
# spot: torch.zeros(n)
# devices: device; self.device
import torch


class Store:
    def __init__(self, device):
        self.device = torch.device(device)

    def empty(self, n):
        return torch.zeros(n)
