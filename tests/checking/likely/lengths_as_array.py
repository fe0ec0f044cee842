import torch


class Scorer:
    def __init__(self, net, device):
        self.net = net.to(device)
        self.device = device

    def lengths(self, found: torch.Tensor):
        spans = found.round().numpy()  # finds: host-copy-needed
        return sorted(spans)
