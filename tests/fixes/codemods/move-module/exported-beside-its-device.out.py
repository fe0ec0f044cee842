# spot: torch.export.load(root / cfg["program"])
# devices: ;
# wanted: cpu
import torch
from torch.export.passes import move_to_device_pass


class Scorer:
    def __init__(self, cfg, root):
        self.device = torch.device(cfg["device"])
        self.exported = move_to_device_pass(torch.export.load(root / cfg["program"]), self.device)
        self.net = self.exported.module()
        self.net.to(self.device)
