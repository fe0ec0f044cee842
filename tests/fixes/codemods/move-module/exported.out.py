# cause: fake-or-compile-device
# spot: torch.export.load(path)
# devices: self.device
import torch
import torch.export.passes


class Server:
    def __init__(self, path, device):
        self.device = torch.device(device)
        self.program = torch.export.passes.move_to_device_pass(torch.export.load(path), self.device)
