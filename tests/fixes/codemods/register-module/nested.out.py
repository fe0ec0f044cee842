# spot: self.blocks = [ [nn.Linear(n, n), nn.ReLU()] for n in widths ]
import torch


class Blocks(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.blocks = torch.nn.ModuleList([
            torch.nn.ModuleList([nn.Linear(n, n), nn.ReLU()])  # a pair
            for n in widths
        ])
