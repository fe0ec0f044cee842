# cause: fake-or-compile-device
# spot: torch.export.load(path)
# devices: self.device
import torch


class Server:
    def __init__(self, path, device):
        self.device = torch.device(device)
        self.program = torch.export.load(path)
